"""Shape and Size."""

from __future__ import annotations

import zlib

import keras
import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_PROBES = (1_000_003, 3_000_017)


def _dimension(tensor: str, axis: int, length: int | None, probe: int) -> int:
    """Returns a length, or one that is chosen for an unknown one."""
    if length is not None:
        return length
    return probe + zlib.crc32(f"{probe} {tensor} {axis}".encode()) % 1_000_000


@register_handler("Shape")
def shape(call: NodeCall) -> Value | np.ndarray:
    """Becomes a constant where all lengths are known, else a Shape layer."""
    lengths, name = call.shape(0), call.node.inputs[0]
    part = slice(call.attribute("start"), call.attribute("end"))
    first, second = (
        np.array([_dimension(name, a, d, p) for a, d in enumerate(lengths)], np.int64)[part]
        for p in _PROBES
    )
    if None not in lengths[part]:
        return first
    layer = layers.Shape(part.start, part.stop, **call.options())
    return call.output(layer(call.tensor(0)), probes=(first, second))


@register_handler("Size")
def size(call: NodeCall) -> Value | np.ndarray:
    """Becomes a constant where all lengths are known, else a product."""
    lengths = call.shape(0)
    if None not in lengths:
        return np.array(np.prod(lengths, dtype=np.int64))
    return call.output(keras.ops.prod(layers.Shape(**call.options())(call.tensor(0))))
