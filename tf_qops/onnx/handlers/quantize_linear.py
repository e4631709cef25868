"""QuantizeLinear."""

from __future__ import annotations

import onnx

from tf_qops import layers
from tf_qops.onnx.handlers._linear import build_linear
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_PRECISIONS = {
    onnx.TensorProto.UNDEFINED: None,
    onnx.TensorProto.FLOAT: "float32",
    onnx.TensorProto.FLOAT16: "float16",
    onnx.TensorProto.BFLOAT16: "bfloat16",
}


def _check(node: Node) -> str | None:
    if node.attribute("precision", 0) not in _PRECISIONS:
        return "its quotient must be rounded to float32, float16 or bfloat16"
    return None


def _output_dtype(call: NodeCall) -> str:
    """Returns the zero point's dtype, the attribute's, or uint8."""
    declared = call.attribute("output_dtype", 0)
    if declared:
        return onnx.helper.tensor_dtype_to_np_dtype(declared).name
    return call.dtype(2) if call.has_input(2) else "uint8"


@register_handler("QuantizeLinear", "com.microsoft", layout="any", check=_check)
@register_handler("QuantizeLinear", layout="any", check=_check)
def quantize_linear(call: NodeCall) -> Value:
    """Becomes a QuantizeLinear layer."""
    return build_linear(
        call,
        layers.QuantizeLinear,
        output_dtype=_output_dtype(call),
        saturate=bool(call.attribute("saturate", 1)),
        precision=_PRECISIONS[call.attribute("precision", 0)],
    )
