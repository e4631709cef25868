"""Einsum."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Einsum")
def einsum(call: NodeCall) -> Tensor:
    """Becomes keras.ops.einsum."""
    tensors = [call.tensor(i) for i in range(len(call.node.inputs))]
    return keras.ops.einsum(call.attribute("equation").replace(" ", ""), *tensors)
