"""Turns what callers pass (Python numbers, numpy arrays, tensors) into what the operators take."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf

TensorLike = Any  # What tf.convert_to_tensor takes: a tensor, a variable, an array, a number.


def _refuse(value: Any, argument: str) -> None:
    if isinstance(value, (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)):
        advice = "use value.to_tensor() or map over value.flat_values"
        if not isinstance(value, tf.RaggedTensor):
            advice = "use tf.sparse.to_dense or tf.convert_to_tensor first"
        raise TypeError(
            f"{argument} must be a dense tensor: {advice}. Received: {type(value).__name__}"
        )
    if type(value).__name__ == "KerasTensor":
        raise TypeError(
            f"{argument} must be a tensor: inside a functional Keras model use the layer of the "
            f"same name in tfq.layers. Received: {value!r}"
        )


def has_dtype(value: Any) -> bool:
    """Returns whether a value brings a dtype of its own, unlike Python numbers and lists."""
    return hasattr(value, "dtype")


def tensor(value: TensorLike, argument: str, dtype: tf.DType | None = None) -> tf.Tensor:
    """Converts a value; `dtype` is for what brings none of its own."""
    _refuse(value, argument)
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        value = value.astype(np.float32)
    return tf.convert_to_tensor(value, None if has_dtype(value) else dtype)


def scale(value: TensorLike, argument: str) -> tf.Tensor:
    """Converts a scale; Python numbers and float64 arrays become float32."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    return tensor(value, argument, tf.float32)


def zero_point(value: TensorLike, argument: str, dtype: tf.DType) -> tf.Tensor:
    """Converts a zero point; Python numbers, if `dtype` can hold them, take it.

    Raises:
      ValueError: A number outside the range of `dtype`, or a tensor of another dtype.
    """
    if not has_dtype(value):
        value = codes(value, argument, dtype)
    converted = tensor(value, argument)
    if converted.dtype != dtype:
        raise ValueError(
            f"{argument} must be {dtype.name}, the type of what it is the zero of. "
            f"Received: {converted.dtype.name}"
        )
    return converted


def optional_zero_point(
    value: TensorLike | None, argument: str, dtype: tf.DType
) -> list[tf.Tensor]:
    """Converts a zero point that may be left out to a list of at most one."""
    return [] if value is None else [zero_point(value, argument, dtype)]


def own_dtype(value: TensorLike, otherwise: tf.DType) -> tf.DType:
    """Returns the dtype a value brings, `otherwise` for Python numbers and lists."""
    return tf.as_dtype(value.dtype) if has_dtype(value) else otherwise


def quantized_format(
    argument: str, scale_value: TensorLike, zero_value: TensorLike | None, dtype: tf.DType
) -> dict[str, tf.Tensor]:
    """Converts the scale and zero point, 0 where left out, of the operand named `argument`.

    Numbers take `dtype`; a zero point that brings a dtype keeps it.
    """
    dtype = own_dtype(zero_value, dtype)
    return {
        f"{argument}_scale": scale(scale_value, f"{argument}_scale"),
        f"{argument}_zero_point": zero_point(
            0 if zero_value is None else zero_value, f"{argument}_zero_point", dtype
        ),
    }


def quantized(
    argument: str, codes: TensorLike, scale_value: TensorLike, zero_value: TensorLike | None
) -> dict[str, tf.Tensor]:
    """Converts an operand's codes, its scale and its zero point of the same dtype."""
    converted = tensor(codes, argument)
    if zero_value is not None:
        zero_value = zero_point(zero_value, f"{argument}_zero_point", converted.dtype)
    return {
        argument: converted,
        **quantized_format(argument, scale_value, zero_value, converted.dtype),
    }


def codes(value: Any, argument: str, dtype: tf.DType) -> np.ndarray:
    """Converts numbers to an array of codes; a ValueError where `dtype` cannot hold them."""
    numbers = np.asarray(value)
    array = numbers.astype(dtype.as_numpy_dtype)
    limits = ml_dtypes.iinfo(array.dtype) if dtype.is_integer else ml_dtypes.finfo(array.dtype)
    if dtype.is_integer and not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"{argument} must be of whole numbers. Received: {value}")
    if np.any((numbers < float(limits.min)) | (numbers > float(limits.max))):
        raise ValueError(
            f"{argument} must be in [{limits.min}, {limits.max}] for {dtype.name}. "
            f"Received: {value}"
        )
    return array


def ints(values: Sequence[int] | None) -> list[int]:
    """Converts an optional list attribute; the operators take an empty list as the default."""
    return [] if values is None else [int(value) for value in values]


def optional(value: tf.Tensor | None) -> list[tf.Tensor]:
    """Converts an optional input to what the operators have for it: a list of at most one."""
    return [] if value is None else [value]
