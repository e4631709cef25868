"""Transpose."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value


@register_handler("Transpose", shapes=(0,))
def transpose(call: NodeCall) -> Tensor | Value:
    """Becomes keras.ops.transpose, or nothing where the layout at hand is the one asked for."""
    rank = len(call.shape(0))
    order = tuple(call.attribute("perm", range(rank)[::-1]))
    if order == tuple(range(rank)):
        return call.value(0)
    if rank > 2 and not call.is_constant(0):
        if order == (0, *range(2, rank), 1):
            return call.channels_last(0)
        if order == (0, rank - 1, *range(1, rank - 1)):
            return call.output(call.tensor(0), channels_last=True)
    return keras.ops.transpose(call.tensor(0), order)
