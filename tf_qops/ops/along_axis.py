"""com.microsoft's operators on 8-bit codes along an axis: concatenation and softmax."""

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def qlinear_concat(
    y_scale: TensorLike,
    y_zero_point: TensorLike,
    *inputs: TensorLike,
    axis: int,
    name: str | None = None,
) -> tf.Tensor:
    """Concatenates 8-bit codes of different scales, com.microsoft's QLinearConcat.

    Each input's codes become `clamp(rint((x - x_zero_point) * x_scale / y_scale) + y_zero_point)`,
    each operation rounded to float32: ties to even before the zero point is added, NaN gives the
    lowest code.

    >>> a, b = tf.constant([[1, 2]], tf.uint8), tf.constant([[-3]], tf.int8)
    >>> tfq.qlinear_concat(0.5, tf.constant(100, tf.uint8), a, 0.5, 0, b, 1.0, 0, axis=1).numpy()
    array([[101, 102,  94]], dtype=uint8)

    Args:
      y_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      y_zero_point: int8 or uint8, which is y's dtype; a number takes that of the first input.
      *inputs: One or more times a tensor, its scale and its zero point, as ONNX has them; or one
        list of all. The tensors are int8 or uint8, each for itself, of the same shape but for the
        axis. A zero point has its tensor's dtype (a number takes it); None for 0.
      axis: The dimension along which to concatenate, negative from the end.
      name: A name for the operation.

    Returns:
      y, of y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not fit each other or the axis, or a scale or
        zero point of more than one element; a ValueError while a graph is built.
      ValueError: Inputs that are no triples, or a zero point outside the range of its dtype, or of
        another dtype.
      TypeError: A ragged or sparse tensor.
    """
    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
        inputs = tuple(inputs[0])
    if not inputs or len(inputs) % 3 != 0:
        raise ValueError(
            "inputs must be a tensor, a scale and a zero point, one or more times. "
            f"Received: {len(inputs)} values"
        )
    operands = [_arguments.quantized("x", *inputs[i : i + 3]) for i in range(0, len(inputs), 3)]
    return _library.load().tf_qops_q_linear_concat(
        **_arguments.quantized_format("y", y_scale, y_zero_point, operands[0]["x"].dtype),
        **{key: [operand[key] for operand in operands] for key in operands[0]},
        axis=axis,
        name=name,
    )


def qlinear_softmax(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    *,
    axis: int = -1,
    opset: int = 13,
    name: str | None = None,
) -> tf.Tensor:
    """Computes com.microsoft's QLinearSoftmax on 8-bit codes.

    With `e = exp((x - m) * x_scale)`, m being the code of the row's largest value, and the row's
    sum of e in float64, `y = clamp(rint(p / y_scale) + y_zero_point)` for `p = e / sum` rounded to
    float32: ties to even before the zero point is added, NaN gives the lowest code. ONNX Runtime
    1.31 multiplies with 1 / y_scale rounded down to a whole number, so agrees where that is one
    (as 1 / 256 is), and its int8 result may wrap (microsoft/onnxruntime/issues/29727).

    >>> x = tf.constant([[127, -128, -128, -128]], tf.int8)
    >>> tfq.qlinear_softmax(x, 0.5, 0, 1 / 256, -128).numpy()
    array([[ 127, -128, -128, -128]], dtype=int8)

    Args:
      x: int8 or uint8 of one or more dimensions.
      x_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      x_zero_point: Of x's dtype (a number takes it); None for 0. It has no influence.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number, or None for 0, takes x's.
      axis: The dimension along which rows run, negative from the end.
      opset: The version of ONNX's operator set whose Softmax is meant: before 13 a row has the
        dimensions after the axis too.
      name: A name for the operation.

    Returns:
      y, of x's shape and y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: An axis out of range, or a scale or zero point of more than
        one element; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operand = _arguments.quantized("x", x, x_scale, x_zero_point)
    return _library.load().tf_qops_q_linear_softmax(
        **operand,
        **_arguments.quantized_format("y", y_scale, y_zero_point, operand["x"].dtype),
        axis=axis,
        opset=opset,
        name=name,
    )
