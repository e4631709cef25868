"""TensorFlow's Dequantize and Quantize: codes of a quantized type mapped onto a range."""

from typing import NamedTuple

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


class Quantized(NamedTuple):
    """What `tfq.quantize` returns."""

    output: tf.Tensor
    output_min: tf.Tensor
    output_max: tf.Tensor


def _axis_attributes(axis: int | None) -> dict[str, int | bool]:
    """The operators' attribute has -1 for per tensor, so counts from the end elsewhere."""
    from_end = axis is not None and axis < 0
    attribute = -1 if axis is None else -1 - axis if from_end else axis
    return {"axis": attribute, "axis_from_end": from_end}


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: tf.DType = tf.float32,
) -> tf.Tensor:
    """Computes what `tf.quantization.dequantize` is specified to, for every mode and type.

    With `lowest` and `highest` the limits of input's type and all arithmetic in float32:

    | mode | value |
    |---|---|
    | MIN_COMBINED | `(input + half) * s + min`, `s = (max - min) / (highest - lowest)`; half is 2^(bits - 1) for a signed type, else 0 |
    | MIN_FIRST | `(rmin - lowest * s) + input * s`, `s = (max - min) / (2^bits - 1)`, rmin = min rounded to a whole number of s |
    | SCALED | `input * s`; s = `max / highest` for an unsigned type, for a signed one the larger of that and `min / lowest` |

    The bits are those of TensorFlow 2.21's operator on a CPU where it is right; it returns the
    wrong sign for qint32 codes from 2147483584 in mode SCALED, and refuses or aborts on several
    shapes, types and modes that are computed here.

    Codes of a range of 0 to 6 (QuantizedRelu6), with 128 added first where they are signed:

    >>> x = tf.constant([0, 128, 255], tf.uint8)
    >>> tfq.dequantize(tf.bitcast(x, tf.quint8), 0.0, 6.0).numpy()
    array([0.       , 3.0117648, 6.       ], dtype=float32)
    >>> x = tf.constant([-128, 0, 127], tf.int8)
    >>> tfq.dequantize(tf.bitcast(x, tf.qint8), 0.0, 6.0).numpy()
    array([0.       , 3.0117648, 6.       ], dtype=float32)

    Args:
      input: qint8, quint8, qint16, quint16 or qint32, or the plain integer type of the same
        width, of any shape.
      min_range: float32, the value of the lowest code: a scalar or of shape [1]; with an axis, of
        shape [D] where input has D. Not checked against max_range: a reversed, infinite or NaN
        range is computed as it stands.
      max_range: The value of the highest code, likewise.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      name: A name for the operation.
      axis: The dimension along which each slice has a range of its own, negative from the end;
        None for one range.
      narrow_range: Whether the lowest code of a signed type is unused; matters in mode SCALED.
      dtype: float32, float16 or bfloat16 of the output, rounded from float32 to nearest even.

    Returns:
      A tensor of input's shape.

    Raises:
      tf.errors.InvalidArgumentError: An axis out of range, or ranges of the wrong shape; a
        ValueError while a graph is built.
      TypeError: A ragged or sparse tensor.
    """  # noqa: E501
    return _library.load().tf_qops_dequantize(
        input=_arguments.tensor(input, "input"),
        min_range=_arguments.scale(min_range, "min_range"),
        max_range=_arguments.scale(max_range, "max_range"),
        mode=mode,
        narrow_range=narrow_range,
        **_axis_attributes(axis),
        dtype=tf.as_dtype(dtype),
        name=name,
    )


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: tf.DType = tf.quint8,  # noqa: N803 as TensorFlow spells it
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Quantized:
    """Computes the inverse of `tfq.dequantize`, the arithmetic of `tf.quantization.quantize`.

    The range is first widened to hold 0 and to be at least `ensure_minimum_range` times the
    larger of 1 and its ends. With all arithmetic in float32:

    | mode | code |
    |---|---|
    | MIN_COMBINED | `round((clamp(input) - min) * s - half)`, `s = (2^bits - 1) / (max - min)`; half as in `tfq.dequantize` |
    | MIN_FIRST | `round(input * s) - (round(min * s) - lowest)`, the same s |
    | SCALED | `round(clamp(input) * s)`, s as large as both ends of the range allow |

    Where TensorFlow 2.21 wraps (the maximum of qint32 becomes its minimum) this saturates, and NaN
    gives the lowest code.

    >>> codes = tfq.quantize([-1.0, 0.0, 3.0, 9.0], 0.0, 6.0, tf.quint8)
    >>> tf.bitcast(codes.output, tf.uint8).numpy()
    array([  0,   0, 128, 255], dtype=uint8)
    >>> tfq.dequantize(*codes).numpy()
    array([0.       , 0.       , 3.0117648, 6.       ], dtype=float32)

    Args:
      input: float32 of any shape.
      min_range: float32, a scalar or of shape [1]; with an axis, of shape [D] where input has D.
      max_range: Likewise; nowhere less than min_range.
      T: qint8, quint8, qint16, quint16 or qint32, or the plain integer type of the same width.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      round_mode: "HALF_AWAY_FROM_ZERO" or "HALF_TO_EVEN" (in every mode; TensorFlow has the
        latter in mode SCALED only).
      name: A name for the operation.
      narrow_range: Whether to leave the lowest code unused, in mode SCALED.
      axis: The dimension along which each slice has a range of its own, negative from the end;
        None for one range.
      ensure_minimum_range: The least width of the range.

    Returns:
      (output, output_min, output_max): codes of input's shape and the range that they have,
      scalars or of shape [D].

    Raises:
      tf.errors.InvalidArgumentError: An axis out of range, ranges of the wrong shape (a ValueError
        while a graph is built), or max_range < min_range (not seen under XLA).
      TypeError: A ragged or sparse tensor.
    """  # noqa: E501
    return Quantized(
        *_library.load().tf_qops_quantize(
            input=_arguments.tensor(input, "input", tf.float32),
            min_range=_arguments.scale(min_range, "min_range"),
            max_range=_arguments.scale(max_range, "max_range"),
            T=tf.as_dtype(T),
            mode=mode,
            round_mode=round_mode,
            narrow_range=narrow_range,
            **_axis_attributes(axis),
            ensure_minimum_range=ensure_minimum_range,
            name=name,
        )
    )
