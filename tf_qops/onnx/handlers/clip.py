"""Clip: bounds are attributes before version 11, inputs since."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value


def _bound(call: NodeCall, index: int) -> Tensor | float | None:
    """Returns a bound, as a number where it is constant."""
    if not call.has_input(index):
        return None
    return call.constant(index).item() if call.is_constant(index) else call.tensor(index)


@register_handler("Clip", layout="any", since_version=11)
def clip(call: NodeCall) -> Value:
    """Becomes keras.ops.maximum and keras.ops.minimum."""
    return _clip(call, _bound(call, 1), _bound(call, 2))


@register_handler("Clip", layout="any")
def clip_by_attributes(call: NodeCall) -> Value:
    """Becomes keras.ops.maximum and keras.ops.minimum."""
    return _clip(call, call.attribute("min"), call.attribute("max"))


def _clip(call: NodeCall, low: Tensor | float | None, high: Tensor | float | None) -> Value:
    x, channels_last = call.either(0)
    if low is not None:
        x = keras.ops.maximum(x, low)
    if high is not None:
        x = keras.ops.minimum(x, high)
    return call.output(x, channels_last)
