"""Relu."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("Relu", layout="any")
def relu(call: NodeCall) -> Value:
    """Becomes a Keras ReLU."""
    x, channels_last = call.either(0)
    return call.output(keras.layers.ReLU(**call.options())(x), channels_last)
