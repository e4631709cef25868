"""What an import found and did."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Mapping

import numpy as np

from tf_qops.onnx.names import NameMap
from tf_qops.onnx.reader import Graph, Node

FLOAT_IN_FILE = "a float operator in the file"

QOPERATOR = "QOperator"
QDQ = "QDQ"
DYNAMIC = "dynamic"
WEIGHT_ONLY = "weight only"

_MOVES_DATA = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
_CONVERTS = {"DequantizeLinear", "GatherBlockQuantized", "QuantizeLinear"}
_INTEGER_PRODUCTS = {
    "DynamicQuantizeLSTM",
    "DynamicQuantizeMatMul",
    "MatMulIntegerToFloat",
    "QGemm",
}
_DYNAMIC = {
    "ConvInteger",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeLinear",
    "DynamicQuantizeMatMul",
    "MatMulInteger",
}
_WEIGHT_ONLY = {"MatMulNBits", "GatherBlockQuantized"}


def quantization_kinds(graph: Graph) -> tuple[str, ...]:
    """Returns the ways in which a graph is quantized, of the constants above."""
    types = {op_type for _, op_type in graph.operators}
    kinds = []
    if any(op_type.startswith("QLinear") or op_type == "QGemm" for op_type in types):
        kinds.append(QOPERATOR)
    made_by = {output: node for node in graph.nodes for output in node.outputs}
    pairs = any(
        node.op_type == "DequantizeLinear" and _is_quantized(node.inputs[0], made_by)
        for node in graph.nodes
    )
    weights = any(
        n.is_constant(0)
        and (n.op_type == "DequantizeLinear" or (n.op_type == "Cast" and _is_weight(n.constant(0))))
        for n in graph.nodes
    )
    if pairs:
        kinds.append(QDQ)
    if types & _DYNAMIC:
        kinds.append(DYNAMIC)
    if types & _WEIGHT_ONLY or (weights and not pairs):
        kinds.append(WEIGHT_ONLY)
    return tuple(kinds)


def _is_quantized(name: str, made_by: Mapping[str, Node]) -> bool:
    """Returns whether a QuantizeLinear makes a tensor, perhaps with a Cast or Clip behind it."""
    while name in made_by and made_by[name].op_type in ("Cast", "Clip"):
        name = made_by[name].inputs[0]
    return name in made_by and made_by[name].op_type == "QuantizeLinear"


def _is_weight(constant: np.ndarray) -> bool:
    """Returns whether a constant is a matrix of 8-bit integers, or more than that."""
    return constant.ndim > 1 and constant.dtype.name in ("int8", "uint8")


def computes_in_floats(node: Node) -> bool:
    """Returns whether a node of float outputs calculates in floats.

    It does not where it converts, moves what there is, or multiplies integers.
    """
    return node.op_type not in _MOVES_DATA | _CONVERTS | _INTEGER_PRODUCTS


def suspicious_scales(graph: Graph) -> tuple[str, ...]:
    """Returns a sentence for each node whose scale is no positive, finite number."""
    found = []
    for node in graph.nodes:
        if node.op_type in _CONVERTS and node.op_type.endswith("Linear") and node.is_constant(1):
            scale = np.asarray(node.constant(1), np.float32)
            wrong = int((~(np.isfinite(scale) & (scale > 0))).sum())
            if wrong:
                found.append(
                    f"{node.name} ({node.op_type}): {wrong} of {scale.size} scales of "
                    f"{node.inputs[1]!r} are not positive and finite"
                )
    return tuple(found)


@dataclasses.dataclass(frozen=True)
class StayedFloat:
    """A node that computes in floating point.

    Attributes:
        node: its name in the file.
        op_type: its operator.
        reason: why, one of the constants of this module.
    """

    node: str
    op_type: str
    reason: str


@dataclasses.dataclass(frozen=True)
class FusedNodes:
    """Nodes that became an integer operator.

    Attributes:
        into: the operator.
        nodes: names in the file, the float operator's first.
    """

    into: str
    nodes: tuple[str, ...]


class Report:
    """Base of what is reported: JSON, and the tables of `__rich__` as text."""

    def to_json(self) -> str:
        """Returns everything as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=100)
        with console.capture() as capture:
            console.print(self)
        return capture.get()


