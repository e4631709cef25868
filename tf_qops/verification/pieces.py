"""Cuts a graph into pieces between the tensors that every runtime has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper

from tf_qops.onnx.folding import fold
from tf_qops.onnx.fusion import fuse
from tf_qops.onnx.reader import Graph

_NEWEST_IR = 10  # ONNX Runtime refuses what is newer than itself.


def compared_tensors(graph: Graph, qdq: str = "fuse") -> list[str]:
    """Returns the tensors that are worth comparing, in order.

    Those are the results of the nodes once operators between Q/DQ pairs are fused, so that
    recording them keeps no runtime from fusing; the graph's outputs are among them.
    """
    fused = fuse(graph, fold).graph if qdq == "fuse" else graph
    originals = {name for node in graph.nodes for name in node.outputs if name}
    found = dict.fromkeys(
        name
        for node in fused.nodes
        if node.op_type != "DequantizeLinear" or set(node.outputs) & set(graph.outputs)
        for name in node.outputs
        if name in originals
    )
    wanted = {name for name in graph.outputs if name in originals}
    return [name for node in graph.nodes for name in node.outputs if name in {*found, *wanted}]


def opened(model: onnx.ModelProto, tensors: Sequence[str]) -> onnx.ModelProto:
    """Returns a model that has the tensors as outputs behind its own."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    have = {output.name for output in model.graph.output}
    result.graph.output.extend(
        helper.make_empty_tensor_value_info(name) for name in tensors if name not in have
    )
    return result


@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """Nodes between recorded tensors.

    Attributes:
        nodes: in order; the one that makes the outputs last.
        inputs: recorded tensors or inputs of the graph.
        outputs: recorded tensors.
        constants: initializers by name.
        opsets: of the model.
        operator: the node that computes, without its DequantizeLinear and QuantizeLinear.
    """

    nodes: tuple[onnx.NodeProto, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, onnx.TensorProto]
    opsets: tuple[onnx.OperatorSetIdProto, ...]

    @property
    def operator(self) -> onnx.NodeProto:
        """The node that computes: neither DequantizeLinear nor QuantizeLinear, if there is one."""
        plain = ("Clip", "Constant", "DequantizeLinear", "Identity", "QuantizeLinear", "Relu")
        computing = [node for node in self.nodes if node.op_type not in plain]
        return computing[-1] if computing else self.nodes[-1]

    @property
    def kind(self) -> str:
        """The operator's name; "Conv between Q/DQ" for one among float nodes."""
        name = self.operator.op_type
        quantized = name != "QuantizeLinear" and self.nodes[-1].op_type == "QuantizeLinear"
        return f"{name} between Q/DQ" if quantized else name

    def model(self, values: Mapping[str, np.ndarray]) -> onnx.ModelProto:
        """Returns the piece as a model of its own, for inputs like these values."""
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(values[name].dtype), values[name].shape
            )
            for name in self.inputs
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(
            self.nodes, "piece", inputs, outputs, list(self.constants.values())
        )
        return helper.make_model(graph, opset_imports=self.opsets, ir_version=_NEWEST_IR)


def cut(model: onnx.ModelProto, graph: Graph, tensors: Iterable[str]) -> list[Piece]:
    """Returns the pieces that make the tensors, each from tensors before it."""
    made_by = {name: node for node in model.graph.node for name in node.output if name}
    order = {id(node): i for i, node in enumerate(model.graph.node)}
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    recorded = {*tensors, *(info.name for info in graph.inputs)}
    wanted: dict[int, list[str]] = {}
    for name in tensors:
        wanted.setdefault(order[id(made_by[name])], []).append(name)
    pieces = []
    for position, outputs in sorted(wanted.items()):
        nodes: dict[int, onnx.NodeProto] = {}
        inputs: dict[str, None] = {}
        constants: dict[str, onnx.TensorProto] = {}
        pending = [model.graph.node[position]]
        while pending:
            node = pending.pop()
            if order[id(node)] in nodes:
                continue
            nodes[order[id(node)]] = node
            for name in _needs(node):
                if name in recorded:
                    inputs[name] = None
                elif name in initializers:
                    constants[name] = initializers[name]
                elif name in made_by:
                    pending.append(made_by[name])
        chain = tuple(node for _, node in sorted(nodes.items()))
        if inputs:
            pieces.append(
                Piece(chain, tuple(inputs), tuple(outputs), constants, tuple(model.opset_import))
            )
    return pieces


def _needs(node: onnx.NodeProto) -> Iterator[str]:
    """Yields what a node reads, the graphs inside it included."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            made = {t.name for t in (*attribute.g.input, *attribute.g.initializer)}
            made.update(name for inner in attribute.g.node for name in inner.output)
            for inner in attribute.g.node:
                yield from (name for name in _needs(inner) if name not in made)
            yield from (o.name for o in attribute.g.output if o.name not in made)
