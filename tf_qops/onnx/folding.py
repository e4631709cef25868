"""Computes nodes of constants while a graph is imported."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import find_handler
from tf_qops.onnx.values import NodeCall, NotFoldedError, Value

# Constants are folded while the result is no larger than its inputs, or than this.
SMALL_BYTES = 256
_FREELY_COMPUTED = 2**20


def fold(node: Node, values: list[np.ndarray | None]) -> dict[str, np.ndarray] | None:
    """Computes a node of constants, unless that makes them larger."""
    given = sum(value.nbytes for value in values if value is not None)
    sizes = [value.size for value in values if value is not None and value.size > 1]
    largest = max(_FREELY_COMPUTED, *sizes, 0)
    if len(sizes) > 1 and math.prod(sizes) > largest:
        return None
    try:
        arrays = computed(node, values, largest)
    except NotFoldedError:
        return None
    made = sum(array.nbytes for array in arrays.values())
    return arrays if made <= max(given, SMALL_BYTES) else None


def computed(node: Node, values: list[np.ndarray | None], largest: int) -> dict[str, np.ndarray]:
    """Computes a node of arrays."""
    call = NodeCall(
        node, values, lambda name: None, lambda name, value: tf.constant(value), largest
    )
    outputs = outputs_of(node, find_handler(node).build(call), lambda name: None)
    return {
        name: value
        if isinstance(value, np.ndarray)
        else np.asarray(value.onnx().numpy()).astype(value.dtype)
        for name, value in outputs.items()
    }


def outputs_of(node: Node, result: Any, unique_name: Any) -> dict[str, Value | np.ndarray]:
    """Returns what a handler returned, by the names of the node's outputs."""
    results = result if isinstance(result, (list, tuple)) else [result]
    return {
        name: value
        if isinstance(value, (Value, np.ndarray))
        else Value(name, unique_name, onnx=value)
        for name, value in zip(node.outputs, results, strict=False)
        if name
    }
