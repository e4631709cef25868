"""Pad: attributes before version 11, inputs since."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.layers import narrow
from tf_qops.onnx.handlers._axes import constants
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Pad", since_version=11, check=constants(3, what="axes"))
def pad(call: NodeCall) -> Tensor:
    """Becomes a Pad layer."""
    fixed = call.is_constant(1)
    pads = [int(n) for n in call.constant(1).reshape(-1)] if fixed else None
    axes = [int(a) for a in call.constant(3)] if call.has_input(3) else None
    value = call.tensor(2) if call.has_input(2) else _zero(call)
    return _pad(call, pads, axes, value, [] if fixed else [call.tensor(1)])


@register_handler("Pad")
def pad_by_attributes(call: NodeCall) -> Tensor:
    """Becomes a Pad layer."""
    pads = call.attribute("pads") or call.attribute("paddings")
    value = call.placed("value", np.array(call.attribute("value", 0.0), _dtype(call)))
    return _pad(call, pads, None, value, [])


def _dtype(call: NodeCall) -> str:
    return narrow.carrier(call.dtype(0))


def _zero(call: NodeCall) -> Tensor:
    return call.placed("value", np.zeros((), _dtype(call)))


def _pad(
    call: NodeCall,
    pads: list[int] | None,
    axes: list[int] | None,
    value: Tensor,
    inputs: list[Tensor],
) -> Tensor:
    shape = list(call.shape(0))
    if pads is not None:
        where = range(len(shape)) if axes is None else [a % len(shape) for a in axes]
        for i, axis in enumerate(where):
            if shape[axis] is not None:
                shape[axis] += pads[i] + pads[i + len(where)]
        if any(d is not None and d < 0 for d in shape):
            raise ValueError(f"pads must leave something. Received: {pads} for {call.shape(0)}.")
        call.bounded(shape)
    layer = layers.Pad(pads, call.attribute("mode"), axes, **call.options())
    return layer(call.tensor(0), value, *inputs)
