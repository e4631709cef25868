"""Where."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("Where", layout="any", shapes=(1, 2))
def where(call: NodeCall) -> Value:
    """Becomes keras.ops.where."""
    (condition, x, y), channels_last = call.broadcast(range(3))
    return call.output(keras.ops.where(condition, x, y), channels_last)
