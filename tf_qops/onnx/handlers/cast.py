"""Cast and CastLike."""

from __future__ import annotations

import keras
import ml_dtypes
import numpy as np
import onnx

from tf_qops import layers
from tf_qops.layers import narrow
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, NotFoldedError, Tensor, Value

_TYPES = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_SMALL_FLOATS = {
    "float4_e2m1fn",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
}
_SMALL_INTEGERS = {"int2", "int4", "uint2", "uint4"}


def _target(node: Node) -> str | None:
    """Returns the type's name, None for one that ONNX does not know."""
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(node.attribute("to", 0)).name
    except KeyError:
        return None


def _check(node: Node) -> str | None:
    target = node.attribute("to")
    if isinstance(target, str):
        return None if target.lower() in _TYPES | {"float", "double"} else f"no cast to {target}"
    name = _target(node)
    known = _TYPES | _SMALL_FLOATS | _SMALL_INTEGERS
    return None if name in known else f"no cast to {name or target}"


def cast_to(call: NodeCall, dtype: str) -> Value | np.ndarray:
    """Returns input 0 in another dtype."""
    if dtype in _SMALL_FLOATS | _SMALL_INTEGERS:
        if call.dtype(0) == dtype:
            return call.value(0)
        x, channels_last = call.either(0)
        function = _to_small_float if dtype in _SMALL_FLOATS else _to_small_integer
        return call.output(function(call, x, dtype), channels_last, dtype=dtype)
    value = call.value(0)
    if isinstance(value, np.ndarray):
        if narrow.is_packed(value.dtype.name) and value.size > 1:
            value = value.astype(narrow.carrier(value.dtype.name))
        if call.folds:
            if value.size > call.folds:
                raise NotFoldedError
            with np.errstate(invalid="ignore", over="ignore"):
                return value.astype(keras.backend.standardize_dtype(dtype))
    x, channels_last = call.either(0)
    if keras.backend.standardize_dtype(x.dtype) == dtype:
        return call.output(x, channels_last)
    return call.output(keras.ops.cast(x, dtype), channels_last)


def _to_small_float(call: NodeCall, x: Tensor, dtype: str) -> Tensor:
    """Rounds to the nearest; what is too large is the largest number, unless told otherwise."""
    if not keras.backend.is_float_dtype(x.dtype):
        x = keras.ops.cast(x, "float32")
    saturate = bool(call.attribute("saturate", 1))
    return layers.QuantizeLinear(1.0, output_dtype=dtype, saturate=saturate, **call.options())(x)


def _to_small_integer(call: NodeCall, x: Tensor, dtype: str) -> Tensor:
    """Keeps the low bits of an integer; a float out of range, which ONNX leaves open, is 0."""
    limits, wide = ml_dtypes.iinfo(dtype), narrow.carrier(dtype)
    if keras.backend.is_float_dtype(x.dtype):
        x = keras.ops.trunc(x)
        inside = keras.ops.logical_and(x >= float(limits.min), x <= float(limits.max))
        return keras.ops.cast(keras.ops.where(inside, x, keras.ops.zeros_like(x)), wide)
    bits, sign = (np.array(n, wide) for n in (2**limits.bits - 1, -int(limits.min)))
    x = keras.ops.bitwise_and(keras.ops.cast(x, wide), bits)
    return keras.ops.subtract(keras.ops.bitwise_xor(x, sign), sign) if sign else x


@register_handler("Cast", layout="any", check=_check, since_version=6, shapes=(0,))
def cast(call: NodeCall) -> Value | np.ndarray:
    """Becomes keras.ops.cast."""
    return cast_to(call, _target(call.node))


@register_handler("Cast", layout="any", check=_check)
def cast_by_name(call: NodeCall) -> Value | np.ndarray:
    """Takes the type by its name, as version 1 does."""
    name = call.attribute("to").lower()
    return cast_to(call, {"float": "float32", "double": "float64"}.get(name, name))


@register_handler("CastLike", layout="any")
def cast_like(call: NodeCall) -> Value | np.ndarray:
    """Becomes keras.ops.cast."""
    return cast_to(call, call.dtype(1))
