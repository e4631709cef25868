"""TensorFlow's Dequantize: codes of a quantized type mapped onto a range."""

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


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
    from_end = axis is not None and axis < 0
    return _library.load().tf_qops_dequantize(
        input=_arguments.tensor(input, "input"),
        min_range=_arguments.scale(min_range, "min_range"),
        max_range=_arguments.scale(max_range, "max_range"),
        mode=mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else -1 - axis if from_end else axis,
        axis_from_end=from_end,
        dtype=tf.as_dtype(dtype),
        name=name,
    )
