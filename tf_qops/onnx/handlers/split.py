"""Split: lengths are an attribute before version 13, an input since."""

from __future__ import annotations

import itertools

import keras

from tf_qops.onnx.handlers._axes import constants, normalized
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _lengths(call: NodeCall, total: int | None) -> list[int]:
    """Returns the lengths of the parts."""
    given = call.constant(1) if call.has_input(1) else call.attribute("split")
    if given is not None:
        return [int(n) for n in given]
    if total is None:
        raise ValueError("parts of an axis whose length varies must have their lengths given.")
    count = call.attribute("num_outputs") or len(call.node.outputs)
    part = -(-total // count)
    return [max(min(part, total - i * part), 0) for i in range(count)]


@register_handler("Split", check=constants(1, what="lengths"), shapes=(0,))
def split(call: NodeCall) -> list[Tensor]:
    """Becomes keras.ops.split."""
    axis = call.attribute("axis", 0)
    normalized((axis,), len(call.shape(0)))
    lengths = _lengths(call, call.shape(0)[axis])
    if len(lengths) != len(call.node.outputs) or call.shape(0)[axis] not in (None, sum(lengths)):
        raise ValueError(f"parts must fill the axis. Received: {lengths} of {call.shape(0)}.")
    ends = list(itertools.accumulate(lengths))[:-1]
    return list(keras.ops.split(call.tensor(0), ends, axis)) if ends else [call.tensor(0)]
