"""Arithmetic, comparisons and logic of two inputs that are broadcast together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import keras
import numpy as np

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value

_FUNCTIONS = {
    "Add": keras.ops.add,
    "And": keras.ops.logical_and,
    "BitwiseAnd": keras.ops.bitwise_and,
    "BitwiseOr": keras.ops.bitwise_or,
    "BitwiseXor": keras.ops.bitwise_xor,
    "Equal": keras.ops.equal,
    "Greater": keras.ops.greater,
    "GreaterOrEqual": keras.ops.greater_equal,
    "Less": keras.ops.less,
    "LessOrEqual": keras.ops.less_equal,
    "Mul": keras.ops.multiply,
    "Or": keras.ops.logical_or,
    "Sub": keras.ops.subtract,
    "Xor": keras.ops.logical_xor,
}
_MODULAR = {_FUNCTIONS[f"Bitwise{name}"] for name in ("And", "Or", "Xor")} | {
    _FUNCTIONS[name] for name in ("Add", "Mul", "Sub")
}
_FOLLOWED = {"Add": (0, 1), "Mul": (0, 1), "Sub": (0, 1)}


def check_broadcast(node: Node) -> str | None:
    """Refuses the broadcasting along an axis that version 6 and earlier have."""
    if node.attribute("axis") is not None and node.attribute("broadcast", 0):
        return "its broadcast along an axis (before version 7) is not supported"
    return None


def on_tensors(function: Callable[[Tensor, Tensor], Tensor], tensors: Sequence[Tensor]) -> Tensor:
    """Applies a function of two to any number of tensors.

    Keras makes uint64 to uint32, so such tensors go through int64, of the same order: with their
    highest bit flipped where that decides (in comparisons, not in arithmetic modulo 2^64).
    """
    if keras.backend.standardize_dtype(tensors[0].dtype) != "uint64":
        return functools.reduce(function, tensors)
    flip = np.int64(0 if function in _MODULAR else -(2**63))
    signed = [keras.ops.bitwise_xor(keras.ops.cast(t, "int64"), flip) for t in tensors]
    y = functools.reduce(function, signed)
    if keras.backend.standardize_dtype(y.dtype) != "int64":
        return y
    return keras.ops.cast(keras.ops.bitwise_xor(y, flip), "uint64")


def _register(op_type: str) -> None:
    @register_handler(
        op_type, layout="any", check=check_broadcast, shapes=_FOLLOWED.get(op_type, ())
    )
    def build(call: NodeCall) -> Value:
        tensors, channels_last = call.broadcast(range(2))
        return call.output(on_tensors(_FUNCTIONS[op_type], tensors), channels_last)


for _op_type in _FUNCTIONS:
    _register(_op_type)


@register_handler("Div", layout="any", check=check_broadcast, shapes=(0,))
def div(call: NodeCall) -> Value:
    """Becomes keras.ops.divide for floats, a TruncatingDivide for integers."""
    (a, b), channels_last = call.broadcast(range(2))
    if keras.backend.is_float_dtype(a.dtype):
        return call.output(keras.ops.divide(a, b), channels_last)
    return call.output(layers.TruncatingDivide(**call.options())(a, b), channels_last)


@register_handler("Mod", layout="any")
def mod(call: NodeCall) -> Value:
    """Becomes a Modulo layer."""
    (a, b), channels_last = call.broadcast(range(2))
    layer = layers.Modulo(bool(call.attribute("fmod")), **call.options())
    return call.output(layer(a, b), channels_last)


@register_handler("Pow", layout="any", check=check_broadcast)
def pow_(call: NodeCall) -> Value:
    """Becomes keras.ops.power, in the dtype of the base."""
    (a, b), channels_last = call.broadcast(range(2))
    dtype = keras.backend.standardize_dtype(a.dtype)
    if keras.backend.standardize_dtype(b.dtype) != dtype:
        if keras.backend.is_float_dtype(dtype):
            b = keras.ops.cast(b, dtype)
        else:
            return call.output(
                keras.ops.cast(
                    keras.ops.power(keras.ops.cast(a, "float64"), keras.ops.cast(b, "float64")),
                    dtype,
                ),
                channels_last,
            )
    return call.output(keras.ops.power(a, b), channels_last)
