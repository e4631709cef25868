"""Reshape."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Reshape", since_version=5, shapes=(0,))
def reshape(call: NodeCall) -> Tensor:
    """Becomes a Keras Reshape where the batch dimension stays, our own, or one that is told."""
    target = call.known(1)
    allow_zero = bool(call.attribute("allowzero", 0))
    if target is not None and [d in (None, -1) for d in target].count(True) <= 1:
        return _fixed(call, [-1 if d is None else d for d in target], allow_zero)
    static = None
    if target is not None:
        shape = call.shape(0)
        kept = {i for i, d in enumerate(target) if d == 0 and not allow_zero}
        static = [shape[i] if i in kept else None if d == -1 else d for i, d in enumerate(target)]
    layer = layers.ReshapeTo(static, allow_zero, **call.options())
    return layer(call.tensor(0), call.tensor(1))


def _fixed(call: NodeCall, target: list[int], allow_zero: bool) -> Tensor:
    """Reshapes to a target with at most one length left open."""
    x = call.tensor(0)
    if target and target[0] == 0 and not allow_zero and 0 not in target[1:]:
        return keras.layers.Reshape(target[1:], **call.options())(x)
    return layers.Reshape(target, allow_zero, **call.options())(x)


@register_handler("Reshape")
def reshape_to_attribute(call: NodeCall) -> Tensor:
    """Takes the target from an attribute, as version 1 does."""
    return layers.Reshape(call.attribute("shape"), **call.options())(call.tensor(0))
