"""Quantizes and dequantizes in one function that gradients pass."""

import numpy as np
import tensorflow as tf

from tf_qops.ops import _arguments, _granularity
from tf_qops.ops._arguments import TensorLike
from tf_qops.ops.linear import dequantize_linear, quantize_linear


def fake_quantize_linear(
    x: TensorLike,
    scale: TensorLike,
    zero_point: TensorLike | None = None,
    axis: int = 1,
    block_size: int = 0,
    quantized_dtype: tf.DType = tf.int8,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `dequantize_linear(quantize_linear(x))`, with gradients for training.

    The values are exactly those of the two operators. Rounding has no useful gradient; what stands
    in for it, with `c = code - zero_point` and `inside` where no code was cut off at the limits
    of `quantized_dtype`:

    | of | gradient inside | outside |
    |---|---|---|
    | x | 1 (straight through) | 0 |
    | scale | `c - x / scale` | `c` |
    | zero_point, real-valued | 0 | `-scale` |

    The gradient of the scale is that of LSQ (Esser et al., "Learned Step Size Quantization", 2020)
    without its constant factor, that of the zero point LSQ+'s (Bhalgat et al., 2020). Sums over
    what shares a scale are taken in float32. Persistent tapes, forward mode and second derivatives
    of these estimators work. XLA has no constants of two bits: there a zero point other than 0 of
    int2 or uint2 must come as a tensor of floats from outside the compiled function.

    >>> x = tf.constant([-0.8, 0.3, 80.0])
    >>> scale = tf.constant(0.5)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch([x, scale])
    ...     y = tfq.fake_quantize_linear(x, scale)
    >>> dx, dscale = tape.gradient(y, [x, scale])
    >>> y.numpy(), dx.numpy()
    (array([-1. ,  0.5, 63.5], dtype=float32), array([1., 1., 0.], dtype=float32))
    >>> round(float(dscale), 4)  # (-2 + 1.6) + (1 - 0.6) + 127
    127.0

    Args:
      x: float32, float16 or bfloat16 of any shape; Python numbers become float32.
      scale: float32, float16 or bfloat16; shapes as `tfq.dequantize_linear`'s x_scale.
      zero_point: Of scale's shape. Codes of `quantized_dtype` (Python integers become such) have
        no gradient. Floats are learned: they are rounded to the nearest code, ties to even, in
        use. 0 where left out, as it must be for a floating-point `quantized_dtype`.
      axis: In [-rank, rank - 1]; ignored where there is one scale.
      block_size: Elements along `axis` that share a scale; 0 where not blocked.
      quantized_dtype: int8, uint8, int16, uint16, int4, uint4, int2, uint2, float8_e4m3fn,
        float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz or float4_e2m1fn.
      name: A name for the operation.

    Returns:
      A tensor of x's shape and dtype.

    Raises:
      tf.errors.InvalidArgumentError: Shapes, axis or block_size that do not fit each other; a
        ValueError while a graph is built.
      ValueError: A zero point outside the range of `quantized_dtype`, of another dtype, or for a
        floating-point `quantized_dtype`; an x of integers.
      TypeError: A ragged or sparse tensor.
    """
    x = _arguments.tensor(x, "x", tf.float32)
    if not x.dtype.is_floating:
        raise ValueError(f"x must hold floating-point numbers. Received: {x.dtype.name}")
    dtype = tf.as_dtype(quantized_dtype)
    lowest, highest = float(dtype.min), float(dtype.max)
    scale = _arguments.scale(scale, "scale")
    given, is_learned = [], False
    if zero_point is not None:
        zero, is_learned = _zero_point(zero_point, dtype)
        given = [zero]

    @tf.custom_gradient
    def run(x: tf.Tensor, scale: tf.Tensor, *zero_point: tf.Tensor) -> tf.Tensor:
        def steps(multiplier: tf.Tensor, to: tf.DType) -> tf.Tensor:
            # Through constants, else forward mode would take DequantizeLinear's own gradient.
            # Codes are computed anew for the gradient: XLA passes no narrow types on.
            values, by, *zeros = map(tf.stop_gradient, (x, scale, *zero_point))
            zero = quantize_linear(*zeros, 1.0, output_dtype=dtype) if zeros else None
            codes = quantize_linear(values, by, zero, axis, block_size, dtype)
            return dequantize_linear(codes, multiplier, zero, axis, block_size, to)

        def gradient(dy: tf.Tensor) -> list[tf.Tensor | None]:
            dy = tf.cast(dy, tf.float32)
            wide_scale = _granularity.spread(tf.cast(scale, tf.float32), x, axis, block_size)
            quotient = tf.cast(x, tf.float32) / wide_scale
            unlimited = tf.round(quotient) if dtype.is_integer else quotient
            for zero in zero_point:
                whole = tf.clip_by_value(tf.round(tf.cast(zero, tf.float32)), lowest, highest)
                unlimited += _granularity.spread(whole, x, axis, block_size)
            inside = (unlimited >= lowest) & (unlimited <= highest)
            of_scale = steps(tf.ones_like(scale, tf.float32), tf.float32)
            of_scale = dy * (of_scale - tf.where(inside, quotient, 0.0))
            sums = _granularity.summed(of_scale, scale, axis, block_size)
            gradients = [tf.cast(tf.where(inside, dy, 0.0), x.dtype), tf.cast(sums, scale.dtype)]
            for zero in zero_point:
                outside = tf.where(inside, 0.0, -dy * wide_scale)
                sums = _granularity.summed(outside, zero, axis, block_size)
                gradients.append(tf.cast(sums, zero.dtype) if is_learned else None)
            return gradients

        return steps(tf.stop_gradient(scale), x.dtype), gradient

    with tf.name_scope(name or "fake_quantize_linear"):
        return run(x, scale, *given)


def _zero_point(value: TensorLike, dtype: tf.DType) -> tuple[tf.Tensor, bool]:
    """Converts a zero point to real numbers; tells whether it was given as such, to be learned.

    Codes become floats too, which hold them exactly: XLA takes no narrow types as arguments.
    """
    if not dtype.is_integer:
        raise ValueError(
            f"zero_point must be left out where quantized_dtype is {dtype.name}. "
            f"Received: {value!r}"
        )
    if not _arguments.has_dtype(value) and not _is_real(np.asarray(value).dtype):
        codes = _arguments.codes(value, "zero_point", dtype).astype(np.float32)
        return tf.constant(codes), False
    if _is_real(_arguments.own_dtype(value, tf.float32)):
        return _arguments.scale(value, "zero_point"), True
    codes = _arguments.zero_point(value, "zero_point", dtype)
    return dequantize_linear(codes, 1.0), False


def _is_real(dtype: tf.DType | np.dtype) -> bool:
    return tf.as_dtype(dtype).is_floating
