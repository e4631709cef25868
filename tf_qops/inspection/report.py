"""What an inspection found."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

from tf_qops.onnx.report import FusedNodes, Report, StayedFloat


@dataclasses.dataclass(frozen=True)
class OperatorCount:
    """An operator, or kind of layer.

    Attributes:
        name: with its domain unless it is ONNX's own.
        nodes: how many there are.
        unsupported: why it cannot be imported; "" if it can.
    """

    name: str
    nodes: int
    unsupported: str = ""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A scale with its zero point.

    Attributes:
        tensor: what it quantizes.
        role: "weight", "bias" or "activation".
        dtype: of the codes.
        shape: of the codes, where they are in the file.
        granularity: "per tensor", "per axis 0", "blocks of 32 along axis 1".
        scales: how many there are.
        scale_min: the smallest.
        scale_max: the largest.
        zero_point: of the tensor, or the smallest and largest.
        codes: the smallest and largest code of a weight.
        notes: what is odd about it.
    """

    tensor: str
    role: str
    dtype: str
    shape: tuple[int, ...] | None
    granularity: str
    scales: int
    scale_min: float
    scale_max: float
    zero_point: str
    codes: tuple[int, int] | None
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class InspectReport(Report):
    """What a model holds; printing it shows tables.

    Attributes:
        path: of the model.
        kind: "ONNX", "Keras" or "SavedModel".
        facts: what else there is to say: opsets, producer, signature.
        quantization: "QOperator", "QDQ", "dynamic", "weight only".
        inputs, outputs: name -> dtype and shape, as text.
        operators: how often each occurs, the most frequent first.
        dtypes: of the weights: name -> bytes.
        parts: of the size: name -> bytes.
        parameters: scales and zero points.
        fused: what the import turns into integer operators.
        stays_float: operators between Q/DQ pairs that it does not, and why.
    """

    path: str
    kind: str
    facts: Mapping[str, str]
    quantization: tuple[str, ...]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    operators: tuple[OperatorCount, ...]
    dtypes: Mapping[str, int]
    parts: Mapping[str, int]
    parameters: tuple[Parameter, ...]
    fused: tuple[FusedNodes, ...] = ()
    stays_float: tuple[StayedFloat, ...] = ()

    @property
    def oddities(self) -> tuple[str, ...]:
        """What is odd about scales, and operators that cannot be imported: sentences."""
        operators = [
            f"{op.name} cannot be imported: {op.unsupported}"
            for op in self.operators
            if op.unsupported
        ]
        return (*operators, *(f"{p.tensor}: {note}" for p in self.parameters for note in p.notes))

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Column, Table

        def folded(name: str) -> Column:
            return Column(name, overflow="fold")

        total = sum(self.parts.values())
        quantization = f", quantized: {', '.join(self.quantization)}" if self.quantization else ""
        lines = [f"{self.kind}{quantization}, {_size(total)}"]
        lines += [f"{name}: {value}" for name, value in self.facts.items()]
        ends = Table(folded("tensor"), "", "type", title="Inputs and outputs")
        for kind, entries in (("input", self.inputs), ("output", self.outputs)):
            for name, spec in entries.items():
                ends.add_row(escape(name), kind, escape(spec))
        operators = Table("operator", Column("nodes", justify="right"), title="Operators")
        if self.kind == "ONNX":
            operators.add_column("import")
        for op in self.operators:
            mark = f"[red]no: {escape(op.unsupported)}[/red]" if op.unsupported else "yes"
            row = (op.name, str(op.nodes), mark)
            operators.add_row(*row[: len(operators.columns)])
        sizes = Table("part", Column("bytes", justify="right"), title="Size")
        for name, size in self.parts.items():
            sizes.add_row(name, f"{size:,}")
        sizes.add_section()
        for name, size in self.dtypes.items():
            sizes.add_row(f"constants of {name}", f"{size:,}")
        parts: list[object] = [*map(escape, lines), ends, operators, sizes]
        if self.parameters:
            parts.append(self._parameters())
        if self.fused:
            fused = Table("becomes", "made of", title="What the import fuses")
            kinds = collections.Counter((f.into, len(f.nodes)) for f in self.fused)
            for (into, size), count in sorted(kinds.items()):
                fused.add_row(into, f"{count} x {size} nodes")
            parts.append(fused)
        if self.stays_float:
            floats = Table(folded("node"), "operator", "why", title="Stays float between Q/DQ")
            for entry in self.stays_float:
                floats.add_row(escape(entry.node), entry.op_type, entry.reason)
            parts.append(floats)
        parts += [f"[yellow]Odd:[/yellow] {escape(text)}" for text in self.oddities]
        return Group(*parts)

    def _parameters(self) -> object:
        from rich.markup import escape
        from rich.table import Column, Table

        table = Table(
            Column("tensor", overflow="fold"), "role", "type", "scale", "zero point", "codes",
            "odd", title="Scales and zero points",
        )  # fmt: skip
        for p in self.parameters:
            table.add_row(
                escape(p.tensor), p.role, p.dtype, f"{scale_text(p)}\n{p.granularity}",
                p.zero_point, codes_text(p), "yes" if p.notes else "",
                style="yellow" if p.notes else "",
            )  # fmt: skip
        return table


def scale_text(p: Parameter) -> str:
    """Returns the scale, or the smallest and largest."""
    if p.scale_min == p.scale_max:
        return f"{p.scale_min:.4g}"
    return f"{p.scale_min:.3g} … {p.scale_max:.3g}"


def codes_text(p: Parameter) -> str:
    """Returns the smallest and largest code."""
    return "" if p.codes is None else f"{p.codes[0]} … {p.codes[1]}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
