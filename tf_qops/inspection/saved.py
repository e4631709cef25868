"""Looks at what Keras and TensorFlow saved."""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Iterator

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tf_qops import _library
from tf_qops.inspection.inspect import operator_counts, packed_bytes, type_text
from tf_qops.inspection.parameters import describe, weight
from tf_qops.inspection.report import InspectReport, Parameter
from tf_qops.onnx.weights import QuantizedTensor

_PREFIX = "TfQops>"
# Attributes of layers: scale, zero point, codes, role.
_ATTRIBUTES = (
    ("x_scale", "x_zero_point", None, "activation"),
    ("w_scale", "w_zero_point", "kernel", "weight"),
    ("y_scale", "y_zero_point", None, "activation"),
    ("scale", "zero_point", None, "activation"),
)


def load(path: pathlib.Path) -> keras.Model:
    """Returns the model of a .keras file.

    Raises:
        ValueError: it cannot be loaded.
    """
    _library.register()
    try:
        return keras.models.load_model(path, compile=False)
    except Exception as error:  # Keras raises what zipfile, json and h5py happen to raise.
        raise ValueError(f"Not a .keras file: {error}. Received: {str(path)!r}") from error


def keras_file(path: pathlib.Path) -> InspectReport:
    """Looks at a .keras file."""
    model = load(path)
    counts = collections.Counter(type(operation).__name__ for operation in operations(model))
    arrays = [variable.numpy() for variable in model.variables]
    weights = sum(map(packed_bytes, arrays))
    dtypes: collections.Counter[str] = collections.Counter()
    for array in arrays:
        dtypes[array.dtype.name] += packed_bytes(array)
    return InspectReport(
        path=str(path),
        kind="Keras",
        facts={"Keras": keras.__version__, "Layers": str(len(model.layers))},
        quantization=(),
        inputs={t.name: type_text(t.dtype, tuple(t.shape)) for t in model.inputs or ()},
        outputs={name: type_text(t.dtype, tuple(t.shape)) for name, t in _named_outputs(model)},
        operators=operator_counts(counts),
        dtypes=dict(dtypes.most_common()),
        parts={"weights": weights, "the rest": max(path.stat().st_size - weights, 0)},
        parameters=tuple(p for layer in model.layers for p in _parameters(layer)),
    )


def _named_outputs(model: keras.Model) -> Iterator[tuple[str, keras.KerasTensor]]:
    """Yields the outputs of a model with their names, where it has any before it is called."""
    outputs = model.outputs or ()
    yield from zip(getattr(model, "output_names", [t.name for t in outputs]), outputs, strict=True)


def operations(model: keras.Model) -> list[keras.Operation]:
    """Returns the operations of a model, or its layers where it is not functional."""
    return list(getattr(model, "operations", model.layers))


def _parameters(layer: keras.layers.Layer) -> Iterator[Parameter]:
    """Yields the scales and zero points that a layer holds."""
    for scale_name, zero_name, codes_name, role in _ATTRIBUTES:
        scale = _array(layer, scale_name)
        if scale is None or scale.ndim > 2:
            continue
        zero = _array(layer, zero_name)
        codes = _array(layer, codes_name) if codes_name else None
        name = f"{layer.name}/{codes_name or scale_name.removesuffix('scale').rstrip('_') or ''}"
        name = name.rstrip("/")
        if zero is None:
            zero = np.zeros((), np.int8 if codes is None else codes.dtype)
        axes = [] if codes is None else [i for i, d in enumerate(codes.shape) if d == scale.size]
        if codes is not None and (scale.size == 1 or axes):
            axis = None if scale.size == 1 else axes[-1]
            size = () if axis is None else (scale.size,)
            tensor = QuantizedTensor(
                codes, scale.reshape(size), np.broadcast_to(zero.reshape(-1), size or (1,)), axis
            )
            yield weight(name, tensor)
        else:
            granularity = "per tensor" if scale.size == 1 else f"{scale.size} scales"
            yield describe(name, role, scale, zero, granularity)


