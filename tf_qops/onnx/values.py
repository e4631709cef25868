"""Values of a graph under construction, and what a handler sees of its node."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import keras
import numpy as np

from tf_qops.layers import narrow
from tf_qops.onnx.reader import Graph, Node

Tensor = Any  # a KerasTensor, or an eager tensor while constants are folded
Probes = tuple[np.ndarray, np.ndarray]

# More elements than any tensor of a network has.
_MOST_ELEMENTS = 2**33


class NotFoldedError(Exception):
    """The result of a constant node is too large to be computed while the graph is built."""


def channels_last_axis(axis: int, rank: int) -> int:
    """Returns where an axis of ONNX's layout is with the channels last; one out of range stays.

    Example:

    >>> [channels_last_axis(axis, 4) for axis in (0, 1, 2, -1, 4)]
    [0, 3, 1, 2, 4]
    """
    if not -rank <= axis < rank:
        return axis
    axis %= rank
    return axis if axis == 0 else (axis - 2) % (rank - 1) + 1


def _dense(tensor: Tensor | None) -> Tensor | None:
    """Takes back what Keras says of a product with a Python number: that it is sparse."""
    if getattr(tensor, "sparse", False):
        tensor._sparse = False
    return tensor


class Value:
    """A tensor of the graph, in ONNX's layout, with its channels last, or both.

    The second layout is made when it is first asked for, so that chains of image operators
    stay in one layout.

    Args:
        name: gives names to the transpositions; made unique by `unique_name`.
        onnx: the tensor in ONNX's layout.
        channels_last: the same with the dimension 1 at the end.
        probes: what the tensor would hold for two choices of the symbolic dimensions; None where
            that is not followed. Elements that agree are known before anything runs.
        dtype: the file's, where the tensor only carries its values; None where it is the tensor's.
    """

    def __init__(
        self,
        name: str,
        unique_name: Callable[[str], str],
        *,
        onnx: Tensor | None = None,
        channels_last: Tensor | None = None,
        probes: Probes | None = None,
        dtype: str | None = None,
    ):
        self._name = name
        self._unique_name = unique_name
        self._onnx = _dense(onnx)
        self._channels_last = _dense(channels_last)
        self.is_image = channels_last is not None
        self.probes = probes
        self.carried_dtype = dtype

    @property
    def dtype(self) -> str:
        """The dtype in the file."""
        return self.carried_dtype or keras.backend.standardize_dtype(self.either()[0].dtype)

    def onnx(self) -> Tensor:
        """Returns the tensor in ONNX's layout."""
        if self._onnx is None:
            rank = len(self._channels_last.shape)
            order = (rank - 1, *range(1, rank - 1))
            self._onnx = self._permuted(self._channels_last, order, "channels_first")
        return self._onnx

    def channels_last(self) -> Tensor:
        """Returns the tensor with its channels last."""
        if self._channels_last is None:
            order = (*range(2, len(self._onnx.shape)), 1)
            self._channels_last = self._permuted(self._onnx, order, "channels_last")
        return self._channels_last

    def either(self) -> tuple[Tensor, bool]:
        """Returns the tensor as it is, and whether its channels are last."""
        if self._channels_last is None:
            return self._onnx, False
        return self._channels_last, True

    def _permuted(self, tensor: Tensor, order: tuple[int, ...], suffix: str) -> Tensor:
        dtype = layer_dtype(keras.backend.standardize_dtype(tensor.dtype))
        name = self._unique_name(f"{self._name}_{suffix}")
        return keras.layers.Permute(order, name=name, dtype=dtype)(tensor)


def layer_dtype(dtype: str) -> str:
    """Returns the dtype policy under which a Keras layer leaves tensors of this dtype alone.

    There is none for float8: such tensors become float32, of the same values.
    """
    return dtype if dtype in ("float16", "bfloat16", "float64") else "float32"


