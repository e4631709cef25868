"""QuantizeLinear."""

from __future__ import annotations

import onnx

from tf_qops import layers
from tf_qops.onnx.handlers._checks import parameters_are_constant
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value, channels_last_axis


def _check(node: Node) -> str | None:
    if node.attribute("precision", 0) not in (0, onnx.TensorProto.FLOAT):
        return "its division must be in float32"
    if not node.attribute("saturate", 1):
        return "it must saturate"
    return parameters_are_constant(node)


def _output_dtype(call: NodeCall) -> str:
    """Returns the zero point's dtype, the attribute's, or uint8."""
    zero_point = call.constant(2)
    if zero_point is not None:
        return zero_point.dtype.name
    declared = call.attribute("output_dtype", 0)
    return onnx.helper.tensor_dtype_to_np_dtype(declared).name if declared else "uint8"


@register_handler("QuantizeLinear", "com.microsoft", layout="any", check=_check)
@register_handler("QuantizeLinear", layout="any", check=_check)
def quantize_linear(call: NodeCall) -> Value:
    """Becomes a QuantizeLinear layer."""
    x, channels_last = call.either(0)
    axis = call.attribute("axis", 1)
    layer = layers.QuantizeLinear(
        call.constant(1),
        call.constant(2),
        axis=channels_last_axis(axis, len(x.shape)) if channels_last else axis,
        block_size=call.attribute("block_size", 0),
        output_dtype=_output_dtype(call),
        **call.options(),
    )
    return call.output(layer(x), channels_last)
