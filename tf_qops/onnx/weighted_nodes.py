"""The operators of a graph that have weights, each with its weights in one agreed layout."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from tf_qops.onnx.reader import Graph, Node
from tf_qops.onnx.weights import QuantizedTensor

CONVOLUTION = "convolution"
TRANSPOSED = "transposed convolution"
DENSE = "dense"
BATCH_NORMALIZATION = "batch normalization"
LAYER_NORMALIZATION = "layer normalization"
EMBEDDING = "embedding"

# What may stand between a product and the addition of its bias, or a constant and its use.
_CONVERTS = {"QuantizeLinear", "DequantizeLinear", "Cast", "Identity"}
_RESHAPES = {"Reshape", "Squeeze", "Unsqueeze"}


@dataclasses.dataclass(frozen=True, eq=False)
class Constant:
    """A constant of the file as a node reads it.

    Attributes:
        name: the initializer's.
        values: its values; with scale and zero point where the file has them.
        permutation: brings its dimensions to the order of the node's kind; None leaves them.
    """

    name: str
    values: np.ndarray | QuantizedTensor
    permutation: tuple[int, ...] | None = None

    @property
    def codes(self) -> np.ndarray:
        """The values as the file has them."""
        return self.values.values if isinstance(self.values, QuantizedTensor) else self.values

    @property
    def shape(self) -> tuple[int, ...]:
        """Their shape in the order of the node's kind."""
        return self.arranged(np.broadcast_to(0, self.codes.shape)).shape

    def arranged(self, values: np.ndarray) -> np.ndarray:
        """Returns values with their dimensions in the order of the node's kind."""
        return values if self.permutation is None else values.transpose(self.permutation)


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedNode:
    """An operator with weights.

    Attributes:
        node: the operator.
        kind: one of the constants above.
        main: which of the weights decides what fits.
        weights: role -> constant. Kernels of convolutions are [filters, channels / groups, ...],
            those of transposed ones [channels, filters / groups, ...], those of products
            [inputs, outputs].
        groups: of a convolution.
        problem: why a Keras layer cannot do the same, or None.
    """

    node: Node
    kind: str
    main: str
    weights: Mapping[str, Constant]
    groups: int = 1
    problem: str | None = None

    @property
    def key(self) -> tuple[str, tuple[int, ...], int]:
        """What a layer that takes these weights must have: kind, shape and groups."""
        return self.kind, self.weights[self.main].shape, self.groups


def weighted_nodes(graph: Graph, quantized: Mapping[str, QuantizedTensor]) -> list[WeightedNode]:
    """Returns the operators of a graph whose weights are constants, in order.

    Weights may be dequantized, cast and transposed on their way. Of nodes that share a weight the
    first counts.

    Args:
        graph: the graph.
        quantized: its `quantized_constants`.
    """
    finder = _Finder(graph, quantized)
    found: dict[str, WeightedNode] = {}
    for node in graph.nodes:
        make = _MAKERS.get(node.op_type)
        weighted = make(finder, node) if make else None
        if weighted:
            found.setdefault(weighted.weights[weighted.main].name, weighted)
    return list(found.values())


class _Finder:
    """Finds the constants behind tensors."""

    def __init__(self, graph: Graph, quantized: Mapping[str, QuantizedTensor]):
        self._graph = graph
        self._quantized = quantized
        self._made_by = {output: node for node in graph.nodes for output in node.outputs}
        self._readers: dict[str, list[Node]] = {}
        for node in graph.nodes:
            for name in node.inputs:
                self._readers.setdefault(name, []).append(node)

    def constant(self, name: str, is_vector: bool = False) -> Constant | None:
        """Returns the constant behind a tensor, None if it is computed.

        Args:
            name: of the tensor.
            is_vector: whether its shape does not matter.
        """
        permutation = None
        while name not in self._graph.constants:
            node = self._made_by.get(name)
            if node is None:
                return None
            if node.op_type == "Transpose" and permutation is None:
                order = node.attribute("perm")
                permutation = None if order is None else tuple(order)
            elif node.op_type not in _CONVERTS - {"QuantizeLinear"} and not (
                is_vector and node.op_type in _RESHAPES
            ):
                return None
            name = node.inputs[0]
        values = self._graph.constants[name]
        name = self._graph.aliases.get(name, name)
        return Constant(name, self._quantized.get(name, values), permutation)

    def inputs(self, node: Node, **roles: int) -> dict[str, Constant]:
        """Returns those of a node's inputs that are constants, by role."""
        names = {role: node.inputs[i] for role, i in roles.items() if node.has_input(i)}
        found = {role: self.constant(name) for role, name in names.items()}
        return {role: constant for role, constant in found.items() if constant}

    def bias_after(self, node: Node, length: int) -> dict[str, Constant]:
        """Returns the constant that is added to a node's result as its bias, if one is."""
        name = node.outputs[0]
        passed = _CONVERTS | ({"Mul"} if node.op_type.endswith("Integer") else set())
        while True:
            readers = self._readers.get(name, [])
            if len(readers) != 1:
                return {}
            (reader,) = readers
            if reader.op_type in ("Add", "QLinearAdd"):
                step = 3 if reader.op_type == "QLinearAdd" else 1
                added = [self.constant(reader.inputs[i], is_vector=True) for i in (0, step)]
                bias = next((c for c in added if c and c.codes.size == length), None)
                return {"bias": bias} if bias else {}
            if reader.op_type not in passed:
                return {}
            name = reader.outputs[0]


