"""Tile."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Tile", since_version=6)
def tile(call: NodeCall) -> Tensor:
    """Becomes a Tile layer."""
    repeats, shape = call.known(1), call.shape(0)
    static = [
        None if n is None or d is None else n * d
        for d, n in zip(shape, repeats or [None] * len(shape), strict=True)
    ]
    layer = layers.Tile(call.bounded(static), **call.options())
    return layer(call.tensor(0), call.tensor(1))
