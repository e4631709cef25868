"""CumSum."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.handlers._axes import constants
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("CumSum", check=constants(1, what="axis"))
def cum_sum(call: NodeCall) -> Tensor:
    """Becomes a CumSum layer."""
    layer = layers.CumSum(
        call.constant(1).item(),
        bool(call.attribute("exclusive")),
        bool(call.attribute("reverse")),
        **call.options(),
    )
    return layer(call.tensor(0))
