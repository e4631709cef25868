"""A graph while it is rewritten, node by node in order."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from tf_qops.onnx.fusion.codes import Codes, make_codes
from tf_qops.onnx.reader import Graph, Node, free_names
from tf_qops.ops import linear

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
_MICROSOFT_VERSION = 1
_LEAST_OPSET = 13  # New nodes are not older: Clip takes integers since 12.


class Editor:
    """What is known about the tensors of a graph, and the nodes of the new one.

    Args:
        graph: the graph as read.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        self._added: dict[str, np.ndarray] = {}
        self.constants: Mapping[str, np.ndarray] = collections.ChainMap(
            self._added, graph.constants
        )
        self._nodes: list[Node] = []
        self._aliases: dict[str, str] = {}
        self._dequantized: dict[str, Codes] = {}
        self._dtypes = {info.name: info.dtype for info in graph.inputs}
        self._opset = max((n.opset for n in graph.nodes if not n.domain), default=0)
        self._consumers: dict[str, list[Node]] = collections.defaultdict(list)
        for node in graph.nodes:
            inner = [name for body in node.graphs() for name in free_names(body)]
            for name in {*node.inputs, *inner}:
                self._consumers[name].append(node)
        self._taken = {"", *graph.constants, *(i.name for i in graph.inputs)}
        self._taken.update(name for node in graph.nodes for name in node.outputs)

    def renamed(self, node: Node) -> Node:
        """Returns a node that reads what its inputs were found to be the same as."""
        inputs = tuple(self._aliases.get(name, name) for name in node.inputs)
        return dataclasses.replace(node, inputs=inputs, constants=self.constants)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The graph's outputs."""
        return self._graph.outputs

    def only_consumer(self, name: str) -> Node | None:
        """Returns the node that reads a tensor, if it is the only one and the tensor no output."""
        consumers = self._consumers[name]
        return consumers[0] if len(consumers) == 1 and name not in self._graph.outputs else None

    def dequantized(self, name: str) -> Codes | None:
        """Returns the codes that a float tensor was made of."""
        return self._dequantized.get(name)

    def dtype(self, name: str) -> str | None:
        """Returns the type of a tensor, where it is a constant, an input or holds codes."""
        if name in self.constants:
            return self.constants[name].dtype.name
        return self._dtypes.get(name)

    def add_constant(self, hint: str, value: np.ndarray) -> str:
        """Returns the name of a new constant."""
        name = self.new_name(hint)
        self._added[name] = np.asarray(value)
        return name

    def set_constant(self, name: str, value: np.ndarray) -> None:
        """Makes a tensor of the file a constant."""
        self._added[name] = value

    def new_name(self, hint: str) -> str:
        """Returns a tensor name that is free."""
        name, count = hint, 1
        while name in self._taken:
            name, count = f"{hint}_{count}", count + 1
        self._taken.add(name)
        return name

    def emit(self, node: Node) -> None:
        """Adds a node that stays as it is."""
        self._nodes.append(node)

    def add(
        self,
        op_type: str,
        inputs: Sequence[str],
        output: str,
        attributes: Mapping[str, Any] | None = None,
        *,
        domain: str = "",
        name: str = "",
    ) -> str:
        """Adds a new node and returns the name of its output."""
        opset = _MICROSOFT_VERSION if domain else max(self._opset, _LEAST_OPSET)
        since = 0
        if onnx.defs.has(op_type, opset, domain):
            since = onnx.defs.get_schema(op_type, opset, domain).since_version
        self._nodes.append(
            Node(
                name or output, op_type, domain, opset, since, tuple(inputs), (output,),
                dict(attributes or {}), self.constants,
            )
        )  # fmt: skip
        return output

    def note_codes(self, name: str, dtype: str) -> None:
        """Notes that a tensor holds codes of a type."""
        self._dtypes[name] = dtype

    def alias(self, name: str, same: str) -> None:
        """Makes a tensor stand for another, which has its values."""
        if name in self._graph.outputs:
            self.add("Identity", [same], name)
        self._aliases[name] = same

    def dequantize(self, output: str, codes: Codes) -> None:
        """Makes a float tensor of codes of one scale."""
        constants = [
            self.add_constant(f"{output}_{part}", value)
            for part, value in (("scale", codes.scale), ("zero_point", codes.zero_point))
        ]
        self.add(DEQUANTIZE, [codes.name, *constants], output)
        self.note_codes(codes.name, codes.dtype)
        self._dequantized[output] = codes

    def note_dequantize(self, node: Node) -> None:
        """Notes what a DequantizeLinear node of the file says about its output."""
        name = node.inputs[0]
        codes = self._parameters(node, name, self.dtype(name))
        if codes is not None:
            self._dequantized[node.outputs[0]] = codes

    def output_codes(self, node: Node) -> Codes | None:
        """Returns what a QuantizeLinear node makes, or None where that is not known exactly."""
        declared = node.attribute("output_dtype", 0)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(declared).name if declared else "uint8"
        if node.attribute("precision", 0):
            return None
        return self._parameters(node, node.outputs[0], dtype)

    def fold_quantize(self, node: Node, codes: Codes) -> bool:
        """Computes a QuantizeLinear node of a constant; returns whether it is one."""
        if not node.is_constant(0):
            return False
        axis = 0 if codes.axis is None else codes.axis
        x = node.constant(0)
        if x.dtype != np.float32:
            return False
        y = linear.quantize_linear(x, codes.scale, codes.zero_point, axis).numpy()
        self._aliases[node.outputs[0]] = self.add_constant(node.outputs[0], y)
        return True

    def _parameters(self, node: Node, name: str, dtype: str | None) -> Codes | None:
        given = [i for i in (1, 2) if node.has_input(i)]
        if not all(node.is_constant(i) for i in given) or node.attribute("block_size", 0):
            return None
        zero_point = node.constant(2, None)
        if zero_point is None and dtype is None:
            return None
        return make_codes(
            name, node.constant(1), zero_point, dtype or "", node.attribute("axis", 1)
        )

    def graph(self) -> Graph:
        """Returns the new graph, without nodes that nobody needs."""
        needed = set(self._graph.outputs)
        kept: list[Node] = []
        for node in reversed(self._nodes):
            if needed.isdisjoint(node.outputs):
                continue
            kept.append(node)
            needed.update(node.inputs)
            needed.update(_free(node.graphs()))
        return dataclasses.replace(
            self._graph, nodes=tuple(reversed(kept)), constants=self.constants
        )


def _free(graphs: Iterable[Graph]) -> set[str]:
    return {name for graph in graphs for name in free_names(graph)}
