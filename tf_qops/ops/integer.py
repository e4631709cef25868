"""Matrix products and convolutions of integers whose sums are not quantized again."""

from collections.abc import Sequence

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def matmul_integer(
    a: TensorLike,
    b: TensorLike,
    a_zero_point: TensorLike | None = None,
    b_zero_point: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `(a - a_zero_point) @ (b - b_zero_point)` in int32, ONNX's MatMulInteger (10).

    No product saturates on any CPU; sums wrap modulo 2^32, as int32 does.

    >>> a, b = tf.constant([[255, 255]], tf.uint8), tf.constant([[127], [127]], tf.int8)
    >>> tfq.matmul_integer(a, b).numpy()
    array([[64770]], dtype=int32)

    Args:
      a: int8 or uint8 of shape [..., M, K], or a vector [K].
      b: int8 or uint8 of shape [..., K, N], or a vector [K]; batches broadcast as in
        `numpy.matmul`.
      a_zero_point: Of a's dtype (a number takes it): a scalar, [M] or [..., M, 1]. Rows, even
        where M equals K (onnx.reference takes columns there).
      b_zero_point: Of b's dtype: a scalar, [N] or [..., 1, N].
      name: A name for the operation.

    Returns:
      int32 of shape [..., M, N].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other; a ValueError while a graph
        is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    a, b = _arguments.tensor(a, "a"), _arguments.tensor(b, "b")
    return _library.load().tf_qops_mat_mul_integer(
        a=a,
        b=b,
        a_zero_point=_arguments.optional_zero_point(a_zero_point, "a_zero_point", a.dtype),
        b_zero_point=_arguments.optional_zero_point(b_zero_point, "b_zero_point", b.dtype),
        name=name,
    )


def conv_integer(
    x: TensorLike,
    w: TensorLike,
    x_zero_point: TensorLike | None = None,
    w_zero_point: TensorLike | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> tf.Tensor:
    """Convolves `x - x_zero_point` with `w - w_zero_point` in int32, ONNX's ConvInteger (10).

    A padded position holds x_zero_point, so adds nothing. Nothing saturates; sums wrap modulo
    2^32.

    >>> x = tf.constant([[[1, 2, 3, 4]]], tf.uint8)
    >>> w = tf.constant([[[1, -1]]], tf.int8)
    >>> tfq.conv_integer(x, w, x_zero_point=1).numpy().tolist()
    [[[-1, -1, -1]]]

    Args:
      x: int8 or uint8 of shape [N, C, D1, ...], or [N, D1, ..., C] with data_format "NHWC".
      w: int8 or uint8 of shape [M, C / group, k1, ...].
      x_zero_point: Of x's dtype (a number takes it): a scalar or of shape [1].
      w_zero_point: Of w's dtype: a scalar, of shape [1] or [M].
      strides: As in `tfq.qlinear_conv`, like all the following.
      dilations: At least 1 for each spatial dimension.
      pads: [begin1, ..., end1, ...], not negative.
      auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID".
      group: Divides C and M.
      data_format: "NCHW" or "NHWC", in any number of spatial dimensions.
      name: A name for the operation.

    Returns:
      int32 of shape [N, M, O1, ...] or [N, O1, ..., M].

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other, or a kernel
        larger than the padded input; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    x, w = _arguments.tensor(x, "x"), _arguments.tensor(w, "w")
    return _library.load().tf_qops_conv_integer(
        x=x,
        w=w,
        x_zero_point=_arguments.optional_zero_point(x_zero_point, "x_zero_point", x.dtype),
        w_zero_point=_arguments.optional_zero_point(w_zero_point, "w_zero_point", w.dtype),
        strides=_arguments.ints(strides),
        dilations=_arguments.ints(dilations),
        pads=_arguments.ints(pads),
        auto_pad=auto_pad,
        group=group,
        data_format=data_format,
        name=name,
    )


def matmul_integer_to_float(
    a: TensorLike,
    b: TensorLike,
    a_scale: TensorLike,
    b_scale: TensorLike,
    a_zero_point: TensorLike | None = None,
    b_zero_point: TensorLike | None = None,
    bias: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `f32(acc) * (a_scale * b_scale) + bias`, com.microsoft's MatMulIntegerToFloat.

    acc is `tfq.matmul_integer`'s; each operation is rounded to float32.

    >>> a, b = tf.constant([[3, 5]], tf.uint8), tf.constant([[2], [-1]], tf.int8)
    >>> tfq.matmul_integer_to_float(a, b, 0.5, 2.0, a_zero_point=1, bias=[0.25]).numpy()
    array([[0.25]], dtype=float32)

    Args:
      a: int8 or uint8 of shape [..., M, K].
      b: int8 or uint8 of shape [..., K, N].
      a_scale: float32: a scalar, [M] or [..., M, 1].
      b_scale: float32: a scalar, [N] or [..., 1, N].
      a_zero_point: Of a's dtype (a number takes it); shapes as a_scale's.
      b_zero_point: Of b's dtype; shapes as b_scale's.
      bias: float32: a scalar or [N].
      name: A name for the operation.

    Returns:
      float32 of shape [..., M, N].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other; a ValueError while a graph
        is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    a, b = _arguments.tensor(a, "a"), _arguments.tensor(b, "b")
    if bias is not None:
        bias = _arguments.scale(bias, "bias")
    return _library.load().tf_qops_mat_mul_integer_to_float(
        a=a,
        b=b,
        a_scale=_arguments.scale(a_scale, "a_scale"),
        b_scale=_arguments.scale(b_scale, "b_scale"),
        a_zero_point=_arguments.optional_zero_point(a_zero_point, "a_zero_point", a.dtype),
        b_zero_point=_arguments.optional_zero_point(b_zero_point, "b_zero_point", b.dtype),
        bias=_arguments.optional(bias),
        name=name,
    )


def dynamic_quantize_matmul(
    a: TensorLike,
    b: TensorLike,
    b_scale: TensorLike,
    b_zero_point: TensorLike | None = None,
    bias: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Multiplies floats with integers, com.microsoft's DynamicQuantizeMatMul.

    The whole of a is quantized to uint8 as `tfq.dynamic_quantize_linear` does it, then multiplied
    as by `tfq.matmul_integer_to_float`.

    >>> a, b = tf.constant([[0.0, 255.0]]), tf.constant([[7], [2]], tf.int8)
    >>> tfq.dynamic_quantize_matmul(a, b, 0.5).numpy()
    array([[255.]], dtype=float32)

    Args:
      a: float32 of shape [..., M, K].
      b: int8 or uint8 of shape [..., K, N].
      b_scale: float32: a scalar, [N] or [..., 1, N].
      b_zero_point: Of b's dtype (a number takes it); shapes as b_scale's.
      bias: float32: a scalar or [N].
      name: A name for the operation.

    Returns:
      float32 of shape [..., M, N].

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other; a ValueError while a graph
        is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    b = _arguments.tensor(b, "b")
    if bias is not None:
        bias = _arguments.scale(bias, "bias")
    return _library.load().tf_qops_dynamic_quantize_mat_mul(
        a=_arguments.tensor(a, "a", tf.float32),
        b=b,
        b_scale=_arguments.scale(b_scale, "b_scale"),
        b_zero_point=_arguments.optional_zero_point(b_zero_point, "b_zero_point", b.dtype),
        bias=_arguments.optional(bias),
        name=name,
    )
