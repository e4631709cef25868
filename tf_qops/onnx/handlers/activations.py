"""Activations with attributes."""

from __future__ import annotations

from collections.abc import Callable

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value

ops = keras.ops


def _elu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.elu(x, alpha=call.attribute("alpha"))


def _celu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.celu(x, alpha=call.attribute("alpha"))


def _selu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.multiply(ops.elu(x, alpha=call.attribute("alpha")), call.attribute("gamma"))


def _leaky_relu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.leaky_relu(x, negative_slope=call.attribute("alpha"))


def _hard_sigmoid(call: NodeCall, x: Tensor) -> Tensor:
    y = ops.add(ops.multiply(x, call.attribute("alpha")), call.attribute("beta"))
    return ops.clip(y, 0.0, 1.0)


def _gelu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.gelu(x, approximate=call.attribute("approximate") == "tanh")


def _swish(call: NodeCall, x: Tensor) -> Tensor:
    return ops.multiply(x, ops.sigmoid(ops.multiply(x, call.attribute("alpha", 1.0))))


def _thresholded_relu(call: NodeCall, x: Tensor) -> Tensor:
    return ops.where(ops.greater(x, call.attribute("alpha")), x, ops.zeros_like(x))


def _shrink(call: NodeCall, x: Tensor) -> Tensor:
    bias, threshold = call.attribute("bias"), call.attribute("lambd")
    above = ops.where(ops.greater(x, threshold), ops.subtract(x, bias), ops.zeros_like(x))
    return ops.where(ops.less(x, -threshold), ops.add(x, bias), above)


_FUNCTIONS: dict[str, Callable[[NodeCall, Tensor], Tensor]] = {
    "Celu": _celu,
    "Elu": _elu,
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _leaky_relu,
    "Selu": _selu,
    "Shrink": _shrink,
    "Swish": _swish,
    "ThresholdedRelu": _thresholded_relu,
}


def _register(op_type: str) -> None:
    @register_handler(op_type, layout="any")
    def build(call: NodeCall) -> Value:
        x, channels_last = call.either(0)
        return call.output(_FUNCTIONS[op_type](call, x), channels_last)


for _op_type in _FUNCTIONS:
    _register(_op_type)


@register_handler("Gelu", "com.microsoft", layout="any")
def gelu(call: NodeCall) -> Value:
    """Becomes keras.ops.gelu."""
    x, channels_last = call.either(0)
    return call.output(ops.gelu(x, approximate=False), channels_last)


@register_handler("PRelu", layout="any")
def p_relu(call: NodeCall) -> Value:
    """Becomes a choice between x and x * slope."""
    (x, slope), channels_last = call.broadcast(range(2))
    negative = ops.less(x, ops.zeros_like(x))
    return call.output(ops.where(negative, ops.multiply(x, slope), x), channels_last)
