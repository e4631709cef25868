"""Reads an ONNX file into a checked graph whose constants are resolved."""

from __future__ import annotations

import collections
import dataclasses
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx

from tf_qops.onnx.errors import OnnxFileError
from tf_qops.onnx.functions import inlined
from tf_qops.onnx.tensors import attribute_value, to_array

_REQUIRED = object()


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """A graph input: its name, numpy dtype name and shape (None where it may vary).

    Graphs inside nodes need not say more than the name: dtype "" and shape None.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A node as the file has it, with what is known before anything runs.

    Attributes:
        name: the node's name, its first output's where it has none.
        op_type, domain: the operator; domain "" is ONNX's own.
        opset: the version of the domain that the file uses.
        since_version: the operator's version in that opset; 0 if ONNX does not know it.
        inputs, outputs: tensor names; "" for one left out.
        attributes: those in the file; a graph inside the node is a `Graph`.
        constants: the graph's constants by tensor name, with those of the graphs around it.
    """

    name: str
    op_type: str
    domain: str
    opset: int
    since_version: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    constants: Mapping[str, np.ndarray] = dataclasses.field(repr=False)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Returns an attribute: the file's, else the operator version's default, else `default`."""
        if name in self.attributes:
            return self.attributes[name]
        if not self.since_version:
            return default
        schema = onnx.defs.get_schema(self.op_type, self.opset, self.domain)
        declared = schema.attributes.get(name)
        if declared is None or not declared.default_value.name:
            return default
        return attribute_value(declared.default_value, None)

    def graphs(self) -> list[Graph]:
        """Returns the graphs inside the node: bodies of loops, branches."""
        return [value for value in self.attributes.values() if isinstance(value, Graph)]

    def has_input(self, index: int) -> bool:
        """Returns whether an input is given."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def is_constant(self, index: int) -> bool:
        """Returns whether an input is given and known before anything runs."""
        return self.has_input(index) and self.inputs[index] in self.constants

    def constant(self, index: int, default: Any = _REQUIRED) -> Any:
        """Returns a constant input, or `default` if it is left out."""
        if default is not _REQUIRED and not self.has_input(index):
            return default
        return self.constants[self.inputs[index]]


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """A checked graph.

    Attributes:
        name: the graph's name.
        inputs: without those that are initializers.
        outputs: tensor names.
        nodes: in order, without Constant nodes and Identity nodes of constants.
        constants: initializers, Constant nodes and their Identity aliases, by tensor name; in a
            graph inside a node also those of the graphs around it.
        aliases: tensor name of such an Identity -> name of the constant it stands for.
        operators: (domain, operator) -> number of nodes, with those inside of nodes.
    """

    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    constants: Mapping[str, np.ndarray]
    aliases: Mapping[str, str]
    operators: Mapping[tuple[str, str], int]


def all_nodes(graph: Graph) -> Iterator[Node]:
    """Yields the nodes of a graph and of those inside them."""
    for node in graph.nodes:
        yield node
        for inner in node.graphs():
            yield from all_nodes(inner)


def free_names(graph: Graph) -> list[str]:
    """Returns the names that a graph inside a node uses and does not make, in order."""
    made = {"", *(i.name for i in graph.inputs)}
    free: dict[str, None] = {}
    for node in graph.nodes:
        used = [*node.inputs, *(name for inner in node.graphs() for name in free_names(inner))]
        free.update(dict.fromkeys(name for name in used if name not in made))
        made.update(node.outputs)
    free.update(dict.fromkeys(name for name in graph.outputs if name not in made))
    return list(free)


def read(source: str | os.PathLike[str] | onnx.ModelProto) -> Graph:
    """Reads and checks a model.

    Args:
        source: a path, or a loaded model (which cannot have external data).

    Returns:
        Its graph.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
    """
    if isinstance(source, onnx.ModelProto):
        return _model(source, None)
    path = pathlib.Path(source)
    if not path.is_file():
        raise FileNotFoundError(f"There is no such ONNX file. Received: {str(path)!r}")
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf has several, private ones among them
        raise OnnxFileError(f"Not an ONNX model: {error}. Received: {str(path)!r}") from error
    return _model(model, path.parent)


def _model(model: onnx.ModelProto, folder: pathlib.Path | None) -> Graph:
    """Checks the parts of a model and puts them together."""
    if not model.graph.node and not model.graph.output:
        raise OnnxFileError(f"The model has no graph. Received: {model.ByteSize()} bytes")
    model = inlined(model)
    opsets = {_domain(entry.domain): entry.version for entry in model.opset_import}
    graph = _Reader(opsets, folder).graph(model.graph, {}, set())
    names = {info.name for info in graph.inputs}
    inputs = tuple(_tensor_info(i) for i in model.graph.input if i.name in names)
    return dataclasses.replace(graph, inputs=inputs)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


