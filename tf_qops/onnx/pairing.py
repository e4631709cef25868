"""Which weight of a Keras model takes which constant of a file."""

from __future__ import annotations

import collections
import dataclasses
import difflib
from collections.abc import Iterable, Mapping

import keras
import numpy as np
import tensorflow as tf

from tf_qops.onnx import flattening
from tf_qops.onnx.reader import Graph
from tf_qops.onnx.weighted_layers import Target, WeightedLayer, all_layers, weighted_layer
from tf_qops.onnx.weighted_nodes import DENSE, Constant, WeightedNode, weighted_nodes
from tf_qops.onnx.weights import QuantizedTensor


class MisfitError(ValueError):
    """A constant that a weight cannot take."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pair:
    """A weight and the constant for it.

    Attributes:
        target: the weight.
        constant: the constant.
        op_type: the operator that reads it, "" if that does not matter.
        found_by: "mapping", "shape" or "order".
    """

    target: Target
    constant: Constant
    op_type: str
    found_by: str

    def values(self) -> tuple[np.ndarray, str]:
        """Returns what to assign, and whether that is "dequantized", "codes" or "float".

        Raises:
            MisfitError: the types or shapes do not fit.
        """
        variable, constant = self.target.variable, self.constant
        stored = constant.codes
        if tf.as_dtype(variable.dtype).is_integer:
            if stored.dtype.name != variable.dtype:
                raise MisfitError(f"it is {variable.dtype}, {constant.name} is {stored.dtype}")
            if variable.dtype == "int32" and self.op_type not in ("QLinearConv", ""):
                raise MisfitError(f"a bias of {self.op_type} may be in other units")
            values, how = stored, "codes"
        elif isinstance(constant.values, QuantizedTensor):
            values, how = constant.values.dequantize(), "dequantized"
        elif tf.as_dtype(stored.dtype).is_floating:
            values, how = stored, "float"
        else:
            raise MisfitError(f"{constant.name} is {stored.dtype} without a scale")
        try:
            values = self.target.arrange(constant.arranged(values))
        except ValueError:  # numpy's, of dimensions that are not there
            values = stored
        if values.shape != tuple(variable.shape):
            raise MisfitError(
                f"{constant.name} of shape {stored.shape} does not fit {tuple(variable.shape)}"
            )
        return values.astype(variable.dtype), how


class Pairing:
    """Pairs the weights of a model with the constants of a graph.

    Attributes:
        pairs: what was found.
        why_left: path of a weight, or name of a constant -> why it has no counterpart.
        remarks: what else one should know.
    """

    def __init__(self, model: keras.Model, graph: Graph, quantized: Mapping[str, QuantizedTensor]):
        self.pairs: list[Pair] = []
        self.why_left: dict[str, str] = {}
        self.remarks: list[str] = []
        self._graph = graph
        self._variables = model.weights
        self._quantized = quantized
        self._nodes = weighted_nodes(graph, quantized)
        self._layers = list({id(layer): layer for layer in all_layers(model)}.values())
        self._weighted = [w for layer in self._layers if (w := weighted_layer(layer))]

    def match(self) -> None:
        """Pairs layers and operators of one kind and shape, in order where they are as many."""
        nodes, layers = collections.defaultdict(list), collections.defaultdict(list)
        for node in self._nodes:
            if node.problem:
                self._leave(f"{node.node.op_type} of {node.problem}", [node])
            else:
                nodes[node.key].append(node)
        for weighted in self._weighted:
            layers[weighted.key].append(weighted)
        for key in {**layers, **nodes}:
            ours, theirs = layers[key], nodes[key]
            if len(ours) == len(theirs):
                for weighted, node in zip(ours, theirs, strict=True):
                    self._pair(weighted, node, "shape" if len(ours) == 1 else "order")
            elif not ours:
                self._leave(f"the model has no such layer: {_described(key)}", theirs)
            elif not theirs:
                self._leave(f"the file has no such operator: {_described(key)}", ours)
            else:
                counts = f"{len(ours)} in the model, {len(theirs)} in the file"
                reason = f"ambiguous without a mapping: {_described(key)}, {counts}"
                self._leave(reason, [*ours, *theirs])

    def follow(self, mapping: Mapping[str, str]) -> None:
        """Pairs what a mapping names; layers first, so that single weights may differ.

        Raises:
            ValueError: a name that is not there, or weights that do not fit each other.
        """
        names = {layer.name for layer in self._layers}
        for key, name in sorted(mapping.items(), key=lambda item: item[0] not in names):
            if name not in self._graph.constants:
                raise ValueError(
                    "A mapping's values must be names of the file's constants. "
                    f"Received: {key!r}: {name!r}{_near(name, self._graph.constants)}"
                )
            start = len(self.pairs)
            name = self._graph.aliases.get(name, name)
            follow = self._follow_layer if key in names else self._follow_weight
            follow(key, name)
            for pair in self.pairs[start:]:
                try:
                    pair.values()
                except MisfitError as error:
                    raise ValueError(
                        f"{pair.target.variable.path!r} cannot take {pair.constant.name!r}: "
                        f"{error}. Received: {key!r}: {name!r}"
                    ) from error

    def _follow_layer(self, key: str, name: str) -> None:
        layers = [layer for layer in self._layers if layer.name == key]
        weighted = [w for w in self._weighted if w.layer is layers[0]]
        nodes = [n for n in self._nodes if n.weights[n.main].name == name]
        if len(layers) > 1 or not weighted or not nodes:
            problem = f"the constant {name!r} is not the main one of an operator"
            if len(layers) > 1:
                problem = f"{len(layers)} layers are called {key!r}"
            elif not weighted:
                problem = f"a {type(layers[0]).__name__} is not mapped as a whole"
            raise ValueError(f"{problem}: map weights by their paths. Received: {key!r}: {name!r}")
        if weighted[0].key != nodes[0].key or nodes[0].problem:
            raise ValueError(
                f"The layer is {_described(weighted[0].key)}, the operator "
                f"{nodes[0].problem or _described(nodes[0].key)}. Received: {key!r}: {name!r}"
            )
        self._pair(weighted[0], nodes[0], "mapping")

    def _follow_weight(self, key: str, name: str) -> None:
        ends = [w for w in self._variables if f"/{w.path}".endswith(f"/{key}")]
        if len(ends) != 1:
            paths = [w.path for w in ends or self._variables]
            names = [*paths, *(layer.name for layer in self._layers)]
            raise ValueError(
                "A mapping's keys must be names of layers or paths of single weights. "
                f"Received: {key!r}{f', which ends {paths}' if ends else _near(key, names)}"
            )
        for weighted in self._weighted:
            for role, target in weighted.weights.items():
                for node in self._nodes if target.variable is ends[0] else ():
                    known = node.weights.get(role)
                    if known and known.name == name and node.key[0] == weighted.key[0]:
                        self._pair_role(weighted, node, role, "mapping")
                        return
        constant = Constant(name, self._quantized.get(name, self._graph.constants[name]))
        target = Target(ends[0], lambda values: values)
        self.pairs.append(Pair(target, constant, "", "mapping"))

    def _pair(self, weighted: WeightedLayer, node: WeightedNode, found_by: str) -> None:
        """Pairs the weights of a layer with those of an operator."""
        for role, target in weighted.weights.items():
            if role in node.weights:
                self._pair_role(weighted, node, role, found_by)
            else:
                reason = f"{node.node.op_type} {node.node.name!r} has no constant {role}"
                self.why_left[target.variable.path] = reason
        for role, constant in node.weights.items():
            if role not in weighted.weights:
                self.why_left[constant.name] = f"the layer {weighted.layer.name!r} has no {role}"
        epsilon = node.node.attribute("epsilon")
        if epsilon is not None and not np.isclose(epsilon, weighted.layer.epsilon, atol=0):
            self.remarks.append(
                f"{weighted.layer.name}: epsilon is {weighted.layer.epsilon:g}, "
                f"in the file {epsilon:g}"
            )

    def _pair_role(
        self, weighted: WeightedLayer, node: WeightedNode, role: str, found_by: str
    ) -> None:
        target = weighted.weights[role]
        if node.kind == DENSE and role == "kernel":
            target = self._with_ordered_rows(weighted.layer, node, target)
        self.pairs.append(Pair(target, node.weights[role], node.node.op_type, found_by))

    def _with_ordered_rows(
        self, layer: keras.layers.Layer, node: WeightedNode, target: Target
    ) -> Target:
        """Returns the kernel of a Dense with its rows as the model flattens images."""
        theirs = flattening.order_in_file(self._graph, node.node)
        image = flattening.image_in_model(layer)
        if image is None:
            return target
        ours, shape = image
        if ours and not theirs:
            self.remarks.append(
                f"{layer.name}: the model flattens {shape} before it; how the file does is not "
                "known, so rows stay as they are"
            )
        if theirs and not ours:
            self.remarks.append(
                f"{layer.name}: the file flattens images with {theirs} before it; how the "
                "model does is not known, so rows stay as they are"
            )
        if not ours or not theirs or ours == theirs:
            return target
        self.remarks.append(f"{layer.name}: rows reordered from {theirs} to {shape}")
        return dataclasses.replace(
            target, arrange=lambda values: flattening.reordered_rows(values, shape, ours)
        )

    def _leave(self, reason: str, parties: Iterable[WeightedLayer | WeightedNode]) -> None:
        for party in parties:
            for weight in party.weights.values():
                name = weight.name if isinstance(weight, Constant) else weight.variable.path
                self.why_left[name] = reason


def _described(key: tuple[str, tuple[int, ...], int]) -> str:
    kind, shape, groups = key
    return f"{kind} of {shape}" + (f" in {groups} groups" if groups > 1 else "")


def _near(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, names)
    return f", near to {near}" if near else ""