def _array(layer: keras.layers.Layer, name: str) -> np.ndarray | None:
    value = getattr(layer, name, None)
    if isinstance(value, (keras.Variable, tf.Variable)):
        return np.asarray(value)
    return None


def saved_model(path: pathlib.Path) -> InspectReport:
    """Looks at a SavedModel without loading it.

    Raises:
        ValueError: it is none.
    """
    file = path / "saved_model.pb"
    if not file.is_file():
        raise ValueError(f"A folder must be a SavedModel. Received: {str(path)!r}")
    content = saved_model_pb2.SavedModel()
    try:
        content.ParseFromString(file.read_bytes())
    except Exception as error:  # protobuf has several kinds.
        raise ValueError(f"Not a SavedModel: {error}. Received: {str(path)!r}") from error
    if not content.meta_graphs:
        raise ValueError(f"The SavedModel must have a graph. Received: {str(path)!r}")
    graph = content.meta_graphs[0]
    nodes = [*graph.graph_def.node, *(n for f in graph.graph_def.library.function
                                      for n in f.node_def)]  # fmt: skip
    counts = collections.Counter(
        node.op for node in nodes if node.op.startswith(_PREFIX) or node.op not in _PLUMBING
    )
    names = [name for name in graph.signature_def if name != "__saved_model_init_op"]
    chosen = next((n for n in ("serving_default", "serve", *names) if n in names), None)
    signature = graph.signature_def[chosen] if chosen else None
    dtypes, weights = _variables(path)
    size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    own = sorted({node.op for node in nodes if node.op.startswith(_PREFIX)})
    facts = {
        "TensorFlow": graph.meta_info_def.tensorflow_version,
        "Signatures": ", ".join(names) or "none",
        "Needs": "tf_qops.register() before it is loaded" if own else "no operator of tf_qops",
    }
    return InspectReport(
        path=str(path),
        kind="SavedModel",
        facts=facts,
        quantization=(),
        inputs=_tensors(signature.inputs) if signature else {},
        outputs=_tensors(signature.outputs) if signature else {},
        operators=operator_counts(counts),
        dtypes=dtypes,
        parts={"variables": weights, "graph and constants": max(size - weights, 0)},
        parameters=(),
    )


# Operators that any SavedModel has.
_PLUMBING = {
    *("Const", "Identity", "IdentityN", "MergeV2Checkpoints", "NoOp", "Pack", "PartitionedCall"),
    *("Placeholder", "ReadVariableOp", "RestoreV2", "SaveV2", "Select", "ShardedFilename"),
    *("StatefulPartitionedCall", "StaticRegexFullMatch", "StringJoin", "VarHandleOp"),
    *("AssignVariableOp", "DisableCopyOnRead", "VarIsInitializedOp"),
}


def _tensors(entries) -> dict[str, str]:
    found = {}
    for name, info in sorted(entries.items()):
        shape = None
        if not info.tensor_shape.unknown_rank:
            shape = tuple(d.size if d.size >= 0 else None for d in info.tensor_shape.dim)
        found[name] = type_text(tf.as_dtype(info.dtype).name, shape)
    return found


def _variables(path: pathlib.Path) -> tuple[dict[str, int], int]:
    """Returns the bytes of the variables, by type and in all."""
    prefix = path / "variables" / "variables"
    if not prefix.with_suffix(".index").is_file():
        return {}, 0
    reader = tf.train.load_checkpoint(str(prefix))
    sizes: collections.Counter[str] = collections.Counter()
    types = reader.get_variable_to_dtype_map()
    for name, shape in reader.get_variable_to_shape_map().items():
        if types[name] != tf.string:
            sizes[types[name].name] += int(np.prod(shape)) * types[name].size
    return dict(sizes.most_common()), sum(sizes.values())
