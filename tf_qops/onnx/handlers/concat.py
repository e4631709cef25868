"""Concat."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value, channels_last_axis


@register_handler("Concat", layout="any", shapes=range(1000))
def concat(call: NodeCall) -> Value:
    """Becomes keras.ops.concatenate."""
    tensors, channels_last = call.broadcast(range(len(call.node.inputs)))
    axis = call.attribute("axis", 1)
    if channels_last:
        axis = channels_last_axis(axis, len(tensors[0].shape))
    if len(tensors) == 1:
        return call.output(tensors[0], channels_last)
    return call.output(keras.ops.concatenate(tensors, axis), channels_last)
