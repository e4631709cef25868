"""DequantizeLinear."""

from __future__ import annotations

import onnx

from tf_qops import layers
from tf_qops.onnx.handlers._checks import parameters_are_constant
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value, channels_last_axis


@register_handler("DequantizeLinear", "com.microsoft", layout="any", check=parameters_are_constant)
@register_handler("DequantizeLinear", layout="any", check=parameters_are_constant)
def dequantize_linear(call: NodeCall) -> Value:
    """Becomes a DequantizeLinear layer."""
    x, channels_last = call.either(0)
    axis = call.attribute("axis", 1)
    scale = call.constant(1)
    declared = call.attribute("output_dtype", 0)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(declared) if declared else scale.dtype
    layer = layers.DequantizeLinear(
        scale,
        call.constant(2),
        axis=channels_last_axis(axis, len(x.shape)) if channels_last else axis,
        block_size=call.attribute("block_size", 0),
        **call.options() | {"dtype": dtype.name},
    )
    return call.output(layer(x), channels_last)