class _Reader:
    """Reads a model's graph and the graphs inside its nodes.

    Args:
        opsets: domain -> version.
        folder: of the model, for external data.
    """

    def __init__(self, opsets: Mapping[str, int], folder: pathlib.Path | None):
        self._opsets = opsets
        self._folder = folder

    def graph(
        self, proto: onnx.GraphProto, outer: Mapping[str, np.ndarray], seen: set[str]
    ) -> Graph:
        """Returns a graph.

        Args:
            proto: the graph.
            outer: constants of the graph around it.
            seen: names of tensors of the graph around it.
        """
        if proto.sparse_initializer:
            names = [t.values.name for t in proto.sparse_initializer]
            raise OnnxFileError(f"Sparse initializers are not supported. Received: {names}")
        own = {tensor.name: to_array(tensor, self._folder) for tensor in proto.initializer}
        constants = collections.ChainMap(own, outer)
        inputs = tuple(TensorInfo(i.name, "", None) for i in proto.input if i.name not in own)
        known = {"", *seen, *own, *(i.name for i in inputs)}
        nodes: list[Node] = []
        operators: collections.Counter[tuple[str, str]] = collections.Counter()
        aliases: dict[str, str] = {}
        for node_proto in proto.node:
            node = self._node(node_proto, constants, known)
            _check_names(node, known)
            operators[node.domain, node.op_type] += 1
            for inner in node.graphs():
                operators.update(inner.operators)
            if node.op_type == "Constant" and not node.domain:
                constants[node.outputs[0]] = _constant(node)
            elif node.op_type == "Identity" and node.is_constant(0):
                constants[node.outputs[0]] = node.constant(0)
                aliases[node.outputs[0]] = aliases.get(node.inputs[0], node.inputs[0])
            else:
                nodes.append(node)
        outputs = tuple(output.name for output in proto.output)
        missing = [name for name in outputs if name not in known]
        if missing or not outputs:
            raise OnnxFileError(f"Every graph output must be made by a node. Received: {missing}")
        return Graph(proto.name, inputs, outputs, tuple(nodes), constants, aliases, operators)

    def _node(
        self, proto: onnx.NodeProto, constants: Mapping[str, np.ndarray], known: set[str]
    ) -> Node:
        """Returns a node with its operator's version."""
        domain = _domain(proto.domain)
        name = proto.name or next((o for o in proto.output if o), proto.op_type)
        if domain not in self._opsets:
            raise OnnxFileError(
                f"A node's domain must be among the model's opset imports, {sorted(self._opsets)}. "
                f"Received: node {name!r} of domain {domain!r}"
            )
        opset = self._opsets[domain]
        since = 0
        if onnx.defs.has(proto.op_type, opset, domain):
            since = onnx.defs.get_schema(proto.op_type, opset, domain).since_version
        attributes = {
            a.name: self.graph(a.g, constants, known)
            if a.type == onnx.AttributeProto.GRAPH
            else attribute_value(a, self._folder)
            for a in proto.attribute
        }
        inputs, outputs = tuple(proto.input), tuple(proto.output)
        if not any(outputs):
            raise OnnxFileError(f"A node must have an output. Received: node {name!r}")
        node = Node(
            name, proto.op_type, domain, opset, since, inputs, outputs, attributes, constants
        )
        _check_signature(node)
        return node


def _check_signature(node: Node) -> None:
    """Refuses a node without an input or attribute that its operator needs, or with too many."""
    if not node.since_version:
        return
    schema = onnx.defs.get_schema(node.op_type, node.opset, node.domain)
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    lacking = [
        schema.inputs[i].name
        for i in range(min(schema.min_input, len(schema.inputs)))
        if schema.inputs[i].option != optional and not node.has_input(i)
    ] + [a.name for a in schema.attributes.values() if a.required and a.name not in node.attributes]
    if lacking or len(node.inputs) > schema.max_input or len(node.outputs) > schema.max_output:
        raise OnnxFileError(
            f"A node must have the inputs, outputs and attributes of its operator. "
            f"Received: node {node.name!r} ({node.op_type}) of {len(node.inputs)} inputs and "
            f"{len(node.outputs)} outputs, without {lacking}"
        )


def _check_names(node: Node, known: set[str]) -> None:
    """Adds the node's outputs to the names known so far, of which its inputs must be."""
    for name in node.inputs:
        if name not in known:
            raise OnnxFileError(
                "A node's inputs must be initializers, graph inputs or made by a node before it. "
                f"Received: input {name!r} of node {node.name!r}"
            )
    for name in filter(None, node.outputs):
        if name in known:
            raise OnnxFileError(
                f"A tensor must be made once. Received: output {name!r} of node {node.name!r}"
            )
        known.add(name)


def _constant(node: Node) -> np.ndarray:
    """Returns the value of a Constant node."""
    dtypes = {
        "value": None,
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
        "value_string": object,
        "value_strings": object,
    }
    (name, value), *rest = node.attributes.items() or [("", None)]
    if rest or name not in dtypes:
        raise OnnxFileError(
            f"A Constant must have one attribute of {list(dtypes)}. "
            f"Received: {list(node.attributes)} in node {node.name!r}"
        )
    return np.asarray(value, dtypes[name])


def _tensor_info(proto: onnx.ValueInfoProto) -> TensorInfo:
    """Returns a graph input's dtype and shape."""
    tensor = proto.type.tensor_type
    if not proto.type.HasField("tensor_type") or not tensor.HasField("shape"):
        raise OnnxFileError(
            f"A graph input must be a tensor of known rank. Received: input {proto.name!r}"
        )
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    except KeyError as error:
        raise OnnxFileError(
            f"Unknown element type. Received: {tensor.elem_type} of input {proto.name!r}"
        ) from error
    if dtype == "object" or dtype.startswith("complex"):
        kind = "text" if dtype == "object" else dtype
        raise OnnxFileError(
            f"A graph input must be of real numbers. Received: {kind} for input {proto.name!r}"
        )
    shape = tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None
        for d in tensor.shape.dim
    )
    return TensorInfo(proto.name, dtype, shape)
