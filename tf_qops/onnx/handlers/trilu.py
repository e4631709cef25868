"""Trilu."""

from __future__ import annotations

import keras

from tf_qops.onnx.handlers._axes import constants
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Trilu", check=constants(1, what="diagonal"))
def trilu(call: NodeCall) -> Tensor:
    """Becomes keras.ops.triu or keras.ops.tril."""
    diagonal = call.constant(1).item() if call.has_input(1) else 0
    function = keras.ops.triu if call.attribute("upper") else keras.ops.tril
    return function(call.tensor(0), k=diagonal)
