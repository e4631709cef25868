"""Checks that several handlers share."""

from __future__ import annotations

from tf_qops.onnx.reader import Node


def parameters_are_constant(node: Node) -> str | None:
    """Refuses QuantizeLinear and DequantizeLinear with a computed scale or zero point."""
    if not node.is_constant(1) or (node.has_input(2) and not node.is_constant(2)):
        return "its scale and zero point must be constants"
    return None