class BodyBuilder(Protocol):
    """Builds graphs inside nodes, as `NodeCall.body` and `NodeCall.inline` say."""

    def body(
        self, graph: Graph, inputs: Sequence[tuple[Sequence[int | None], str]]
    ) -> tuple[keras.Model, list[Tensor]]:
        """Returns a graph as a model, and what it takes from the graph around it."""

    def inline(self, graph: Graph) -> list[Value | np.ndarray]:
        """Builds a graph as a part of the one around it."""


class NodeCall:
    """A node at the moment when it is built: the file's facts and the values of its inputs.

    Args:
        node: the file's facts.
        values: one `Value`, array (a constant) or None (left out) per input.
        unique_name: gives out names of layers.
        place_constant: makes a tensor of an array.
        folds: the most elements that a result may have where constants are folded; None while
            layers are built.
        builder: builds graphs inside the node; None while constants are folded.
    """

    def __init__(
        self,
        node: Node,
        values: list[Value | np.ndarray | None],
        unique_name: Callable[[str], str],
        place_constant: Callable[[str, np.ndarray], Tensor],
        folds: int | None = None,
        builder: BodyBuilder | None = None,
    ):
        self.node = node
        self._values = values
        self._unique_name = unique_name
        self._place_constant = place_constant
        self.folds = folds
        self._builder = builder

    def attribute(self, name: str, default: Any = None) -> Any:
        """Returns an attribute, see `Node.attribute`."""
        return self.node.attribute(name, default)

    def has_input(self, index: int) -> bool:
        """Returns whether an input is given."""
        return self.node.has_input(index)

    def is_constant(self, index: int) -> bool:
        """Returns whether an input is an array."""
        return self.has_input(index) and isinstance(self._values[index], np.ndarray)

    def constant(self, index: int, default: Any = None) -> Any:
        """Returns a constant input as an array, or `default` if it is left out."""
        return self._values[index] if self.has_input(index) else default

    def dtype(self, index: int) -> str:
        """Returns the dtype of an input in the file."""
        value = self._values[index]
        return value.dtype.name if isinstance(value, np.ndarray) else value.dtype

    def shape(self, index: int) -> tuple[int | None, ...]:
        """Returns the shape of an input in ONNX's layout."""
        value = self._values[index]
        if isinstance(value, np.ndarray):
            return value.shape
        tensor, channels_last = value.either()
        shape = tuple(tensor.shape)
        return (shape[0], shape[-1], *shape[1:-1]) if channels_last else shape

    def known(self, index: int) -> list[int | None] | None:
        """Returns the elements of an integer vector, None for those that only a run tells.

        None stands for all of them where not even their number is known.
        """
        value = self._values[index]
        if isinstance(value, np.ndarray):
            return [int(v) for v in value.reshape(-1)]
        if value.probes is not None:
            first, second = (probe.reshape(-1) for probe in value.probes)
            return [int(a) if a == b else None for a, b in zip(first, second, strict=True)]
        shape = self.shape(index)
        return None if None in shape else [None] * int(np.prod(shape))

    def bounded(self, shape: Sequence[int | None]) -> Sequence[int | None]:
        """Returns the shape of a result.

        Raises:
            NotFoldedError: it is too large to be a constant.
            ValueError: it is too large for any machine.
        """
        elements = math.prod(d or 1 for d in shape)
        if elements > _MOST_ELEMENTS:
            raise ValueError(
                f"a result must have at most {_MOST_ELEMENTS} elements. "
                f"Received: shape {list(shape)}."
            )
        if self.folds is not None and elements > self.folds:
            raise NotFoldedError
        return shape

    def value(self, index: int) -> Value | np.ndarray:
        """Returns an input as it is, to pass it on."""
        return self._values[index]

    def tensor(self, index: int) -> Tensor:
        """Returns an input in ONNX's layout; a constant becomes a layer's weight."""
        value = self._values[index]
        if isinstance(value, np.ndarray):
            return self._place_constant(self.node.inputs[index], value)
        return value.onnx()

    def placed(self, name: str, value: np.ndarray) -> Tensor:
        """Returns an array of the handler's own as a tensor, a layer's weight."""
        return self._place_constant(f"{self.node.name}_{name}", value)

    def channels_last(self, index: int) -> Tensor:
        """Returns an input, which is no constant, with its channels last."""
        return self._image(index).channels_last()

    def either(self, index: int) -> tuple[Tensor, bool]:
        """Returns an input in the layout that it has, and whether its channels are last."""
        return self._image(index).either()

    def broadcast(self, indices: Sequence[int]) -> tuple[list[Tensor], bool]:
        """Returns the inputs of an elementwise operator in one layout, and whether it is the last.

        Images stay as they are; constants beside them get their rank and layout.
        """
        rank = max(len(self.shape(i)) for i in indices)
        computed = [i for i in indices if not isinstance(self._values[i], np.ndarray)]
        images = [i for i in computed if self._values[i].either()[1]]
        ranks = {len(self.shape(i)) for i in computed} - {0}
        if not images or rank < 3 or ranks != {rank}:
            return [self.tensor(i) for i in indices], False
        return [self._last(i, rank) for i in indices], True

    def _last(self, index: int, rank: int) -> Tensor:
        """Returns an input of a broadcast with its channels last."""
        value = self._values[index]
        if not isinstance(value, np.ndarray):
            return value.channels_last() if len(self.shape(index)) else value.onnx()
        if value.size == 1:
            return self.tensor(index)
        shape = (1,) * (rank - value.ndim) + value.shape
        moved = np.moveaxis(value.reshape(shape), 1, -1)
        return self._place_constant(f"{self.node.inputs[index]}_channels_last", moved)

    def body(
        self, graph: Graph, inputs: Sequence[tuple[Sequence[int | None], str]]
    ) -> tuple[keras.Model, list[Tensor]]:
        """Returns a graph inside the node as a model, and what it takes from the graph around it.

        Args:
            graph: an attribute of the node.
            inputs: shape and dtype of each; the model takes them, then what is from outside.

        Raises:
            NotFoldedError: constants are folded.
        """
        if self._builder is None:
            raise NotFoldedError
        return self._builder.body(graph, inputs)

    def inline(self, graph: Graph) -> list[Value | np.ndarray]:
        """Builds a graph inside the node that has no inputs as a part of the one around it.

        Raises:
            NotFoldedError: constants are folded.
        """
        if self._builder is None:
            raise NotFoldedError
        return self._builder.inline(graph)

    def _image(self, index: int) -> Value:
        value = self._values[index]
        if isinstance(value, np.ndarray):
            return Value(self.node.inputs[index], self._unique_name, onnx=self.tensor(index))
        return value

    def output(
        self,
        tensor: Tensor,
        channels_last: bool = False,
        probes: Probes | None = None,
        dtype: str | None = None,
    ) -> Value:
        """Returns a tensor as an output, in ONNX's layout or with its channels last.

        Args:
            tensor: the output.
            channels_last: whether its channels are last.
            probes: see `Value`.
            dtype: in the file, where a wider one carries it.
        """
        layout = {"channels_last" if channels_last else "onnx": tensor}
        carried = dtype if dtype and narrow.carrier(dtype) != dtype else None
        return Value(self.node.name, self._unique_name, probes=probes, dtype=carried, **layout)

    def options(self, index: int = 0) -> dict[str, Any]:
        """Returns the name and dtype for a Keras layer that takes the given input first.

        The first layer of a node has the node's name.
        """
        dtype = layer_dtype(self.dtype(index)) if self.has_input(index) else "float32"
        return {"name": self.name(), "dtype": dtype, "trainable": False}

    def name(self) -> str:
        """Returns a new name for a layer: the node's, or one made from it."""
        return self._unique_name(self.node.name)


def set_weights(layer: keras.layers.Layer, **weights: np.ndarray) -> None:
    """Assigns a built Keras layer's weights by attribute name, in their exact dtype.

    Raises:
        ValueError: a value of another dtype than the weight.
    """
    for name, value in weights.items():
        variable = getattr(layer, name)
        if variable.dtype != value.dtype.name:
            raise ValueError(f"{name} must be {variable.dtype}. Received: {value.dtype}")
        variable.assign(value)
