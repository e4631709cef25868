"""Flatten."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Flatten")
def flatten(call: NodeCall) -> Tensor:
    """Becomes a Keras Flatten where only the batch dimension is kept, else our own."""
    x, axis = call.tensor(0), call.attribute("axis")
    if axis == 1 and len(x.shape) > 1:
        return keras.layers.Flatten(data_format="channels_last", **call.options())(x)
    return layers.Flatten(axis, **call.options())(x)
