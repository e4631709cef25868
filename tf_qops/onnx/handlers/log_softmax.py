"""LogSoftmax: along one axis since version 13, over a flattened matrix before."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("LogSoftmax", since_version=13)
def log_softmax(call: NodeCall) -> Tensor:
    """Becomes keras.ops.log_softmax."""
    return keras.ops.log_softmax(call.tensor(0), axis=call.attribute("axis"))


@register_handler("LogSoftmax")
def log_softmax_of_matrix(call: NodeCall) -> Tensor:
    """Becomes a difference over all dimensions from `axis` on."""
    x = call.tensor(0)
    axes = tuple(range(call.attribute("axis") % len(x.shape), len(x.shape)))
    return keras.ops.subtract(x, keras.ops.logsumexp(x, axis=axes, keepdims=True))
