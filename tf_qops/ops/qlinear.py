"""ONNX's operators on quantized tensors."""

from collections.abc import Sequence

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def qlinear_conv(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike,
    w: TensorLike,
    w_scale: TensorLike,
    w_zero_point: TensorLike,
    y_scale: TensorLike,
    y_zero_point: TensorLike,
    bias: TensorLike | None = None,
    *,
    kernel_shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> tf.Tensor:
    """Convolves 8-bit integers exactly, ONNX's QLinearConv (version 10).

    With `acc = sum((x - x_zero_point) * (w - w_zero_point)) + bias` in int32 and
    `s = (x_scale * w_scale) / y_scale` in float32, y is
    `clamp(rint(acc * s) + y_zero_point)`, ties to even before the zero point is added. Nothing
    saturates in between, on any CPU. A padded position holds x_zero_point, so adds nothing.

    >>> x = tf.fill([1, 2, 1, 1], tf.constant(255, tf.uint8))
    >>> w = tf.fill([1, 2, 1, 1], tf.constant(127, tf.int8))
    >>> y = tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 300.0, 0)  # 2 * 255 * 127 = 64770
    >>> int(y[0, 0, 0, 0])
    216

    Args:
      x: int8 or uint8 of shape [N, C, D1, ...], or [N, D1, ..., C] with data_format "NHWC".
      x_scale: float32, a scalar or of shape [1], as are x_zero_point, y_scale and y_zero_point.
      x_zero_point: Of x's dtype; a number takes it.
      w: int8 or uint8 of shape [M, C / group, k1, ...] in either data format.
      w_scale: float32, a scalar, of shape [1], or of shape [M]: one for each filter.
      w_zero_point: Of w's dtype (a number takes it); shapes as w_scale's, but not of need the
        same one.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number takes x's.
      bias: int32 of shape [M], in units of x_scale * w_scale.
      kernel_shape: [k1, ...]; where given, it must agree with w.
      strides: At least 1 for each spatial dimension; 1 where left out.
      dilations: At least 1 for each spatial dimension; 1 where left out.
      pads: [begin1, ..., end1, ...], not negative; 0 where left out.
      auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID"; pads must be 0 with the latter
        three.
      group: Divides C and M.
      data_format: "NCHW" or "NHWC", in any number of spatial dimensions; speaks of x and y.
      name: A name for the operation.

    Returns:
      y, [N, M, O1, ...] or [N, O1, ..., M], of y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other, or a kernel
        larger than the padded input; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    x = _arguments.tensor(x, "x")
    w = _arguments.tensor(w, "w")
    y_dtype = _arguments.own_dtype(y_zero_point, x.dtype)
    if bias is not None:
        bias = _arguments.tensor(bias, "bias", tf.int32)
    return _library.load().tf_qops_q_linear_conv(
        x=x,
        x_scale=_arguments.scale(x_scale, "x_scale"),
        x_zero_point=_arguments.zero_point(x_zero_point, "x_zero_point", x.dtype),
        w=w,
        w_scale=_arguments.scale(w_scale, "w_scale"),
        w_zero_point=_arguments.zero_point(w_zero_point, "w_zero_point", w.dtype),
        y_scale=_arguments.scale(y_scale, "y_scale"),
        y_zero_point=_arguments.zero_point(y_zero_point, "y_zero_point", y_dtype),
        bias=_arguments.optional(bias),
        kernel_shape=_arguments.ints(kernel_shape),
        strides=_arguments.ints(strides),
        dilations=_arguments.ints(dilations),
        pads=_arguments.ints(pads),
        auto_pad=auto_pad,
        group=group,
        data_format=data_format,
        name=name,
    )


def qlinear_matmul(
    a: TensorLike,
    a_scale: TensorLike,
    a_zero_point: TensorLike,
    b: TensorLike,
    b_scale: TensorLike,
    b_zero_point: TensorLike,
    y_scale: TensorLike,
    y_zero_point: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Multiplies matrices of 8-bit codes exactly, ONNX's QLinearMatMul (versions 10 and 21).

    With acc as `tfq.matmul_integer`'s and `s = (a_scale * b_scale) / y_scale` in float32, y is
    `clamp(rint(acc * s) + y_zero_point)`, ties to even before the zero point is added. Where an
    operand is a float8 type, codes are decoded to float32 and summed in the order of K.

    >>> a = tf.constant([[100]], tf.uint8)  # onnx/onnx/issues/7835: 50000 does not wrap
    >>> int(tfq.qlinear_matmul(a, 1.0, 0, a, 1.0, 0, 0.2, 0)[0, 0])
    255

    Args:
      a: int8, uint8, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2 or float8_e5m2fnuz of shape
        [..., M, K], or a vector [K].
      a_scale: float32, float16 or bfloat16, all three scales alike: a scalar, [M] or [..., M, 1].
      a_zero_point: Of a's dtype (a number takes it); shapes as a_scale's.
      b: One of the same types, of shape [..., K, N] or [K]; batches broadcast.
      b_scale: A scalar, [N] or [..., 1, N].
      b_zero_point: Of b's dtype; shapes as b_scale's.
      y_scale: A scalar, [M] or [..., M, 1].
      y_zero_point: One of the same types, which is y's; a number takes a's. Shapes as y_scale's.
      name: A name for the operation.

    Returns:
      y of shape [..., M, N] and y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other; a ValueError while a graph
        is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    a, b = _arguments.tensor(a, "a"), _arguments.tensor(b, "b")
    y_dtype = _arguments.own_dtype(y_zero_point, a.dtype)
    return _library.load().tf_qops_q_linear_mat_mul(
        a=a,
        a_scale=_arguments.scale(a_scale, "a_scale"),
        a_zero_point=_arguments.zero_point(a_zero_point, "a_zero_point", a.dtype),
        b=b,
        b_scale=_arguments.scale(b_scale, "b_scale"),
        b_zero_point=_arguments.zero_point(b_zero_point, "b_zero_point", b.dtype),
        y_scale=_arguments.scale(y_scale, "y_scale"),
        y_zero_point=_arguments.zero_point(y_zero_point, "y_zero_point", y_dtype),
        name=name,
    )


def qgemm(
    a: TensorLike,
    a_scale: TensorLike,
    a_zero_point: TensorLike,
    b: TensorLike,
    b_scale: TensorLike,
    b_zero_point: TensorLike,
    c: TensorLike | None = None,
    y_scale: TensorLike | None = None,
    y_zero_point: TensorLike | None = None,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `alpha * a @ b + c` on 8-bit codes exactly, com.microsoft's QGemm.

    With acc the int32 sums plus c and `s = ((alpha * a_scale) * b_scale) / y_scale` in float32, y
    is `clamp(rint(acc * s) + y_zero_point)`; without y_scale it is the float32 `acc * s`, where s
    is not divided.

    >>> a, b = tf.constant([[2, 4]], tf.uint8), tf.constant([[1], [3]], tf.int8)
    >>> tfq.qgemm(a, 0.5, 0, b, 1.0, 0, c=[2]).numpy()
    array([[8.]], dtype=float32)

    Args:
      a: int8 or uint8 of shape [M, K], or [K, M] with trans_a.
      a_scale: float32, a scalar or of shape [1].
      a_zero_point: Of a's dtype (a number takes it), likewise.
      b: int8 or uint8 of shape [K, N], or [N, K] with trans_b.
      b_scale: float32: a scalar or [N].
      b_zero_point: Of b's dtype: a scalar or [N].
      c: int32 that broadcasts to [M, N], in units of alpha * a_scale * b_scale.
      y_scale: float32, a scalar or of shape [1]; the result is float32 where left out.
      y_zero_point: int8 or uint8, which is y's dtype; a number takes a's. 0 where left out.
      trans_a: Whether a is given transposed.
      trans_b: Whether b is given transposed.
      alpha: A factor of the product and of c.
      name: A name for the operation.

    Returns:
      y of shape [M, N].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other; a ValueError while a graph
        is built.
      ValueError: A zero point outside the range of its dtype or of another dtype, or a
        y_zero_point without y_scale.
      TypeError: A ragged or sparse tensor.
    """
    a, b = _arguments.tensor(a, "a"), _arguments.tensor(b, "b")
    if y_scale is None and y_zero_point is not None:
        raise ValueError(f"y_zero_point needs a y_scale. Received: y_zero_point={y_zero_point!r}")
    y_dtype = tf.float32 if y_scale is None else _arguments.own_dtype(y_zero_point, a.dtype)
    if c is not None:
        c = _arguments.tensor(c, "c", tf.int32)
    if y_scale is not None:
        y_scale = _arguments.scale(y_scale, "y_scale")
    return _library.load().tf_qops_q_gemm(
        a=a,
        a_scale=_arguments.scale(a_scale, "a_scale"),
        a_zero_point=_arguments.zero_point(a_zero_point, "a_zero_point", a.dtype),
        b=b,
        b_scale=_arguments.scale(b_scale, "b_scale"),
        b_zero_point=_arguments.zero_point(b_zero_point, "b_zero_point", b.dtype),
        c=_arguments.optional(c),
        y_scale=_arguments.optional(y_scale),
        y_zero_point=_arguments.optional_zero_point(y_zero_point, "y_zero_point", y_dtype),
        output_dtype=y_dtype,
        trans_a=trans_a,
        trans_b=trans_b,
        alpha=alpha,
        name=name,
    )
