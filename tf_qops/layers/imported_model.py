"""The model that an importer makes: one that Keras loads again however deep it is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf


@contextlib.contextmanager
def deep_recursion(depth: int) -> Iterator[None]:
    """Lets Keras, which calls itself for each operation of a chain, go deep enough."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 2 * depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _Hidden:
    """Holds a function, so that an export of its owner does not find it."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function


@keras.saving.register_keras_serializable(package="tf_qops")
class ImportedModel(keras.Model):
    """A functional `keras.Model`, made and loaded with as much recursion as its graph needs.

    An eager call runs as one graph. It gives the bits that a tf.function or a SavedModel of the
    model gives, where TensorFlow changes the order of float operations, and is fast.

    Args:
        *args: those of `keras.Model`.
        **kwargs: those of `keras.Model`.
    """

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> ImportedModel:
        """Returns the model of a configuration."""
        with deep_recursion(len(config["layers"])):
            return super().from_config(config, custom_objects)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        """Returns the outputs."""
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in self.inputs]
        tensors = [
            tf.convert_to_tensor(x) if isinstance(x, np.ndarray) else x
            for x in tf.nest.flatten(inputs)
        ]
        graph_takes_them = len(tensors) == len(specs) and all(
            isinstance(tensor, tf.Tensor) and spec.is_compatible_with(tensor)
            for spec, tensor in zip(specs, tensors, strict=True)
        )
        if not (tf.executing_eagerly() and mask is None and graph_takes_them):
            return super().call(inputs, training, mask)
        graphs = self.__dict__.setdefault("_graphs", {})
        if training not in graphs:
            compute = super().call

            @tf.function(input_signature=[specs])
            def run(flat: list[tf.Tensor]) -> Any:
                return compute(flat if len(flat) > 1 else flat[0], training)

            graphs[training] = _Hidden(run)
        return graphs[training].function(tensors)
