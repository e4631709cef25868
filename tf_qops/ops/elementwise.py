"""com.microsoft's operators on 8-bit codes one by one: sums, products and activations."""

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def qlinear_add(
    a: TensorLike,
    a_scale: TensorLike,
    a_zero_point: TensorLike | None,
    b: TensorLike,
    b_scale: TensorLike,
    b_zero_point: TensorLike | None,
    c_scale: TensorLike,
    c_zero_point: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Adds 8-bit codes, com.microsoft's QLinearAdd, with numpy's broadcasting.

    `c = clamp(rint(((a - a_zero_point) * a_scale + (b - b_zero_point) * b_scale) / c_scale +
    c_zero_point))`, each operation rounded to float32 in this order. Ties are to even after the
    zero point was added, as in ONNX Runtime, and NaN gives the lowest code. ONNX Runtime's result
    depends on the length of the tensor in rare cases, by one step; this one does not.

    >>> a, b = tf.constant([[3], [200]], tf.uint8), tf.constant([1, 100], tf.uint8)
    >>> tfq.qlinear_add(a, 0.5, 0, b, 1.0, 0, 0.5).numpy()
    array([[  5, 203],
           [202, 255]], dtype=uint8)

    Args:
      a: int8 or uint8 of any shape.
      a_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      a_zero_point: Of a's dtype (a number takes it); None for 0.
      b: int8 or uint8 of a shape that broadcasts with a's; its type may be another.
      b_scale: float32.
      b_zero_point: Of b's dtype; None for 0.
      c_scale: float32.
      c_zero_point: int8 or uint8, which is c's dtype; a number, or None for 0, takes a's.
      name: A name for the operation.

    Returns:
      c, of the broadcast shape and c_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not broadcast, or a scale or zero point of more
        than one element; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operands = _arguments.quantized("a", a, a_scale, a_zero_point)
    return _library.load().tf_qops_q_linear_add(
        **operands,
        **_arguments.quantized("b", b, b_scale, b_zero_point),
        **_arguments.quantized_format("c", c_scale, c_zero_point, operands["a"].dtype),
        name=name,
    )


def qlinear_mul(
    a: TensorLike,
    a_scale: TensorLike,
    a_zero_point: TensorLike | None,
    b: TensorLike,
    b_scale: TensorLike,
    b_zero_point: TensorLike | None,
    c_scale: TensorLike,
    c_zero_point: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Multiplies 8-bit codes, com.microsoft's QLinearMul, with numpy's broadcasting.

    `c = clamp(rint(((a - a_zero_point) * a_scale) * ((b - b_zero_point) * b_scale) / c_scale +
    c_zero_point))`, each operation rounded to float32 in this order. Ties are to even after the
    zero point was added, as in ONNX Runtime, and NaN gives the lowest code.

    >>> a = tf.constant([-128, 3, 127], tf.int8)
    >>> tfq.qlinear_mul(a, 1.0, 0, a, 1.0, 0, 100.0, -100).numpy()
    array([ 64, -100,   61], dtype=int8)

    Args:
      a: int8 or uint8 of any shape.
      a_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      a_zero_point: Of a's dtype (a number takes it); None for 0.
      b: int8 or uint8 of a shape that broadcasts with a's; its type may be another.
      b_scale: float32.
      b_zero_point: Of b's dtype; None for 0.
      c_scale: float32.
      c_zero_point: int8 or uint8, which is c's dtype; a number, or None for 0, takes a's.
      name: A name for the operation.

    Returns:
      c, of the broadcast shape and c_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes that do not broadcast, or a scale or zero point of more
        than one element; a ValueError while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operands = _arguments.quantized("a", a, a_scale, a_zero_point)
    return _library.load().tf_qops_q_linear_mul(
        **operands,
        **_arguments.quantized("b", b, b_scale, b_zero_point),
        **_arguments.quantized_format("c", c_scale, c_zero_point, operands["a"].dtype),
        name=name,
    )


def qlinear_leaky_relu(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    *,
    alpha: float = 0.01,
    name: str | None = None,
) -> tf.Tensor:
    """Computes com.microsoft's QLinearLeakyRelu on 8-bit codes.

    With `v = (x - x_zero_point) * x_scale`, and `v = v * alpha` where that is negative, all in
    float32, `y = clamp(rint(v / y_scale) + y_zero_point)`: ties to even before the zero point is
    added, NaN gives the lowest code. Each of the 256 codes is computed once and then looked up.

    >>> x = tf.constant([0, 100, 128, 255], tf.uint8)
    >>> tfq.qlinear_leaky_relu(x, 0.5, 128, 0.5, 20, alpha=0.1).numpy()
    array([  7,  17,  20, 147], dtype=uint8)

    Args:
      x: int8 or uint8 of any shape.
      x_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      x_zero_point: Of x's dtype (a number takes it); None for 0.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number, or None for 0, takes x's.
      alpha: The slope of negative values.
      name: A name for the operation.

    Returns:
      y, of x's shape and y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: A scale or zero point of more than one element; a ValueError
        while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operand = _arguments.quantized("x", x, x_scale, x_zero_point)
    return _library.load().tf_qops_q_linear_leaky_relu(
        **operand,
        **_arguments.quantized_format("y", y_scale, y_zero_point, operand["x"].dtype),
        alpha=alpha,
        name=name,
    )


def qlinear_sigmoid(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes com.microsoft's QLinearSigmoid on 8-bit codes.

    With `v = (x - x_zero_point) * x_scale` in float32 and `s = 1 / (1 + exp(-v))`, computed in
    float64 and rounded to float32, `y = clamp(rint(s / y_scale) + y_zero_point)`: ties to even
    before the zero point is added, NaN gives the lowest code. Each of the 256 codes is computed
    once and then looked up.

    >>> x = tf.constant([-128, 0, 20, 127], tf.int8)
    >>> tfq.qlinear_sigmoid(x, 0.1, 0, 1 / 256, -128).numpy()
    array([-128,    0,   97,  127], dtype=int8)

    Args:
      x: int8 or uint8 of any shape.
      x_scale: float32, a scalar or of shape [1], as are all scales and zero points.
      x_zero_point: Of x's dtype (a number takes it); None for 0.
      y_scale: float32.
      y_zero_point: int8 or uint8, which is y's dtype; a number, or None for 0, takes x's.
      name: A name for the operation.

    Returns:
      y, of x's shape and y_zero_point's dtype.

    Raises:
      tf.errors.InvalidArgumentError: A scale or zero point of more than one element; a ValueError
        while a graph is built.
      ValueError: A zero point outside the range of its dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    operand = _arguments.quantized("x", x, x_scale, x_zero_point)
    return _library.load().tf_qops_q_linear_sigmoid(
        **operand,
        **_arguments.quantized_format("y", y_scale, y_zero_point, operand["x"].dtype),
        name=name,
    )
