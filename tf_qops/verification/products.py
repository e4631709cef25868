"""One value of a convolution or matrix product, recomputed in int64 from its codes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np
import onnx

from tf_qops.onnx.tensors import attribute_value, to_array
from tf_qops.verification.pieces import Piece

_LIMIT = 2**15
_KEPT_PAIRS = 3


@dataclasses.dataclass(frozen=True, eq=False)
class Terms:
    """The products that are summed up to one value.

    Attributes:
        left: codes of the left operand, [depth].
        right: codes of the weights, [depth].
        left_zero, right_zero: their zero points.
        step: what the sum counts in the result's codes; 1 for sums, None for float results.
        orders: indices of the terms in the orders in which a runtime may take them; -1 is a zero.
    """

    left: np.ndarray
    right: np.ndarray
    left_zero: int
    right_zero: int
    step: float | None
    orders: tuple[np.ndarray, ...]

    @property
    def exact(self) -> int:
        """The sum, exactly."""
        left, right = self.left.astype(np.int64), self.right.astype(np.int64)
        return int(((left - self.left_zero) * (right - self.right_zero)).sum())

    def saturating(self) -> list[tuple[int, list[tuple[int, int, int, int]]]]:
        """Returns the sums when pairs of neighbours are added in saturating 16 bits.

        That is what vpmaddubsw does, which multiplies unsigned by signed bytes. For each order:
        the sum, and the pairs that do not fit. Nothing for unsigned weights, which it cannot take.
        """
        if self.right.dtype != np.int8:
            return []
        left = self.left.astype(np.int64)
        if self.left.dtype == np.int8:  # Signed ones are moved to unsigned first.
            left += 128
        right = self.right.astype(np.int64)
        correction = self.exact - int((left * right).sum())
        results = []
        for order in self.orders:
            odd = [-1] * (len(order) % 2)
            a, b = (np.append(v, 0)[np.append(order, odd).astype(int)] for v in (left, right))
            pairs = (a * b).reshape(-1, 2).sum(1)
            clipped = np.clip(pairs, -_LIMIT, _LIMIT - 1)
            (over,) = np.nonzero(clipped != pairs)
            kept = [(int(a[2 * i]), int(b[2 * i]), int(a[2 * i + 1]), int(b[2 * i + 1]))
                    for i in over]  # fmt: skip
            results.append((int(clipped.sum()) + correction, kept))
        return results


def pair_text(pair: tuple[int, int, int, int]) -> str:
    """Returns a pair of products and what 16 bits make of it.

    >>> pair_text((255, 127, 255, 127))
    '255·127 + 255·127 = 64770, in 16 bits 32767'
    """
    total = pair[0] * pair[1] + pair[2] * pair[3]
    clipped = min(max(total, -_LIMIT), _LIMIT - 1)
    return f"{pair[0]}·{pair[1]} + {pair[2]}·{pair[3]} = {total}, in 16 bits {clipped}"


def terms_of(
    piece: Piece, values: Mapping[str, np.ndarray], position: tuple[int, ...]
) -> Terms | None:
    """Returns the products of one value of a piece's output, or None if it is no such sum."""
    node = piece.operator
    found = _operands(piece, values, node)
    if found is None:
        return None
    *found, step = found
    attributes = {a.name: attribute_value(a, None) for a in node.attribute}
    if "Conv" in node.op_type:
        return _window(*found, step, attributes, position)
    (a, a_zero), (b, b_zero) = found
    if attributes.get("transA", 0):
        a = a.T
    if attributes.get("transB", 0):
        b = b.T
    if a.ndim < 2 or b.ndim < 2 or len(position) < 2:
        return None
    *batch, row, column = position
    left = np.broadcast_to(a, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *a.shape[-2:]))
    right = np.broadcast_to(b, (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]))
    left, right = left[(*batch, row)], right[(*batch, slice(None), column)]
    zeros = _element(a_zero, row), _element(b_zero, column)
    factor = None if step is None else float(_element(step, column))
    return Terms(left, right, *zeros, factor, (np.arange(len(left)),))


def _element(parameter: np.ndarray, index: int) -> np.number:
    flat = parameter.reshape(-1)
    return flat[0] if flat.size == 1 else flat[index]


# Operator -> inputs: left, its zero point, weights, their zero point; scales of left, weights and
# result.
_CODES = {
    "QLinearConv": (0, 2, 3, 5, 1, 4, 6),
    "QLinearMatMul": (0, 2, 3, 5, 1, 4, 6),
    "QGemm": (0, 2, 3, 5, 1, 4, 7),
    "ConvInteger": (0, 2, 1, 3),
    "MatMulInteger": (0, 2, 1, 3),
}
_FLOAT = {"Conv", "Gemm", "MatMul"}
_Operand = tuple[np.ndarray, np.ndarray]


