"""Types that Keras lacks: the type that carries their values, and their bits packed in bytes.

Keras has neither variables nor symbolic tensors of 4- and 2-bit types, TensorFlow's quantized types
and the float8 types with "uz", and writes no float8 to a file. Between layers such values travel in
a wider type that holds each of them; as weights they are kept packed in uint8, low bits first, as
ONNX packs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_qops.ops import linear

_CARRIERS = {
    "int2": "int8",
    "int4": "int8",
    "uint2": "uint8",
    "uint4": "uint8",
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
    "float4_e2m1fn": "float8_e4m3fn",
    "float6_e2m3fn": "float8_e4m3fn",
    "float6_e3m2fn": "float8_e4m3fn",
    "float8_e4m3fnuz": "float32",
    "float8_e5m2fnuz": "float32",
    "float8_e8m0fnu": "float32",
}
_BITS = {
    "int2": 2,
    "int4": 4,
    "uint2": 2,
    "uint4": 4,
    "float4_e2m1fn": 4,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
}


def carrier(dtype: str) -> str:
    """Returns the type that carries values of a type between layers; most types do so themselves.

    Example:

    >>> carrier("int4"), carrier("float4_e2m1fn"), carrier("int8")
    ('int8', 'float8_e4m3fn', 'int8')
    """
    return _CARRIERS.get(dtype, dtype)


def carried(x: Any) -> Any:
    """Returns a tensor or array in the type that carries its values; anything else as it is."""
    dtype = getattr(x, "dtype", None)
    name = getattr(dtype, "name", dtype)
    if name not in _CARRIERS:
        return x
    target = tf.as_dtype(_CARRIERS[name])
    if tf.as_dtype(dtype).is_quantized:
        return tf.bitcast(x, target)
    return tf.cast(linear.dequantize_linear(x, 1.0), target)


def restored(x: tf.Tensor | None, dtype: str) -> tf.Tensor | None:
    """Returns values in their own type, the inverse of `carried`."""
    if x is None or x.dtype.name == dtype:
        return x
    values = tf.cast(x, tf.float32)
    return linear.quantize_linear(values, 1.0, output_dtype=tf.as_dtype(dtype), saturate=False)


def is_packed(dtype: str) -> bool:
    """Returns whether weights of a type are kept packed in uint8."""
    return dtype in _BITS


def pack(values: np.ndarray) -> np.ndarray:
    """Returns the bits of narrow values as bytes, the first value in the lowest bits.

    Example:

    >>> pack(np.array([1, -1, 2], "int4")).tolist()
    [241, 2]
    """
    bits = _BITS[values.dtype.name]
    codes = np.ravel(values).view(np.uint8) & (2**bits - 1)
    codes = np.pad(codes, (0, -codes.size % (8 // bits))).reshape(-1, 8 // bits)
    return np.bitwise_or.reduce(codes << np.arange(0, 8, bits, np.uint8), axis=1)


def unpack(packed: tf.Tensor, dtype: str, shape: Sequence[int]) -> tf.Tensor:
    """Returns packed values in the type that carries them; exact, also under XLA.

    Args:
        packed: uint8, what `pack` made.
        dtype: of the values.
        shape: of the values.
    """
    bits = _BITS[dtype]
    shifts = tf.constant([*range(0, 8, bits)], tf.uint8)
    codes = tf.bitwise.right_shift(packed[:, tf.newaxis], shifts) & (2**bits - 1)
    codes = tf.reshape(tf.reshape(codes, [-1])[: np.prod(shape, dtype=int)], shape)
    if dtype.startswith("uint"):
        return codes
    if dtype.startswith("int"):
        sign = 2 ** (bits - 1)
        return tf.cast(codes ^ sign, tf.int8) - sign
    values = np.arange(2**bits, dtype=np.uint8).view(tf.as_dtype(dtype).as_numpy_dtype)
    return tf.cast(tf.gather(values.astype(np.float32), tf.cast(codes, tf.int32)), carrier(dtype))
