"""Exports a model without operators of tf_qops."""

from __future__ import annotations

import os
import types
from typing import Any

import keras
from tensorflow.core.protobuf import saved_model_pb2

from tf_qops import _library
from tf_qops.portable import elementwise, linear, products

_PREFIX = "tf_qops_"
_WRITTEN = {
    name: function
    for module in (elementwise, linear, products)
    for name, function in vars(module).items()
    if isinstance(function, types.FunctionType) and function.__module__ == module.__name__
}


class _Wrappers:
    """Has for each wrapper of an operator the function that is made of stock operators."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(_PREFIX):
            raise AttributeError(name)
        function = _WRITTEN.get(name.removeprefix(_PREFIX))
        if function is None:
            operator = name.removeprefix(_PREFIX).title().replace("_", "")
            raise ValueError(
                "A portable SavedModel must be of operators that stock TensorFlow operators can "
                f"compute to the same bits. Received: {operator}"
            )
        return function


def export_portable(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Writes a SavedModel of stock TensorFlow operators only, which gives the same bits.

    It loads where tf_qops is not installed, and is slower. Under XLA, bits may differ.

    Args:
        model: an imported model.
        path: the folder to write.

    Raises:
        ValueError: an operator that has no such form: QLinearAveragePool, QLinearSigmoid,
            QLinearSoftmax, MatMulNBits, GatherBlockQuantized, whatever quantizes dynamically
            (TensorFlow's own optimizer turns its division by 255 into a product), convolutions of
            three dimensions, products of vectors and float8 codes.
    """
    with _library.replaced(_Wrappers()):
        model.export(path, verbose=False)
    content = saved_model_pb2.SavedModel()
    with open(os.path.join(path, "saved_model.pb"), "rb") as file:
        content.ParseFromString(file.read())
    graph = content.meta_graphs[0].graph_def
    nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
    left = sorted({node.op for node in nodes if node.op.startswith("TfQops>")})
    if left:
        raise ValueError(f"The SavedModel must be of stock operators only. Received: {left}")
