"""Identity, of a tensor that is no constant (the reader resolves the others)."""

from __future__ import annotations

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("Identity", layout="any")
def identity(call: NodeCall) -> Value:
    """Passes the value on; no layer."""
    return call.value(0)
