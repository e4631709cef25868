"""ONNX's DequantizeLinear, QuantizeLinear and DynamicQuantizeLinear."""

from typing import NamedTuple

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


class DynamicallyQuantized(NamedTuple):
    """What `tfq.dynamic_quantize_linear` returns."""

    y: tf.Tensor
    y_scale: tf.Tensor
    y_zero_point: tf.Tensor


def dequantize_linear(
    x: TensorLike,
    x_scale: TensorLike,
    x_zero_point: TensorLike | None = None,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: tf.DType | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `(x - x_zero_point) * x_scale`, ONNX's DequantizeLinear (versions 10 to 28).

    The difference is exact, the product is rounded to float32 and that once more to the output
    type, as in onnx.reference and ONNX Runtime. A denormal scale or product counts as 0, as in
    all of TensorFlow.

    XLA takes no 4- or 2-bit integers and no float4 as arguments of a function with jit_compile:
    pass the same values as int8, uint8 or float8_e4m3fn.

    >>> x = tf.constant([[0, 128, 255]], tf.uint8)
    >>> tfq.dequantize_linear(x, 0.5, 128).numpy()
    array([[-64. ,   0. ,  63.5]], dtype=float32)

    One scale for each row:

    >>> x = tf.constant([[1, 2], [3, 4]], tf.int8)
    >>> tfq.dequantize_linear(x, [0.5, 10.0], axis=0).numpy()
    array([[ 0.5,  1. ],
           [30. , 40. ]], dtype=float32)

    Args:
      x: Quantized values of any shape: int8, uint8, int16, uint16, int32, int4, uint4, int2,
        uint2, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz or float4_e2m1fn.
      x_scale: float32, float16 or bfloat16; numbers become float32. A scalar or shape [1]: one
        scale for all of x. Shape [D]: one for each index along `axis`, where x has D. With
        `block_size`, x's shape but ceil(D / block_size) along `axis`.
      x_zero_point: Of x's dtype (a number takes it) and x_scale's shape; 0 where left out.
      axis: In [-rank, rank - 1]; ignored where there is one scale.
      block_size: Elements along `axis` that share a scale; the last block may be shorter. 0 where
        x is not blocked.
      output_dtype: float32, float16 or bfloat16; x_scale's where left out.
      name: A name for the operation.

    Returns:
      A tensor of x's shape.

    Raises:
      tf.errors.InvalidArgumentError: Shapes, axis or block_size that do not fit each other; a
        ValueError while a graph is built.
      ValueError: A zero point outside the range of x's dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    x = _arguments.tensor(x, "x")
    x_scale = _arguments.scale(x_scale, "x_scale")
    if x_zero_point is not None:
        x_zero_point = _arguments.zero_point(x_zero_point, "x_zero_point", x.dtype)
    return _library.load().tf_qops_dequantize_linear(
        x=x,
        x_scale=x_scale,
        x_zero_point=_arguments.optional(x_zero_point),
        output_dtype=tf.as_dtype(output_dtype or x_scale.dtype),
        axis=axis,
        block_size=block_size,
        name=name,
    )


def quantize_linear(
    x: TensorLike,
    y_scale: TensorLike,
    y_zero_point: TensorLike | None = None,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: tf.DType | None = None,
    saturate: bool = True,
    precision: tf.DType | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `saturate(rint(x / y_scale) + y_zero_point)`, ONNX's QuantizeLinear (10 to 28).

    The quotient is taken in float32 and rounded to the nearest integer, ties to even, before the
    zero point is added. Beyond the range of the output type its nearest limit is taken; NaN gives
    the lowest integer.

    >>> tfq.quantize_linear([-1.5, 0.5, 2.5, 1000.0], 1.0, 127).numpy()
    array([125, 127, 129, 255], dtype=uint8)

    Args:
      x: float32, float16, bfloat16 or int32, of any shape; Python numbers become float32.
      y_scale: float32, float16 or bfloat16; numbers become float32. Shapes as
        `tfq.dequantize_linear`'s x_scale.
      y_zero_point: Of y_scale's shape and the output's dtype (a number takes it); 0 where left
        out.
      axis: In [-rank, rank - 1]; ignored where there is one scale.
      block_size: Elements along `axis` that share a scale; 0 where not blocked.
      output_dtype: The dtype of y: int8, uint8, int16, uint16, int4, uint4, int2, uint2,
        float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz or float4_e2m1fn. Where left
        out, y_zero_point's, and uint8 without one.
      saturate: Whether a value beyond a float8 type's range becomes its largest number; infinity
        or NaN otherwise. Integers and float4 always saturate.
      precision: float32, float16 or bfloat16, to which the quotient is rounded; float32 where
        left out.
      name: A name for the operation.

    Returns:
      A tensor of x's shape.

    Raises:
      tf.errors.InvalidArgumentError: Shapes, axis or block_size that do not fit each other; a
        ValueError while a graph is built.
      ValueError: A zero point outside the range of the output's dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    x = _arguments.tensor(x, "x", tf.float32)
    y_scale = _arguments.scale(y_scale, "y_scale")
    if output_dtype is None:
        output_dtype = y_zero_point.dtype if _arguments.has_dtype(y_zero_point) else tf.uint8
    output_dtype = tf.as_dtype(output_dtype)
    if y_zero_point is not None:
        y_zero_point = _arguments.zero_point(y_zero_point, "y_zero_point", output_dtype)
    return _library.load().tf_qops_quantize_linear(
        x=x,
        y_scale=y_scale,
        y_zero_point=_arguments.optional(y_zero_point),
        output_dtype=output_dtype,
        axis=axis,
        block_size=block_size,
        saturate=saturate,
        precision=tf.as_dtype(precision or tf.float32),
        name=name,
    )


def dynamic_quantize_linear(x: TensorLike, name: str | None = None) -> DynamicallyQuantized:
    """Quantizes to uint8 over the range of x itself, ONNX's DynamicQuantizeLinear (version 11).

    With low and high the ends of x's range, widened to hold 0, and all arithmetic in float32:

    - `y_scale = (high - low) / 255`, or 1 where that is 0 (all of x is 0, or a denormal number,
      which counts as 0 as in all of TensorFlow);
    - `y_zero_point = rint(clamp(0 - low / y_scale, 0, 255))`;
    - `y = clamp(rint(x / y_scale) + y_zero_point)`. Ties are to even in both.

    NaN is passed over when the range is found and gives the code 0. A range wider than float32's
    largest number, as with an infinity in x, has the scale infinity, and all codes are 0.

    >>> result = tfq.dynamic_quantize_linear([-253.0, 0.0, 257.0])
    >>> result.y.numpy(), float(result.y_scale), int(result.y_zero_point)
    (array([  0, 126, 254], dtype=uint8), 2.0, 126)

    Args:
      x: float32 of any shape, also empty.
      name: A name for the operation.

    Returns:
      (y, y_scale, y_zero_point): uint8 of x's shape, a float32 and a uint8 scalar.

    Raises:
      TypeError: A ragged or sparse tensor, or an x of another dtype.
    """
    return DynamicallyQuantized(
        *_library.load().tf_qops_dynamic_quantize_linear(
            x=_arguments.tensor(x, "x", tf.float32), name=name
        )
    )
