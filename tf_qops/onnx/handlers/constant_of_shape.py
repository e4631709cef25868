"""ConstantOfShape."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("ConstantOfShape")
def constant_of_shape(call: NodeCall) -> Tensor | np.ndarray:
    """Becomes a Fill layer."""
    value = np.asarray(call.attribute("value", np.zeros(1, np.float32))).reshape(-1)[0]
    shape = call.known(0)
    if shape is not None and any(d is not None and d < 0 for d in shape):
        raise ValueError(f"a shape must not be negative. Received: {shape}.")
    static = None if shape is None else call.bounded(shape)
    layer = layers.Fill(value.item(), value.dtype.name, static, **call.options())
    return layer(call.tensor(0))
