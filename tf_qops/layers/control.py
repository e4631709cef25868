"""Control flow: layers that hold models and run one of them, or one of them again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._base import OperatorLayer


class _Bodies(OperatorLayer):
    """A layer that holds models, its first arguments."""

    _models: tuple[str, ...] = ("body",)
    _arguments: tuple[str, ...] = ()

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> _Bodies:
        """Makes the layer and its models."""
        models = {name: keras.saving.deserialize_keras_object(config[name]) for name in cls._models}
        return cls(**config | models)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments and its models' configurations."""
        models = {
            name: keras.saving.serialize_keras_object(getattr(self, name)) for name in self._models
        }
        return (
            super().get_config() | models | {name: getattr(self, name) for name in self._arguments}
        )


def _run(model: keras.Model, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns a model's outputs as a list."""
    result = model(list(inputs) if len(inputs) > 1 else inputs[0])
    return list(result) if isinstance(result, (list, tuple)) else [result]


@keras.saving.register_keras_serializable(package="tf_qops")
class Branch(_Bodies):
    """Runs one of two models (ONNX If, versions 1 to 25).

    Args:
        then_body, else_body: models of the same outputs.
        then_inputs: how many of the inputs are those of `then_body`; the rest are the other's.
        **kwargs: those of `keras.layers.Layer`.

    Input: the condition (one bool), and the inputs of both models. Output: that of the model that
    was run.

    Example:

    >>> models = [keras.Sequential([keras.Input((2,)), keras.layers.Rescaling(k)]) for k in (2, 3)]
    >>> x = tf.ones((1, 2))
    >>> Branch(*models, then_inputs=1)(tf.constant(False), x, x).numpy().tolist()
    [[3.0, 3.0]]
    """

    _models = ("then_body", "else_body")
    _arguments = ("then_inputs",)

    def __init__(
        self, then_body: keras.Model, else_body: keras.Model, then_inputs: int, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.then_body = then_body
        self.else_body = else_body
        self.then_inputs = then_inputs

    def call(self, condition: tf.Tensor, *inputs: tf.Tensor) -> Any:
        """Returns the outputs."""
        taken, other = inputs[: self.then_inputs], inputs[self.then_inputs :]
        outputs = tf.cond(
            tf.reshape(condition, []),
            lambda: _run(self.then_body, taken),
            lambda: _run(self.else_body, other),
        )
        return tuple(outputs) if len(outputs) > 1 else outputs[0]


@keras.saving.register_keras_serializable(package="tf_qops")
class Scan(_Bodies):
    """Runs a model for each slice of its inputs (ONNX Scan, versions 9 to 25).

    Args:
        body: takes states, slices and what stays the same; returns states and slices.
        states: how many states there are.
        input_axes: the axis along which each sliced input is cut.
        input_directions: 1 for those that are read from the end.
        output_axes: the axis along which slices are stacked.
        output_directions: 1 for those that are stacked from the end.
        **kwargs: those of `keras.layers.Layer`.

    Input: the first states, the inputs to be cut, what stays the same. Output: the last states and
    the stacked slices.

    Example:

    >>> total, item = keras.Input(batch_shape=(2,)), keras.Input(batch_shape=(2,))
    >>> body = keras.Model([total, item], [total + item, total + item])
    >>> last, sums = Scan(body, 1, [0], [0], [0], [0])(tf.zeros(2), tf.ones((3, 2)))
    >>> sums.numpy().tolist()
    [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    """

    _arguments = ("states", "input_axes", "input_directions", "output_axes", "output_directions")

    def __init__(
        self,
        body: keras.Model,
        states: int,
        input_axes: Sequence[int],
        input_directions: Sequence[int],
        output_axes: Sequence[int],
        output_directions: Sequence[int],
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.body = body
        self.states = states
        self.input_axes = tuple(input_axes)
        self.input_directions = tuple(input_directions)
        self.output_axes = tuple(output_axes)
        self.output_directions = tuple(output_directions)

    def call(self, *inputs: tf.Tensor) -> Any:
        """Returns the last states and the stacked slices."""
        count = len(self.input_axes)
        states = list(inputs[: self.states])
        cut = inputs[self.states :][:count]
        same = inputs[self.states + count :]
        slices = [
            _to_front(tf.reverse(x, [axis]) if backwards else x, axis)
            for x, axis, backwards in zip(cut, self.input_axes, self.input_directions, strict=True)
        ]
        length = tf.shape(slices[0])[0]
        made = [
            tf.TensorArray(t.dtype, length, element_shape=t.shape)
            for t in self.body.outputs[self.states :]
        ]

        def step(i: tf.Tensor, states: Any, made: Any) -> Any:
            outputs = _run(self.body, [*states, *(s[i] for s in slices), *same])
            rest = outputs[self.states :]
            arrays = [array.write(i, t) for array, t in zip(made, rest, strict=True)]
            return i + 1, outputs[: self.states], arrays

        _, states, made = tf.while_loop(
            lambda i, *_: i < length, step, (tf.constant(0), states, made)
        )
        stacked = []
        for array, axis, backwards in zip(
            made, self.output_axes, self.output_directions, strict=True
        ):
            y = array.stack()
            y = tf.ensure_shape(y, [slices[0].shape[0], *y.shape[1:]])
            y = _from_front(y, axis)
            stacked.append(tf.reverse(y, [axis]) if backwards else y)
        return (*states, *stacked)


@keras.saving.register_keras_serializable(package="tf_qops")
class Loop(_Bodies):
    """Runs a model while its condition holds (ONNX Loop, versions 1 to 25).

    Args:
        body: takes the number of the round (int64 scalar), the condition, states and what stays the
            same; returns the condition, states and slices.
        states: how many states there are.
        **kwargs: those of `keras.layers.Layer`.

    Input: the most rounds (int64), the first condition, the first states, what stays the same.
    Output: the last states and the slices of all rounds, stacked.

    Example:

    >>> i, go = (keras.Input(batch_shape=(), dtype=d) for d in ("int64", "bool"))
    >>> x = keras.Input(batch_shape=(1,))
    >>> body = keras.Model([i, go, x], [keras.ops.logical_or(go, go), x + x, x * 1.0])
    >>> x, seen = Loop(body, 1)(tf.constant(3, tf.int64), tf.constant(True), tf.ones(1))
    >>> x.numpy().tolist(), seen.numpy().ravel().tolist()
    ([8.0], [1.0, 2.0, 4.0])
    """

    _arguments = ("states",)

    def __init__(self, body: keras.Model, states: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.body = body
        self.states = states

    def call(self, most: tf.Tensor, condition: tf.Tensor, *inputs: tf.Tensor) -> Any:
        """Returns the last states and the stacked slices."""
        states, same = list(inputs[: self.states]), inputs[self.states :]
        most, go = tf.reshape(tf.cast(most, tf.int64), []), tf.reshape(condition, [])
        go_shape = self.body.inputs[1].shape
        made = [
            tf.TensorArray(t.dtype, 0, dynamic_size=True, element_shape=t.shape)
            for t in self.body.outputs[self.states + 1 :]
        ]

        def step(i: tf.Tensor, go: tf.Tensor, states: Any, made: Any) -> Any:
            outputs = _run(self.body, [i, tf.reshape(go, go_shape), *states, *same])
            rest = outputs[self.states + 1 :]
            place = tf.cast(i, tf.int32)
            arrays = [array.write(place, t) for array, t in zip(made, rest, strict=True)]
            return i + 1, tf.reshape(outputs[0], []), outputs[1 : self.states + 1], arrays

        invariants = [tf.TensorShape(t.shape) for t in self.body.inputs[2 : self.states + 2]]
        scalar = tf.TensorShape([])
        _, _, states, made = tf.while_loop(
            lambda i, go, *_: (i < most) & go,
            step,
            (tf.constant(0, tf.int64), go, states, made),
            shape_invariants=(scalar, scalar, invariants, [scalar] * len(made)),
        )
        outputs = (*states, *(array.stack() for array in made))
        return outputs if len(outputs) > 1 else outputs[0]


def _to_front(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Returns x with an axis moved to the front."""
    axis %= x.shape.rank
    return tf.transpose(x, [axis, *(d for d in range(x.shape.rank) if d != axis)])


def _from_front(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Returns x with its first axis moved elsewhere."""
    axis %= x.shape.rank
    order = list(range(1, x.shape.rank))
    order.insert(axis, 0)
    return tf.transpose(x, order)
