"""What can go wrong with a file, as exceptions and as a list of what is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


class OnnxFileError(ValueError):
    """The file is no valid ONNX model: truncated, inconsistent, or it points outside its folder."""


@dataclasses.dataclass(frozen=True)
class UnsupportedOperator:
    """An operator of a graph that cannot be imported.

    Attributes:
        domain: "" for ONNX's own operators.
        op_type: the operator's name.
        since_version: the operator's version in the graph's opset; 0 if ONNX does not know it.
        nodes: the names of the nodes (of their first outputs where they have none).
        reason: why not.
    """

    domain: str
    op_type: str
    since_version: int
    nodes: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        domain = f"{self.domain}." if self.domain else ""
        shown = ", ".join(self.nodes[:5]) + (", ..." if len(self.nodes) > 5 else "")
        return f"{len(self.nodes)} x {domain}{self.op_type}: {self.reason} (nodes {shown})"


class UnsupportedOperatorsError(ValueError):
    """A graph holds operators that cannot be imported; `operators` lists them all."""

    def __init__(self, operators: Sequence[UnsupportedOperator]):
        self.operators = tuple(operators)
        lines = "\n".join(f"  {operator}" for operator in self.operators)
        super().__init__(f"The graph has operators that cannot be imported:\n{lines}")