def _operands(
    piece: Piece, values: Mapping[str, np.ndarray], node: onnx.NodeProto
) -> tuple[_Operand, _Operand, np.ndarray | None] | None:
    """Returns the codes of both operands with their zero points, and the steps of the sum."""
    arrays = {name: to_array(tensor, None) for name, tensor in piece.constants.items()}
    arrays |= {name: values[name] for name in piece.inputs}
    for made in piece.nodes:
        if made.op_type == "Constant" and made.attribute[0].name == "value":
            arrays[made.output[0]] = to_array(made.attribute[0].t, None)
        if made.op_type == "Identity" and made.input[0] in arrays:
            arrays[made.output[0]] = arrays[made.input[0]]

    def operand(names: list[str], codes: int, zero: int) -> _Operand | None:
        if codes >= len(names) or names[codes] not in arrays:
            return None
        array = arrays[names[codes]]
        point = arrays.get(names[zero]) if zero < len(names) and names[zero] else None
        return array, np.zeros((), np.int64) if point is None else point.astype(np.int64)

    scales: list[str] = []
    if node.op_type in _CODES:
        left, left_zero, right, right_zero, *places = _CODES[node.op_type]
        pair = operand(node.input, left, left_zero), operand(node.input, right, right_zero)
        scales = [node.input[i] if i < len(node.input) else "" for i in places]
    elif node.op_type in _FLOAT:
        makers = {made.output[0]: made for made in piece.nodes}
        feeders = [makers.get(name) for name in node.input[:2]]
        if any(f is None or f.op_type != "DequantizeLinear" for f in feeders):
            return None
        pair = tuple(operand(f.input, 0, 2) for f in feeders)
        last = piece.nodes[-1]
        scales = [f.input[1] for f in feeders]
        scales.append(last.input[1] if last.op_type == "QuantizeLinear" else "")
    else:
        return None
    if any(p is None or p[0].dtype not in (np.int8, np.uint8) for p in pair):
        return None
    steps = [arrays.get(name) for name in scales] or [np.ones(())] * 3
    if any(step is None for step in steps):
        return (*pair, None)
    left_scale, right_scale, result_scale = (step.astype(np.float64) for step in steps)
    return (*pair, left_scale * right_scale / result_scale)


def _window(
    x: _Operand,
    w: _Operand,
    step: np.ndarray | None,
    attributes: Mapping[str, object],
    position: tuple[int, ...],
) -> Terms | None:
    """Returns the products under one position of a convolution."""
    (codes, x_zero), (weights, w_zero) = x, w
    rank = codes.ndim - 2
    if attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    ones = [1] * rank
    strides, dilations = (attributes.get(k, ones) for k in ("strides", "dilations"))
    begins = attributes.get("pads", [0] * 2 * rank)[:rank]
    image, filter_index, *place = position
    per_group = weights.shape[1]
    group = filter_index // (weights.shape[0] // attributes.get("group", 1))
    channels = codes[image, group * per_group : (group + 1) * per_group]
    zero = _element(x_zero, 0)
    left = np.full(weights.shape[1:], zero, codes.dtype)
    for tap in itertools.product(*map(range, weights.shape[2:])):
        at = [p * s + t * d - b for p, s, t, d, b
              in zip(place, strides, tap, dilations, begins, strict=True)]  # fmt: skip
        if all(0 <= i < n for i, n in zip(at, codes.shape[2:], strict=True)):
            left[(slice(None), *tap)] = channels[(slice(None), *at)]
    right = weights[filter_index]
    first = np.arange(left.size)
    last = np.moveaxis(first.reshape(left.shape), 0, -1)
    filled = np.full((*last.shape[:-1], -(-last.shape[-1] // 4) * 4), -1)
    filled[..., : last.shape[-1]] = last
    orders = tuple(order.reshape(-1) for order in (last, filled, first))
    factor = None if step is None else float(_element(step, filter_index))
    w_point = _element(w_zero, filter_index)
    return Terms(left.reshape(-1), right.reshape(-1), zero, w_point, factor, orders)


def sum_line(terms: Terms) -> str:
    """Returns the exact sum as a sentence."""
    return (
        f"{len(terms.left)} products (x - {terms.left_zero})·(w - {terms.right_zero}) add up to "
        f"{terms.exact}"
    )


def saturation_lines(terms: Terms, total: int, pairs: list[tuple[int, int, int, int]]) -> list[str]:
    """Returns the first pairs that do not fit 16 bits, and the sum that they lead to."""
    more = len(pairs) - _KEPT_PAIRS
    rest = f"{more} more such pairs; " if more > 0 else ""
    shown = [pair_text(pair) for pair in pairs[:_KEPT_PAIRS]]
    if terms.left.dtype == np.int8:
        shown.insert(0, "signed x are made unsigned by adding 128:")
    return [*shown, f"{rest}with pairs so saturated the products add up to {total}"]
