"""Convolutions and matrix products of codes, of stock operators."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from tf_qops.portable.linear import codes

# Sums of this many products of differences of bytes are exact in float32.
_FLOAT32_DEPTH = 2**24 // 255**2


def _rows(parameter: tf.Tensor) -> tf.Tensor:
    """Returns parameters of rows, [M] as [M, 1]."""
    return parameter[:, None] if parameter.shape.rank == 1 else parameter


def _centred(values: tf.Tensor, zero_point: tf.Tensor | None) -> tf.Tensor:
    wide = tf.cast(values, tf.int32)
    return wide if zero_point is None else wide - tf.cast(zero_point, tf.int32)


def _matmul(
    a: tf.Tensor, b: tf.Tensor, a_zero: tf.Tensor | None, b_zero: tf.Tensor | None
) -> tf.Tensor:
    if a.shape.rank < 2 or b.shape.rank < 2:
        raise ValueError(
            f"Products of vectors have no form of stock operators. Received: shapes {a.shape} and "
            f"{b.shape}"
        )
    a_zero = None if a_zero is None else _rows(a_zero)
    return tf.matmul(_centred(a, a_zero), _centred(b, b_zero))


def _first(optional: Sequence[tf.Tensor]) -> tf.Tensor | None:
    return optional[0] if optional else None


def _scaled(total: tf.Tensor, *factors: tf.Tensor, divisor: tf.Tensor | None = None) -> tf.Tensor:
    """Returns f32(total) * (the product of the factors, in order, / divisor)."""
    scale = factors[0]
    for factor in factors[1:]:
        scale = scale * factor
    if divisor is not None:
        scale = scale / divisor
    return tf.cast(total, tf.float32) * scale


def mat_mul_integer(a, b, a_zero_point, b_zero_point, name=None) -> tf.Tensor:
    """Computes TfQops>MatMulInteger."""
    return tf.identity(_matmul(a, b, _first(a_zero_point), _first(b_zero_point)), name=name)


def mat_mul_integer_to_float(
    a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias, name=None
) -> tf.Tensor:
    """Computes TfQops>MatMulIntegerToFloat."""
    total = _matmul(a, b, _first(a_zero_point), _first(b_zero_point))
    result = _scaled(total, _rows(a_scale), b_scale)
    return tf.identity(result + bias[0] if bias else result, name=name)


def q_linear_mat_mul(
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point, name=None
) -> tf.Tensor:
    """Computes TfQops>QLinearMatMul for bytes."""
    if a.dtype.is_floating or b.dtype.is_floating:
        raise ValueError(f"Products of {a.dtype.name} have no form of stock operators")
    total = _matmul(a, b, a_zero_point, b_zero_point)
    value = _scaled(total, _rows(a_scale), b_scale, divisor=_rows(y_scale))
    return tf.identity(codes(value, _rows(y_zero_point), y_zero_point.dtype), name=name)


def q_gemm(
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, c, y_scale, y_zero_point, output_dtype,
    trans_a, trans_b, alpha, name=None,
) -> tf.Tensor:  # fmt: skip
    """Computes TfQops>QGemm."""
    a = tf.transpose(a) if trans_a else a
    b = tf.transpose(b) if trans_b else b
    total = _matmul(a, b, a_zero_point, b_zero_point)
    total = total + c[0] if c else total
    alpha = tf.constant(alpha, tf.float32)
    value = _scaled(total, alpha, _rows(a_scale), b_scale, divisor=_first(y_scale))
    if not y_scale:
        return tf.identity(value, name=name)
    zero = y_zero_point[0] if y_zero_point else tf.zeros([], output_dtype)
    return tf.identity(codes(value, zero, output_dtype), name=name)


def conv_integer(
    x, w, x_zero_point, w_zero_point, strides, dilations, pads, auto_pad, group, data_format,
    kernel_shape=(), name=None,
) -> tf.Tensor:  # fmt: skip
    """Computes TfQops>ConvInteger."""
    total = _convolved(
        _centred(x, _first(x_zero_point)), w, _first(w_zero_point), strides, dilations, pads,
        auto_pad, group, data_format,
    )  # fmt: skip
    return tf.identity(_as_x(total, data_format), name=name)


def q_linear_conv(
    x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias, kernel_shape,
    strides, dilations, pads, auto_pad, group, data_format, name=None,
) -> tf.Tensor:  # fmt: skip
    """Computes TfQops>QLinearConv."""
    total = _convolved(
        _centred(x, x_zero_point), w, w_zero_point, strides, dilations, pads, auto_pad, group,
        data_format,
    )  # fmt: skip
    total = total + bias[0] if bias else total
    value = _scaled(total, x_scale, w_scale, divisor=y_scale)
    y = codes(value, y_zero_point, y_zero_point.dtype)
    return tf.identity(_as_x(y, data_format), name=name)


def _as_x(y: tf.Tensor, data_format: str) -> tf.Tensor:
    """Turns an image from channels last to what a format has."""
    if data_format == "NHWC":
        return y
    rank = y.shape.rank
    return tf.transpose(y, [0, rank - 1, *range(1, rank - 1)])


def _convolved(
    x: tf.Tensor,
    w: tf.Tensor,
    w_zero: tf.Tensor | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    auto_pad: str,
    group: int,
    data_format: str,
) -> tf.Tensor:
    """Returns exact sums, int32 and channels last.

    Floats hold them exactly: the filters' depth says whether float32 does, else float64.
    """
    rank = x.shape.rank - 2
    if rank > 2:
        raise ValueError(
            "Convolutions of more than 2 spatial dimensions have no form of stock operators. "
            f"Received: x of shape {x.shape}"
        )
    if data_format == "NCHW":
        x = tf.transpose(x, [0, *range(2, rank + 2), 1])
    if w_zero is not None and w_zero.shape.num_elements() != 1:
        w_zero = tf.reshape(w_zero, [-1, *[1] * (rank + 1)])
    filters = tf.transpose(_centred(w, w_zero), [*range(2, rank + 2), 1, 0])
    ones = [1] * rank
    strides, dilations = list(strides) or ones, list(dilations) or ones
    extents = [(k - 1) * d + 1 for k, d in zip(filters.shape[:rank], dilations, strict=True)]
    begin, end = _pads(x, extents, strides, list(pads) or [0] * 2 * rank, auto_pad)
    x = tf.pad(x, [[0, 0], *zip(begin, end, strict=True), [0, 0]])
    if rank == 1:
        x, filters = x[:, None], filters[None]
        strides, dilations = [1, *strides], [1, *dilations]
    depth = filters.shape[:3].num_elements()
    dtype = tf.float32 if depth <= _FLOAT32_DEPTH else tf.float64
    parts = [
        tf.nn.conv2d(part, weights, strides, "VALID", dilations=dilations)
        for part, weights in zip(
            tf.split(tf.cast(x, dtype), group, -1),
            tf.split(tf.cast(filters, dtype), group, -1),
            strict=True,
        )
    ]
    total = tf.concat(parts, -1) if group > 1 else parts[0]
    total = tf.cast(tf.cast(total, tf.int64), tf.int32)
    return total[:, 0] if rank == 1 else total


def _pads(
    x: tf.Tensor, extents: list[int], strides: list[int], pads: list[int], auto_pad: str
) -> tuple[list, list]:
    """Returns the padding before and behind each spatial dimension."""
    rank = len(extents)
    if auto_pad == "NOTSET":
        return pads[:rank], pads[rank:]
    if auto_pad == "VALID":
        return [0] * rank, [0] * rank
    sizes = tf.shape(x)[1:-1]
    begin, end = [], []
    for d in range(rank):
        outputs = (sizes[d] + strides[d] - 1) // strides[d]
        total = tf.maximum((outputs - 1) * strides[d] + extents[d] - sizes[d], 0)
        less = total // 2
        begin.append(less if auto_pad == "SAME_UPPER" else total - less)
        end.append(total - begin[-1])
    return begin, end
