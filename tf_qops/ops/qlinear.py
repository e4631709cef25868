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
    y_dtype = x.dtype
    if _arguments.has_dtype(y_zero_point):
        y_dtype = tf.as_dtype(y_zero_point.dtype)
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
