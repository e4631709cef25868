"""What an import found and did."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from tf_qops.onnx.names import NameMap
from tf_qops.onnx.reader import Graph, Node

FLOAT_IN_FILE = "a float operator in the file"

QOPERATOR = "QOperator"
QDQ = "QDQ"
DYNAMIC = "dynamic"
WEIGHT_ONLY = "weight only"

_MOVES_DATA = {"Flatten", "Identity", "Reshape"}
_CONVERTS = {"DequantizeLinear", "QuantizeLinear"}
_DYNAMIC = {"DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "DynamicQuantizeLSTM"}
_WEIGHT_ONLY = {"MatMulNBits", "GatherBlockQuantized"}


def quantization_kinds(graph: Graph) -> tuple[str, ...]:
    """Returns the ways in which a graph is quantized, of the constants above."""
    types = {op_type for _, op_type in graph.operators}
    made_by = {output: node.op_type for node in graph.nodes for output in node.outputs}
    kinds = []
    if any(op_type.startswith("QLinear") or op_type == "QGemm" for op_type in types):
        kinds.append(QOPERATOR)
    pairs = any(
        node.op_type == "DequantizeLinear" and made_by.get(node.inputs[0]) == "QuantizeLinear"
        for node in graph.nodes
    )
    weights = any(n.op_type == "DequantizeLinear" and n.is_constant(0) for n in graph.nodes)
    if pairs:
        kinds.append(QDQ)
    if types & _DYNAMIC:
        kinds.append(DYNAMIC)
    if types & _WEIGHT_ONLY or (weights and not pairs):
        kinds.append(WEIGHT_ONLY)
    return tuple(kinds)


def computes(node: Node) -> bool:
    """Returns whether a node calculates, other than to convert or to move what there is."""
    return node.op_type not in _MOVES_DATA | _CONVERTS


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
class ImportReport:
    """What `import_model` found and did; printing it shows a table.

    Attributes:
        kinds: how the graph is quantized: "QOperator", "QDQ", "dynamic", "weight only".
        operators: operator (with its domain unless it is ONNX's own) -> number of nodes.
        names: maps names of the file to names of the model and back.
        stayed_float: the nodes that compute in floating point, and why.
    """

    kinds: tuple[str, ...]
    operators: Mapping[str, int]
    names: NameMap
    stayed_float: tuple[StayedFloat, ...]

    def to_json(self) -> str:
        """Returns everything as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        from rich.console import Group
        from rich.table import Table

        operators = Table("operator", "nodes", title=f"Quantization: {', '.join(self.kinds)}")
        for operator, count in sorted(self.operators.items(), key=lambda item: (-item[1], item[0])):
            operators.add_row(operator, str(count))
        floats = Table("node", "operator", "why", title="Computed in floating point")
        for entry in self.stayed_float:
            floats.add_row(entry.node, entry.op_type, entry.reason)
        return Group(operators, floats)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=100)
        with console.capture() as capture:
            console.print(self)
        return capture.get()
