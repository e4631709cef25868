"""NonMaxSuppression."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor

_DEFAULTS = {2: np.array([0], np.int64), 3: np.array([0], np.float32)}


@register_handler("NonMaxSuppression")
def non_max_suppression(call: NodeCall) -> Tensor:
    """Becomes a NonMaxSuppression layer."""
    layer = layers.NonMaxSuppression(
        bool(call.attribute("center_point_box")), call.has_input(4), **call.options()
    )
    limits = [
        call.tensor(i) if call.has_input(i) else call.placed(f"limit_{i}", value)
        for i, value in _DEFAULTS.items()
    ]
    threshold = [call.tensor(4)] if call.has_input(4) else []
    return layer(call.tensor(0), call.tensor(1), *limits, *threshold)
