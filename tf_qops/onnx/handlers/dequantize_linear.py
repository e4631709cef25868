"""DequantizeLinear."""

from __future__ import annotations

import numpy as np
import onnx

from tf_qops import layers
from tf_qops.layers import narrow
from tf_qops.onnx.handlers._linear import build_linear
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("DequantizeLinear", "com.microsoft", layout="any")
@register_handler("DequantizeLinear", layout="any")
def dequantize_linear(call: NodeCall) -> Value:
    """Becomes a DequantizeLinear layer."""
    declared = call.attribute("output_dtype", 0)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(declared).name if declared else call.dtype(1)
    zero_point = None
    if call.is_constant(1) and narrow.carrier(call.dtype(0)) == "float32":
        # Only a zero point tells the layer which type the floats carry.
        zero_point = np.zeros(call.constant(1).shape, call.dtype(0))
    return build_linear(call, layers.DequantizeLinear, zero_point, dtype=dtype)
