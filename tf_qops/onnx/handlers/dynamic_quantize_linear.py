"""DynamicQuantizeLinear."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value


@register_handler("DynamicQuantizeLinear", layout="any")
def dynamic_quantize_linear(call: NodeCall) -> list[Value | Tensor]:
    """Becomes a DynamicQuantizeLinear layer."""
    x, channels_last = call.either(0)
    y, *parameters = layers.DynamicQuantizeLinear(**call.options())(x)
    return [call.output(y, channels_last), *parameters]
