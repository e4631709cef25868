"""Reshape."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _check(node: Node) -> str | None:
    return None if node.is_constant(1) else "its target shape must be a constant"


@register_handler("Reshape", since_version=5, check=_check)
def reshape(call: NodeCall) -> Tensor:
    """Becomes a Keras Reshape where the batch dimension stays, else our own."""
    x = call.tensor(0)
    target = [int(d) for d in call.constant(1)]
    allow_zero = bool(call.attribute("allowzero", 0))
    if target and target[0] == 0 and not allow_zero and 0 not in target[1:]:
        return keras.layers.Reshape(target[1:], **call.options())(x)
    return layers.Reshape(target, allow_zero, **call.options())(x)


@register_handler("Reshape")
def reshape_to_attribute(call: NodeCall) -> Tensor:
    """Takes the target from an attribute, as version 1 does."""
    return layers.Reshape(call.attribute("shape"), **call.options())(call.tensor(0))
