"""Trilu."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Trilu")
def trilu(call: NodeCall) -> Tensor:
    """Becomes a Triangle layer."""
    diagonal = call.tensor(1) if call.has_input(1) else call.placed("diagonal", np.array(0))
    layer = layers.Triangle(bool(call.attribute("upper")), **call.options())
    return layer(call.tensor(0), diagonal)
