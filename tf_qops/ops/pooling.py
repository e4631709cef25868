"""com.microsoft's poolings of 8-bit codes."""

from collections.abc import Sequence

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def qlinear_average_pool(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    channels_last: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Averages 8-bit codes over windows, com.microsoft's QLinearAveragePool.

    With the sum of `x - x_zero_point` over a window, which is exact, and n the number of its
    elements, `y = clamp(rint(sum / n * (x_scale / y_scale) + y_zero_point))`, each operation
    rounded to float32 in this order; ties are to even after the zero point was added. These are
    the bits of ONNX Runtime 1.31. NaN gives the lowest code.

    >>> x = tf.constant([[[1, 2, 3, 5, 8]]], tf.uint8)
    >>> tfq.qlinear_average_pool(x, 1.0, 0, 0.25, kernel_shape=[2], strides=[2]).numpy()
    array([[[ 6, 16]]], dtype=uint8)
    >>> tfq.qlinear_average_pool(
    ...     x, 1.0, 0, 0.25, kernel_shape=[2], strides=[2], ceil_mode=True
    ... ).numpy()
    array([[[ 6, 16, 32]]], dtype=uint8)

    Args:
      x: int8 or uint8 of shape [N, C, D1, ...], or [N, D1, ..., C] with channels_last, with any
        number of spatial dimensions.
      x_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      x_zero_point: Of x's dtype (a number takes it); None for 0.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number, or None for 0, takes x's.
      kernel_shape: The window's size along each spatial dimension.
      strides: At least 1 for each spatial dimension; 1 where left out.
      dilations: At least 1 for each spatial dimension; 1 where left out. (ONNX Runtime's operator
        has none.)
      pads: [begin1, ..., end1, ...], not negative; 0 where left out.
      auto_pad: "NOTSET", "SAME_UPPER", "SAME_LOWER" or "VALID"; pads must be 0 with the latter
        three.
      ceil_mode: Whether a last window that the stride leaves incomplete counts, if it begins on x
        or its begin padding.
      count_include_pad: Whether n is the size of the whole window, as if it lay on x entirely;
        otherwise positions on padding do not count, and a window of nothing else gives
        y_zero_point.
      channels_last: Whether x and y have their channels last.
      name: A name for the operation.

    Returns:
      y, [N, C, O1, ...] or [N, O1, ..., C], of y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other, or a kernel
        larger than the padded input; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operand = _arguments.quantized("x", x, x_scale, x_zero_point)
    return _library.load().tf_qops_q_linear_average_pool(
        **operand,
        **_arguments.quantized_format("y", y_scale, y_zero_point, operand["x"].dtype),
        kernel_shape=_arguments.ints(kernel_shape),
        strides=_arguments.ints(strides),
        dilations=_arguments.ints(dilations),
        pads=_arguments.ints(pads),
        auto_pad=auto_pad,
        ceil_mode=bool(ceil_mode),
        count_include_pad=bool(count_include_pad),
        channels_last=bool(channels_last),
        name=name,
    )


def qlinear_global_average_pool(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    *,
    channels_last: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Averages 8-bit codes over all pixels, com.microsoft's QLinearGlobalAveragePool.

    With the sum of `x - x_zero_point` over the n pixels of a channel, which is exact,
    `y = clamp(rint(sum * (x_scale / (y_scale * n))) + y_zero_point)` in float32: ties to even
    before the zero point is added, unlike in `tfq.qlinear_average_pool`. These are the bits of
    ONNX Runtime 1.31. NaN gives the lowest code; an image without pixels gives y_zero_point.

    >>> x = tf.constant([[[[1, 2], [4, 5]]]], tf.uint8)
    >>> tfq.qlinear_global_average_pool(x, 1.0, 0, 0.5, 100).numpy()
    array([[[[106]]]], dtype=uint8)

    Args:
      x: int8 or uint8 of shape [N, C, D1, ...], or [N, D1, ..., C] with channels_last, with any
        number of spatial dimensions.
      x_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      x_zero_point: Of x's dtype (a number takes it); None for 0.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number, or None for 0, takes x's.
      channels_last: Whether x and y have their channels last.
      name: A name for the operation.

    Returns:
      y, of x's shape with 1 for each spatial dimension, and y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: An x of fewer than 3 dimensions, or a scale or zero point of
        more than one element; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operand = _arguments.quantized("x", x, x_scale, x_zero_point)
    return _library.load().tf_qops_q_linear_global_average_pool(
        **operand,
        **_arguments.quantized_format("y", y_scale, y_zero_point, operand["x"].dtype),
        channels_last=bool(channels_last),
        name=name,
    )
