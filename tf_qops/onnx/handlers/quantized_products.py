"""Products of matrices of codes: QLinearMatMul, QGemm, MatMulInteger and their kin."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.handlers._operator import build_operator
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("QLinearMatMul")
def qlinear_matmul(call: NodeCall) -> Tensor:
    """Becomes a QLinearMatMul layer."""
    return build_operator(call, layers.QLinearMatMul)


@register_handler("QGemm", "com.microsoft")
def qgemm(call: NodeCall) -> Tensor:
    """Becomes a QGemm layer."""
    return build_operator(
        call,
        layers.QGemm,
        trans_a=bool(call.attribute("transA", 0)),
        trans_b=bool(call.attribute("transB", 0)),
        alpha=call.attribute("alpha", 1.0),
    )


@register_handler("MatMulInteger")
def matmul_integer(call: NodeCall) -> Tensor:
    """Becomes a MatMulInteger layer."""
    return build_operator(call, layers.MatMulInteger)


@register_handler("MatMulIntegerToFloat", "com.microsoft")
def matmul_integer_to_float(call: NodeCall) -> Tensor:
    """Becomes a MatMulIntegerToFloat layer."""
    return build_operator(call, layers.MatMulIntegerToFloat)


@register_handler("DynamicQuantizeMatMul", "com.microsoft")
def dynamic_quantize_matmul(call: NodeCall) -> Tensor:
    """Becomes a DynamicQuantizeMatMul layer."""
    return build_operator(call, layers.DynamicQuantizeMatMul)