_Maker = Callable[[_Finder, Node], WeightedNode | None]


def _convolution(kernel: int, kind: str = CONVOLUTION, **others: int) -> _Maker:
    def make(finder: _Finder, node: Node) -> WeightedNode | None:
        weights = finder.inputs(node, kernel=kernel, **others)
        if "kernel" not in weights:
            return None
        if not node.has_input(others.get("bias", len(node.inputs))):
            filters = weights["kernel"].shape[1 if kind == TRANSPOSED else 0]
            weights |= finder.bias_after(node, filters)
        groups = node.attribute("group", 1)
        problem = None
        if kind == TRANSPOSED and groups > 1:
            problem = f"transposed convolution in {groups} groups"
        return WeightedNode(node, kind, "kernel", weights, groups, problem)

    return make


def _product(kernel: int, bias: int | None = None) -> _Maker:
    def make(finder: _Finder, node: Node) -> WeightedNode | None:
        weights = finder.inputs(node, kernel=kernel)
        if "kernel" not in weights or weights["kernel"].codes.ndim != 2:
            return None
        if node.attribute("transB", 0):
            stored = weights["kernel"]
            order = stored.permutation or (0, 1)
            weights["kernel"] = dataclasses.replace(stored, permutation=order[::-1])
        if bias is not None and node.has_input(bias):
            weights |= finder.inputs(node, bias=bias)
        else:
            weights |= finder.bias_after(node, weights["kernel"].shape[1])
        problems = [
            f"{name} is {node.attribute(name, plain)}"
            for name, plain in (("alpha", 1.0), ("beta", 1.0), ("transA", 0))
            if node.attribute(name, plain) != plain
        ]
        return WeightedNode(node, DENSE, "kernel", weights, problem=", ".join(problems) or None)

    return make


def _with_inputs(kind: str, main: str, **roles: int) -> _Maker:
    def make(finder: _Finder, node: Node) -> WeightedNode | None:
        weights = finder.inputs(node, **roles)
        return WeightedNode(node, kind, main, weights) if main in weights else None

    return make


def _gather(finder: _Finder, node: Node) -> WeightedNode | None:
    table = finder.inputs(node, embeddings=0)
    if not table or table["embeddings"].codes.ndim != 2 or node.attribute("axis", 0):
        return None
    return WeightedNode(node, EMBEDDING, "embeddings", table)


_QLINEAR_CONV = {
    "bias": 8,
    "x_scale": 1,
    "x_zero_point": 2,
    "w_scale": 4,
    "w_zero_point": 5,
    "y_scale": 6,
    "y_zero_point": 7,
}
_MAKERS: dict[str, _Maker] = {
    "BatchNormalization": _with_inputs(
        BATCH_NORMALIZATION, "gamma", gamma=1, beta=2, moving_mean=3, moving_variance=4
    ),
    "Conv": _convolution(1, bias=2),
    "ConvInteger": _convolution(1),
    "ConvTranspose": _convolution(1, TRANSPOSED, bias=2),
    "Gather": _gather,
    "Gemm": _product(1, 2),
    "LayerNormalization": _with_inputs(LAYER_NORMALIZATION, "gamma", gamma=1, beta=2),
    "MatMul": _product(1),
    "MatMulInteger": _product(1),
    "QGemm": _product(3, 6),
    "QLinearConv": _convolution(3, **_QLINEAR_CONV),
    "QLinearMatMul": _product(3),
}
