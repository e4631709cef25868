"""Counts the multiply-accumulates of convolutions and matrix products."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from tf_qops.onnx.values import NodeCall

# Operator -> which inputs are the left operand and the weights.
_INTEGER = {
    "ConvInteger": (0, 1),
    "DynamicQuantizeMatMul": (0, 1),
    "MatMulInteger": (0, 1),
    "MatMulIntegerToFloat": (0, 1),
    "QGemm": (0, 3),
    "QLinearConv": (0, 3),
    "QLinearMatMul": (0, 3),
}
_FLOAT = {"Conv": (0, 1), "ConvTranspose": (0, 1), "Gemm": (0, 1), "MatMul": (0, 1)}


def _size(shape: Sequence[int | None]) -> int:
    return math.prod(1 if d is None else d for d in shape)


@dataclasses.dataclass
class Work:
    """Multiply-accumulates of a graph, for dimensions of 1 where they are not known.

    Attributes:
        integer: those on integers.
        total: all.
    """

    integer: int = 0
    total: int = 0

    @property
    def integer_share(self) -> float | None:
        """The share on integers; None of nothing."""
        return self.integer / self.total if self.total else None

    def add(self, call: NodeCall, output: Sequence[int | None]) -> None:
        """Counts a node, whose output has the given shape."""
        op_type = call.node.op_type
        operands = _INTEGER.get(op_type) or _FLOAT.get(op_type)
        if operands is None:
            return
        left, weights = (call.shape(i) for i in operands)
        if op_type == "ConvTranspose":
            count = _size(left) * _size(weights[1:])
        elif "Conv" in op_type:
            count = _size(output) * _size(weights[1:])
        else:
            depth = left[0] if call.attribute("transA", 0) else left[-1]
            count = _size(output) * (depth or 1)
        self.total += count
        self.integer += count if op_type in _INTEGER else 0