@dataclasses.dataclass(frozen=True)
class ImportReport(Report):
    """What `import_model` found and did; printing it shows a table.

    Attributes:
        kinds: how the graph is quantized: "QOperator", "QDQ", "dynamic", "weight only".
        operators: operator (with its domain unless it is ONNX's own) -> number of nodes.
        names: maps names of the file to names of the model and back.
        fused: the nodes between Q/DQ pairs that became integer operators.
        stayed_float: the nodes that compute in floating point, and why.
        integer_share: of the multiply-accumulates of convolutions and matrix products, the share
            that is computed on integers; None where there are none.
        transposes: how many transpositions the model has, those of the file among them.
        warnings: what looks wrong in the file, though it can be imported.
    """

    kinds: tuple[str, ...]
    operators: Mapping[str, int]
    names: NameMap
    fused: tuple[FusedNodes, ...]
    stayed_float: tuple[StayedFloat, ...]
    integer_share: float | None
    transposes: int
    warnings: tuple[str, ...]

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table

        operators = Table("operator", "nodes", title=f"Quantization: {', '.join(self.kinds)}")
        for operator, count in sorted(self.operators.items(), key=lambda item: (-item[1], item[0])):
            operators.add_row(operator, str(count))
        floats = Table("node", "operator", "why", title="Computed in floating point")
        for entry in self.stayed_float:
            floats.add_row(entry.node, entry.op_type, entry.reason)
        integers = Table("integer operator", "made of", title="Fused")
        kinds = collections.Counter((entry.into, len(entry.nodes)) for entry in self.fused)
        for (into, size), count in sorted(kinds.items()):
            integers.add_row(into, f"{count} x {size} nodes")
        notes = [f"Transpositions: {self.transposes}"]
        if self.integer_share is not None:
            notes.append(f"Multiply-accumulates on integers: {self.integer_share:.1%}")
        notes += [f"Warning: {warning}" for warning in self.warnings]
        return Group(operators, integers, floats, *map(escape, notes))


@dataclasses.dataclass(frozen=True)
class Assigned:
    """A weight that was assigned.

    Attributes:
        weight: its path in the Keras model.
        shape: its shape.
        initializer: the constant of the file.
        file_shape: of the constant, as the file has it.
        values: "dequantized", "codes" (the target is of an integer type) or "float" (so in the
            file).
        found_by: "mapping", "shape" (only one operator has it) or "order" (of those that do).
    """

    weight: str
    shape: tuple[int, ...]
    initializer: str
    file_shape: tuple[int, ...]
    values: str
    found_by: str


@dataclasses.dataclass(frozen=True)
class Left:
    """A weight of the model or a constant of the file that was left alone.

    Attributes:
        name: the weight's path, or the constant's name.
        shape: its shape.
        reason: why.
    """

    name: str
    shape: tuple[int, ...]
    reason: str


@dataclasses.dataclass(frozen=True)
class AssignReport(Report):
    """What `assign_weights` put where; printing it shows tables.

    Attributes:
        assigned: the weights that were assigned.
        left_in_model: the weights that were not.
        left_in_file: weights of the file that went nowhere.
        remarks: what else one should know.
    """

    assigned: tuple[Assigned, ...]
    left_in_model: tuple[Left, ...]
    left_in_file: tuple[Left, ...]
    remarks: tuple[str, ...]

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Column, Table

        def names(header: str) -> Column:
            return Column(header, overflow="fold")

        assigned = Table(
            names("weight"), "shape", names("from"), "shape there", "values", "found by"
        )
        assigned.title = f"Assigned: {len(self.assigned)} weights"
        for entry in self.assigned:
            assigned.add_row(*(escape(str(v)) for v in dataclasses.astuple(entry)))
        parts = [assigned]
        for title, entries in (
            ("Left as they were in the model", self.left_in_model),
            ("Left in the file", self.left_in_file),
        ):
            table = Table(names("name"), "shape", "why", title=f"{title}: {len(entries)}")
            for entry in entries:
                table.add_row(*(escape(str(v)) for v in dataclasses.astuple(entry)))
            parts += [table] if entries else []
        return Group(*parts, *(f"Note: {escape(remark)}" for remark in self.remarks))
