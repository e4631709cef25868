"""Inputs for a graph: given ones checked, others made up."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
import onnx

from tf_qops.onnx.reader import Graph, Node

SEED = 0
_BATCH, _OTHER = 2, 8  # Sizes of symbolic dimensions.
_MANY_IDS = 100


def feeds_for(
    model: onnx.ModelProto,
    graph: Graph,
    inputs: Mapping[str, np.ndarray] | str | os.PathLike[str] | None,
) -> dict[str, np.ndarray]:
    """Returns an array for each input of a graph.

    Args:
        model: the file.
        graph: the same, read.
        inputs: arrays by name, or an .npz file of them; None makes them up with a fixed seed.

    Raises:
        FileNotFoundError: no such file.
        ValueError: names, types or shapes that do not fit the graph.
    """
    if inputs is None:
        return _made_up(model, graph)
    if isinstance(inputs, (str, os.PathLike)):
        if not os.path.isfile(inputs):
            raise FileNotFoundError(
                f"inputs must be a .npz file that exists. Received: {str(inputs)!r}"
            )
        try:
            with np.load(inputs, allow_pickle=False) as file:
                inputs = dict(file)
        except (ValueError, OSError, TypeError) as error:
            raise ValueError(
                f"inputs must be an .npz file of arrays ({error}). Received: {str(inputs)!r}"
            ) from error
    names = [info.name for info in graph.inputs]
    if set(inputs) != set(names):
        raise ValueError(
            f"inputs must have the names of the graph, {names}. Received: {list(inputs)}"
        )
    feeds = {}
    for info in graph.inputs:
        array = np.asarray(inputs[info.name])
        fits = array.ndim == len(info.shape) and all(
            d in (None, n) for d, n in zip(info.shape, array.shape, strict=True)
        )
        if array.dtype.name != info.dtype or not fits:
            raise ValueError(
                f"inputs[{info.name!r}] must be {info.dtype} of shape {list(info.shape)}. "
                f"Received: {array.dtype} of shape {list(array.shape)}"
            )
        feeds[info.name] = array
    return feeds


def _made_up(model: onnx.ModelProto, graph: Graph) -> dict[str, np.ndarray]:
    """Returns random inputs, which use the whole range of a quantized graph."""
    rng = np.random.default_rng(SEED)
    protos = {info.name: info for info in model.graph.input}
    sizes: dict[str, int] = {}
    feeds = {}
    for info in graph.inputs:
        dims = protos[info.name].type.tensor_type.shape.dim
        shape = [
            sizes.setdefault(dim.dim_param or f"{info.name} {i}", _BATCH if i == 0 else _OTHER)
            if size is None
            else size
            for i, (dim, size) in enumerate(zip(dims, info.shape, strict=True))
        ]
        consumers = [node for node in graph.nodes if info.name in node.inputs]
        feeds[info.name] = _random(rng, info.name, np.dtype(info.dtype), shape, consumers)
    return feeds


def _random(
    rng: np.random.Generator, name: str, dtype: np.dtype, shape: list[int], consumers: list[Node]
) -> np.ndarray:
    """Returns random numbers that the consumers of an input make sense of."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu" and dtype.itemsize == 1:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
    if dtype.kind in "iu":
        rows = [
            node.constant(0).shape[node.attribute("axis", 0)]
            for node in consumers
            if node.op_type == "Gather" and node.is_constant(0) and node.inputs[1] == name
        ]
        if "mask" in name:
            return np.ones(shape, dtype)
        return rng.integers(0, min([_MANY_IDS, *rows]), shape).astype(dtype)
    for node in consumers:
        if node.op_type == "QuantizeLinear" and node.is_constant(1) and node.has_input(2):
            scale, zero = node.constant(1), node.constant(2)
            if scale.size == 1 and zero.dtype.kind in "iu":
                limits = np.iinfo(zero.dtype)
                low, high = (
                    (v - int(zero.item())) * float(scale.item()) for v in (limits.min, limits.max)
                )
                return rng.uniform(low, high, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)
