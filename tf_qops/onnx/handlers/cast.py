"""Cast and CastLike."""

from __future__ import annotations

import keras
import numpy as np
import onnx

from tf_qops.layers import narrow
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, NotFoldedError, Value

_TYPES = {"bool", "float16", "bfloat16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


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
    return None if name in _TYPES else f"no cast to {name or target}"


def cast_to(call: NodeCall, dtype: str) -> Value | np.ndarray:
    """Returns input 0 in another dtype."""
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
