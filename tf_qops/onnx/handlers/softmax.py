"""Softmax: along one axis since version 13, over a flattened matrix before."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Softmax", since_version=13)
def softmax(call: NodeCall) -> Tensor:
    """Becomes a Keras Softmax."""
    return keras.layers.Softmax(call.attribute("axis"), **call.options())(call.tensor(0))


@register_handler("Softmax")
def softmax_of_matrix(call: NodeCall) -> Tensor:
    """Becomes a Keras Softmax over all dimensions from `axis` on."""
    x = call.tensor(0)
    rank = len(x.shape)
    axes = tuple(range(call.attribute("axis") % rank, rank))
    return keras.layers.Softmax(axes if len(axes) > 1 else axes[0], **call.options())(x)
