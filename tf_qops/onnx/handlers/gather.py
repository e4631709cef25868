"""Gather."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Gather", shapes=(0,))
def gather(call: NodeCall) -> Tensor:
    """Becomes keras.ops.take."""
    return keras.ops.take(call.tensor(0), call.tensor(1), axis=call.attribute("axis"))
