"""Models in whatever form, as functions of the inputs of an ONNX graph."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from tf_qops.onnx.importer import import_model
from tf_qops.onnx.names import legal
from tf_qops.onnx.reader import Graph

Runner = Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]


def callable_model(model: keras.Model | str | os.PathLike[str], graph: Graph) -> Runner:
    """Returns a function from the inputs of a graph by name to the outputs in order.

    Images whose channels the model has last are turned there and back.

    Args:
        model: a Keras model, a .keras file, a SavedModel, or an ONNX file.
        graph: whose inputs and outputs the model has.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a file of another kind.
    """
    if isinstance(model, keras.Model):
        return _keras(model, graph)
    path = pathlib.Path(model)
    if not path.exists():
        raise FileNotFoundError(f"There is no such model. Received: {str(path)!r}")
    if path.is_dir():
        return _saved_model(path, graph)
    if path.suffix == ".keras":
        return _keras(keras.models.load_model(path), graph)
    if path.suffix == ".onnx":
        return _keras(import_model(path), graph)
    raise ValueError(
        f"A model must be a .keras or .onnx file, or a SavedModel. Received: {str(path)!r}"
    )


def _keras(model: keras.Model, graph: Graph) -> Runner:
    shapes = [tuple(tensor.shape) for tensor in model.inputs]
    if len(shapes) != len(graph.inputs):
        raise ValueError(
            f"The model must have the {len(graph.inputs)} inputs of the file. "
            f"Received: {len(shapes)}"
        )

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        arrays = [feeds[info.name] for info in graph.inputs]
        turned = [_last(array, shape) for array, shape in zip(arrays, shapes, strict=True)]
        result = model(turned[0] if len(turned) == 1 else turned)
        return _outputs(result, any(a is not b for a, b in zip(arrays, turned, strict=True)))

    return run


def _last(array: np.ndarray, shape: Sequence[int | None]) -> np.ndarray:
    """Returns an array as it is, or with its channels last where only so it fits a shape."""

    def fits(candidate: np.ndarray) -> bool:
        pairs = zip(candidate.shape, shape, strict=True)
        return candidate.ndim == len(shape) and all(b is None or a == b for a, b in pairs)

    if array.ndim != len(shape) or fits(array) or array.ndim < 3:
        return array
    turned = np.moveaxis(array, 1, -1)
    return turned if fits(turned) else array


def _outputs(result: object, channels_last: bool) -> list[np.ndarray]:
    arrays = [np.asarray(tensor) for tensor in tf.nest.flatten(result)]
    if channels_last:
        arrays = [np.moveaxis(a, -1, 1) if a.ndim > 2 else a for a in arrays]
    return arrays


def _saved_model(path: pathlib.Path, graph: Graph) -> Runner:
    """Loads a SavedModel: the endpoint that Keras exports, or the default signature."""
    loaded = tf.saved_model.load(str(path))
    if hasattr(loaded, "serve"):
        specs = loaded.serve.concrete_functions[0].structured_input_signature[0]
        shapes = [tuple(spec.shape) for spec in tf.nest.flatten(specs)]
        one = len(graph.inputs) == 1

        def serve(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
            arrays = [feeds[info.name] for info in graph.inputs]
            turned = [_last(array, shape) for array, shape in zip(arrays, shapes, strict=True)]
            tensors = [tf.convert_to_tensor(array) for array in turned]
            result = loaded.serve(tensors[0] if one else tensors)
            return _outputs(result, any(a is not b for a, b in zip(arrays, turned, strict=True)))

        return serve
    if "serving_default" not in loaded.signatures:
        raise ValueError(
            "A SavedModel must have the endpoint 'serve' or the signature 'serving_default'. "
            f"Received: {list(loaded.signatures)}"
        )
    signature = loaded.signatures["serving_default"]

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        tensors = {legal(name): tf.convert_to_tensor(array) for name, array in feeds.items()}
        return _outputs(list(signature(**tensors).values()), False)

    return run
