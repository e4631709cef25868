"""CumSum."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("CumSum")
def cum_sum(call: NodeCall) -> Tensor:
    """Becomes a CumSum layer."""
    fixed = call.is_constant(1)
    layer = layers.CumSum(
        call.constant(1).item() if fixed else None,
        bool(call.attribute("exclusive")),
        bool(call.attribute("reverse")),
        **call.options(),
    )
    return layer(call.tensor(0), *([] if fixed else [call.tensor(1)]))
