"""Squeeze and Unsqueeze: axes are an attribute before version 13, an input since."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.handlers._axes import axes, check_axes, normalized
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value


@register_handler("Unsqueeze", check=check_axes, shapes=(0,))
def unsqueeze(call: NodeCall) -> Tensor:
    """Becomes keras.ops.expand_dims, once for each axis."""
    x, given = call.tensor(0), axes(call) or ()
    for axis in normalized(given, len(x.shape) + len(given)):
        x = keras.ops.expand_dims(x, axis)
    return x


@register_handler("Squeeze", check=check_axes, shapes=(0,))
def squeeze(call: NodeCall) -> Tensor | Value:
    """Becomes keras.ops.squeeze, our own where only a run tells that a length is 1."""
    shape, given = call.shape(0), axes(call)
    if given is None:
        if None in shape:
            raise ValueError(f"axes must be given for a shape that varies. Received: {shape}.")
        given = tuple(i for i, length in enumerate(shape) if length == 1)
    given = normalized(given, len(shape))
    if any(shape[a] not in (1, None) for a in given):
        raise ValueError(f"squeezed axes must have length 1. Received: {given} of {shape}.")
    if not given:
        return call.value(0)
    if None in (shape[a] for a in given):
        return layers.Squeeze(given, **call.options())(call.tensor(0))
    return keras.ops.squeeze(call.tensor(0), axis=given)
