"""Dropout, which does nothing outside of training."""

from __future__ import annotations

from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


def _check(node: Node) -> str | None:
    if len(node.outputs) > 1 and node.outputs[1]:
        return "its output mask is not supported"
    if node.has_input(2) and not (node.is_constant(2) and not node.constant(2).any()):
        return "its training mode is not supported"
    return None


@register_handler("Dropout", layout="any", check=_check)
def dropout(call: NodeCall) -> Value:
    """Passes the value on; no layer."""
    return call.value(0)
