"""Builds a Keras model from an ONNX graph."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Literal

import keras
import numpy as np
import onnx
import tensorflow as tf

from tf_qops import layers
from tf_qops._progress import steps
from tf_qops.layers import narrow
from tf_qops.layers.imported_model import ImportedModel, deep_recursion
from tf_qops.onnx.carried import carry_dtypes
from tf_qops.onnx.errors import OnnxFileError, UnsupportedOperatorsError
from tf_qops.onnx.folding import SMALL_BYTES, computed, fold, outputs_of
from tf_qops.onnx.fusion import Fusion, fuse
from tf_qops.onnx.layout import image_inputs
from tf_qops.onnx.names import NameMap, UniqueNames, legal
from tf_qops.onnx.reader import Graph, Node, TensorInfo, free_names, read
from tf_qops.onnx.registry import find_handler
from tf_qops.onnx.report import (
    FLOAT_IN_FILE,
    FusedNodes,
    ImportReport,
    StayedFloat,
    computes_in_floats,
    quantization_kinds,
    suspicious_scales,
)
from tf_qops.onnx.support import unsupported_in
from tf_qops.onnx.values import NodeCall, NotFoldedError, Probes, Tensor, Value
from tf_qops.onnx.work import Work

_TRANSPOSES = {"Permute", "Transpose"}  # Names of Keras's operations.


def import_model(
    path_or_proto: str | os.PathLike[str] | onnx.ModelProto,
    *,
    data_format: Literal["channels_first", "channels_last"] = "channels_first",
    qdq: Literal["fuse", "keep"] = "fuse",
    trainable: bool = False,
    name: str | None = None,
) -> keras.Model:
    """Makes a Keras model of an ONNX graph, with its integer arithmetic.

    Args:
        path_or_proto: an ONNX file, or a loaded model. External data is read from the file's
            own folder only.
        data_format: "channels_first" leaves inputs and outputs as the file has them;
            "channels_last" turns images to [n, h, w, c].
        qdq: "fuse" computes operators between DequantizeLinear and QuantizeLinear in integers
            where that is exact, "keep" as the file has them.
        trainable: must be False: the weights stay as the file has them.
        name: of the model; None takes the graph's.

    Returns:
        A model that takes a list of tensors in ONNX's order (one tensor if there is one input)
        and returns a list (one tensor if there is one output). Layers have the names of the
        nodes, dtypes are the file's (types that Keras lacks are carried by wider ones, as the
        QuantizeLinear layer says), symbolic dimensions are None. `model.import_report` is an
        `ImportReport`.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
        UnsupportedOperatorsError: lists every operator that cannot be imported.
        ValueError: an argument that is not as described.
    """
    for argument, value, known in (
        ("data_format", data_format, ("channels_first", "channels_last")),
        ("qdq", qdq, ("fuse", "keep")),
        ("trainable", trainable, (False,)),
    ):
        if value not in known:
            raise ValueError(f"{argument} must be one of {known}. Received: {argument}={value!r}")
    graph = read(path_or_proto)
    unsupported = unsupported_in(graph)
    if unsupported:
        raise UnsupportedOperatorsError(unsupported)
    fusion = fuse(graph, fold) if qdq == "fuse" else Fusion(graph, (), {})
    model = _Builder(fusion.graph, data_format == "channels_last", fusion.reasons).build(name)
    model.import_report = dataclasses.replace(
        model.import_report,
        kinds=quantization_kinds(graph),
        fused=tuple(
            FusedNodes(done.into, tuple(node.name for node in done.nodes)) for done in fusion.fused
        ),
    )
    return model


class _Builder:
    """Builds the layers of one graph.

    Args:
        graph: a graph whose operators all have handlers.
        channels_last: whether image inputs and outputs have their channels last.
        reasons: why nodes compute in floats, by their first output; else the file says so.
    """

    def __init__(self, graph: Graph, channels_last: bool, reasons: Mapping[str, str] | None = None):
        self._graph = graph
        self._reasons = reasons or {}
        self._channels_last = channels_last
        wanted = [i.name for i in graph.inputs] + [node.name for node in graph.nodes]
        self._unique_name = UniqueNames(wanted).take
        self._names = NameMap()
        self._values: dict[str, Value | np.ndarray | None] = {"": None, **graph.constants}
        self._placed: dict[str, Tensor] = {}
        self._known_operations: set[keras.Operation] = set()
        self._stayed_float: list[StayedFloat] = []
        self._work = Work()

    def build(self, name: str | None) -> keras.Model:
        """Returns the model."""
        inputs = self._add_inputs()
        if not inputs:
            raise OnnxFileError("A graph must have an input. Received: a graph of constants")
        self._anchor = inputs[0]
        for node in steps(self._graph.nodes, "Importing"):
            try:
                self._add_node(node)
            except Exception as error:
                raise OnnxFileError(
                    f"A node cannot be built: {_reason(error)} "
                    f"Received: node {node.name!r} ({node.op_type})"
                ) from error
        outputs = [self._output(output) for output in self._graph.outputs]
        with deep_recursion(len(self._known_operations)):
            model = ImportedModel(
                inputs if len(inputs) > 1 else inputs[0],
                outputs if len(outputs) > 1 else outputs[0],
                name=legal(name or self._graph.name),
            )
        self._names.outputs.update(zip(self._graph.outputs, model.output_names, strict=True))
        model.import_report = ImportReport(
            kinds=quantization_kinds(self._graph),
            operators={
                f"{domain}.{op_type}" if domain else op_type: count
                for (domain, op_type), count in self._graph.operators.items()
            },
            names=self._names,
            fused=(),
            stayed_float=tuple(self._stayed_float),
            integer_share=self._work.integer_share,
            transposes=sum(
                type(operation).__name__ in _TRANSPOSES for operation in model.operations
            ),
            warnings=suspicious_scales(self._graph),
        )
        return model

    def _add_inputs(self) -> list[Tensor]:
        """Makes the model's inputs."""
        images = image_inputs(self._graph) if self._channels_last else set()
        tensors = []
        for info in self._graph.inputs:
            shape, layout = info.shape, "onnx"
            if info.name in images:
                shape, layout = (shape[0], *shape[2:], shape[1]), "channels_last"
            name = self._unique_name(info.name)
            dtype = narrow.carrier(info.dtype)
            tensor = keras.Input(batch_shape=shape, dtype=dtype, name=name)
            self._names.inputs[info.name] = name
            self._values[info.name] = Value(
                info.name,
                self._unique_name,
                dtype=None if dtype == info.dtype else info.dtype,
                **{layout: tensor},
            )
            self._known_operations.add(tensor._keras_history.operation)
            tensors.append(tensor)
        return tensors

    def body(
        self, graph: Graph, inputs: Sequence[tuple[Sequence[int | None], str]]
    ) -> tuple[keras.Model, list[Tensor]]:
        """Returns a graph inside a node as a model, and what it takes from this one."""
        if len(inputs) != len(graph.inputs):
            raise ValueError(
                f"a body must have {len(inputs)} inputs. Received: {len(graph.inputs)}."
            )
        outer = {name: self._values[name] for name in free_names(graph) if name in self._values}
        taken = {name: v.onnx() for name, v in outer.items() if isinstance(v, Value)}
        given = {i.name: spec for i, spec in zip(graph.inputs, inputs, strict=True)}
        given |= {name: (tensor.shape, outer[name].dtype) for name, tensor in taken.items()}
        if not given:
            taken = {"": self._anchor}
            given = {"unused": (self._anchor.shape, self._anchor.dtype)}
        infos = [TensorInfo(name, dtype, tuple(shape)) for name, (shape, dtype) in given.items()]
        constants = {n: v for n, v in outer.items() if isinstance(v, np.ndarray)}
        inner = dataclasses.replace(
            graph, inputs=tuple(infos), constants={**graph.constants, **constants}
        )
        return _Builder(inner, False).build(None), list(taken.values())

    def inline(self, graph: Graph) -> list[Value | np.ndarray]:
        """Builds a graph inside a node, which has no inputs, as a part of this one."""
        before = dict(self._values)
        self._values.update(graph.constants)
        for node in graph.nodes:
            self._add_node(node)
        outputs = [self._values[name] for name in graph.outputs]
        self._values = before
        return outputs

    def _output(self, name: str) -> Tensor:
        """Returns a graph output as a tensor."""
        value = self._values[name]
        if isinstance(value, np.ndarray):
            return self._place_constant(name, value)
        return value.channels_last() if self._channels_last and value.is_image else value.onnx()

    def _add_node(self, node: Node) -> None:
        """Builds one node and takes its outputs."""
        values = [self._values[name] for name in node.inputs]
        if values and all(v is None or isinstance(v, np.ndarray) for v in values):
            folded = fold(node, values)
            if folded is not None:
                self._values.update(folded)
                return
        probes = self._probe(node, values)
        known = {n: a for n, (a, b) in probes.items() if np.array_equal(a, b)}
        if probes and len(known) == len(probes):
            self._values.update(known)
            return
        call = NodeCall(node, values, self._unique_name, self._place_constant, builder=self)
        outputs = outputs_of(node, find_handler(node).build(call), self._unique_name)
        for name, value in outputs.items():
            if isinstance(value, Value):
                call.bounded(value.either()[0].shape)
                value.probes = probes.get(name, value.probes)
        carry_dtypes(node, values, outputs)
        self._values.update(outputs)
        made = next(iter(outputs.values()))
        if isinstance(made, Value):
            self._work.add(call, made.either()[0].shape)
        self._note(node, outputs)

    def _probe(self, node: Node, values: list[Value | np.ndarray | None]) -> dict[str, Probes]:
        """Computes a node of a shape for two choices of its symbolic dimensions."""
        followed = find_handler(node).shapes
        if not followed:
            return {}
        pairs = []
        for i, value in enumerate(values):
            made = isinstance(value, Value)
            probes = value.probes if made else (value, value)
            if probes is None or (made and i not in followed):
                return {}
            if probes[0] is not None and probes[0].size > SMALL_BYTES:
                return {}
            pairs.append(probes)
        try:
            first, second = (
                computed(node, list(chosen), SMALL_BYTES) for chosen in zip(*pairs, strict=True)
            )
        except (NotFoldedError, ValueError, ArithmeticError, tf.errors.OpError):
            return {}
        if any(first[name].shape != second[name].shape for name in first):
            return {}
        return {name: (first[name], second[name]) for name in first}

    def _place_constant(self, name: str, value: np.ndarray) -> Tensor:
        """Returns a constant as the output of a layer that holds it as its weight."""
        if name not in self._placed:
            layer = layers.Constant(value.shape, value.dtype.name, name=self._unique_name(name))
            self._placed[name] = layer(self._anchor)
            layer.assign(value=value)
        return self._placed[name]

    def _note(self, node: Node, outputs: dict[str, Value | np.ndarray]) -> None:
        """Gives the node's name to what it made, and notes whether it computes in floats."""
        tensors = [v.either()[0] for v in outputs.values() if isinstance(v, Value)]
        pending = [tensor._keras_history.operation for tensor in tensors]
        made = [operation for operation in pending if operation not in self._known_operations]
        while pending:
            operation = pending.pop()
            if operation in self._known_operations:
                continue
            self._known_operations.add(operation)
            if not isinstance(operation, keras.layers.Layer):
                operation.name = self._unique_name(node.name)
            pending += [
                tensor._keras_history.operation
                for inbound in operation._inbound_nodes
                for tensor in inbound.input_tensors
            ]
        if not made:
            return
        self._names.nodes[node.name] = made[0].name
        if computes_in_floats(node) and all(keras.backend.is_float_dtype(t.dtype) for t in tensors):
            reason = self._reasons.get(node.outputs[0], FLOAT_IN_FILE)
            self._stayed_float.append(StayedFloat(node.name, node.op_type, reason))


def _reason(error: Exception) -> str:
    """Returns what an error says, or its kind where that says nothing by itself."""
    if isinstance(error, (IndexError, KeyError, RecursionError)):
        return f"{type(error).__name__} ({error})."
    return str(error)
