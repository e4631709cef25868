"""Operators of one input and no attributes that work element by element."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_FUNCTIONS = {
    "Abs": keras.ops.abs,
    "Acos": keras.ops.arccos,
    "Acosh": keras.ops.arccosh,
    "Asin": keras.ops.arcsin,
    "Asinh": keras.ops.arcsinh,
    "Atan": keras.ops.arctan,
    "Atanh": keras.ops.arctanh,
    "BitwiseNot": keras.ops.bitwise_not,
    "Ceil": keras.ops.ceil,
    "Cos": keras.ops.cos,
    "Cosh": keras.ops.cosh,
    "Erf": keras.ops.erf,
    "Exp": keras.ops.exp,
    "Floor": keras.ops.floor,
    "HardSwish": keras.ops.hard_silu,
    "IsNaN": keras.ops.isnan,
    "Log": keras.ops.log,
    "Mish": lambda x: keras.ops.multiply(x, keras.ops.tanh(keras.ops.softplus(x))),
    "Neg": keras.ops.negative,
    "Not": keras.ops.logical_not,
    "Reciprocal": keras.ops.reciprocal,
    "Round": keras.ops.round,
    "Sigmoid": keras.ops.sigmoid,
    "Sign": keras.ops.sign,
    "Sin": keras.ops.sin,
    "Sinh": keras.ops.sinh,
    "Softplus": keras.ops.softplus,
    "Softsign": keras.ops.softsign,
    "Sqrt": keras.ops.sqrt,
    "Tan": keras.ops.tan,
    "Tanh": keras.ops.tanh,
}


def _register(op_type: str) -> None:
    @register_handler(op_type, layout="any", shapes=(0,) if op_type == "Neg" else ())
    def build(call: NodeCall) -> Value:
        x, channels_last = call.either(0)
        return call.output(_FUNCTIONS[op_type](x), channels_last)


for _op_type in _FUNCTIONS:
    _register(_op_type)
