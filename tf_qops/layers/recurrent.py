"""Recurrent networks with ONNX's gates and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers._plain import PlainLayer

_ACTIVATIONS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "Relu": tf.nn.relu,
    "Sigmoid": tf.sigmoid,
    "Softplus": tf.math.softplus,
    "Softsign": tf.math.softsign,
    "Tanh": tf.tanh,
}
_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@keras.saving.register_keras_serializable(package="tf_qops")
class Recurrent(PlainLayer):
    """Runs an LSTM, GRU or simple recurrent network along a sequence (ONNX versions 7 to 22).

    Args:
        cell: "LSTM", "GRU" or "RNN".
        hidden_size: of the state.
        direction: "forward", "reverse" or "bidirectional".
        activations: ONNX names, those of the forward direction first; None takes ONNX's.
        clip: sums are kept in [-clip, clip] before activations; None does not.
        input_forget: an LSTM's input gate is 1 - its forget gate.
        linear_before_reset: a GRU multiplies the state before the reset gate is applied.
        optional: which of bias, sequence_lens, initial_h, initial_c and peepholes are inputs.
        batch_first: x and y begin with the batch (ONNX layout 1).
        **kwargs: those of `keras.layers.Layer`.

    Input: x [steps, batch, n], w [directions, gates * hidden, n], r [directions, gates * hidden,
    hidden] and the optional ones. Output: y [steps, directions, batch, hidden], the last state
    [directions, batch, hidden], and of an LSTM the last cell of the same shape.

    Raises:
        ValueError: an unknown cell or activation.

    Example:

    >>> layer = Recurrent("RNN", 1)
    >>> y, last = layer(tf.zeros((5, 2, 3)), tf.zeros((1, 1, 3)), tf.zeros((1, 1, 1)))
    >>> y.shape, last.shape
    (TensorShape([5, 1, 2, 1]), TensorShape([1, 2, 1]))
    """

    def __init__(
        self,
        cell: str,
        hidden_size: int,
        direction: str = "forward",
        activations: Sequence[str] | None = None,
        clip: float | None = None,
        input_forget: bool = False,
        linear_before_reset: bool = False,
        optional: Sequence[str] = (),
        batch_first: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if cell not in _GATES:
            raise ValueError(f"cell must be one of {list(_GATES)}. Received: cell={cell!r}")
        unknown = set(activations or ()) - set(_ACTIVATIONS)
        if unknown:
            raise ValueError(
                f"activations must be of {list(_ACTIVATIONS)}. Received: {sorted(unknown)}"
            )
        self.cell = cell
        self.hidden_size = hidden_size
        self.direction = direction
        self.activations = tuple(activations) if activations else None
        self.clip = clip
        self.input_forget = input_forget
        self.linear_before_reset = linear_before_reset
        self.optional = tuple(optional)
        self.batch_first = batch_first

    def call(self, x: tf.Tensor, w: tf.Tensor, r: tf.Tensor, *more: tf.Tensor) -> Any:
        """Returns all states and the last ones."""
        given = dict(zip(self.optional, more, strict=True))
        if self.batch_first:
            x = tf.transpose(x, [1, 0, 2])
            for name in ("initial_h", "initial_c"):
                if name in given:
                    given[name] = tf.transpose(given[name], [1, 0, 2])
        ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        results = [
            self._one_way(x, w[i], r[i], {n: t if n == "sequence_lens" else t[i]
                                          for n, t in given.items()}, i, backwards)
            for i, backwards in enumerate(ways[self.direction])
        ]  # fmt: skip
        y = tf.stack([states for states, _ in results], 1)
        last = [tf.stack(parts, 0) for parts in zip(*(final for _, final in results), strict=True)]
        if self.batch_first:
            y = tf.transpose(y, [2, 0, 1, 3])
            last = [tf.transpose(part, [1, 0, 2]) for part in last]
        return y, *last

    def _one_way(
        self,
        x: tf.Tensor,
        w: tf.Tensor,
        r: tf.Tensor,
        given: dict[str, tf.Tensor],
        way: int,
        backwards: bool,
    ) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
        """Runs one direction; returns all states and the last state (and cell)."""
        count = _GATES[self.cell] * self.hidden_size
        bias = given.get("bias", tf.zeros([2 * count], x.dtype))
        lengths = given.get("sequence_lens")
        if backwards:
            x = _turned(x, lengths)
        zeros = tf.zeros([tf.shape(x)[1], self.hidden_size], x.dtype)
        state = (given.get("initial_h", zeros),)
        if self.cell == "LSTM":
            state += (given.get("initial_c", zeros),)
        names = self.activations or _DEFAULTS[self.cell] * 2
        each = len(_DEFAULTS[self.cell])
        functions = [_ACTIVATIONS[n] for n in names[way * each :][:each]]
        inputs = tf.matmul(x, w, transpose_b=True)
        step = {"LSTM": self._lstm, "GRU": self._gru, "RNN": self._rnn}[self.cell]
        peepholes = given.get("peepholes")

        def advance(i: tf.Tensor, state: Any, states: Any) -> Any:
            made = step(inputs[i], state, r, bias[:count], bias[count:], functions, peepholes)
            output = made[0]
            if lengths is not None:
                running = (i < tf.cast(lengths, tf.int32))[:, tf.newaxis]
                made = tuple(tf.where(running, a, b) for a, b in zip(made, state, strict=True))
                output = tf.where(running, output, tf.zeros_like(output))
            return i + 1, made, states.write(i, output)

        steps = tf.shape(x)[0]
        states = tf.TensorArray(x.dtype, steps, element_shape=[x.shape[1], self.hidden_size])
        _, state, states = tf.while_loop(
            lambda i, *_: i < steps, advance, (tf.constant(0), state, states)
        )
        y = tf.ensure_shape(states.stack(), [x.shape[0], x.shape[1], self.hidden_size])
        return (_turned(y, lengths) if backwards else y), state

    def _clipped(self, x: tf.Tensor) -> tf.Tensor:
        return x if self.clip is None else tf.clip_by_value(x, -self.clip, self.clip)

    def _lstm(
        self, x: tf.Tensor, state: Any, r: tf.Tensor, wb: tf.Tensor, rb: tf.Tensor, functions: Any,
        peepholes: tf.Tensor | None,
    ) -> tuple[tf.Tensor, ...]:  # fmt: skip
        f, g, h = functions
        hidden, cell = state
        i, o, c_f, c = tf.split(x + tf.matmul(hidden, r, transpose_b=True) + wb + rb, 4, 1)
        pi, po, pf = (0, 0, 0) if peepholes is None else tf.split(peepholes, 3)
        i = f(self._clipped(i + pi * cell))
        forget = 1 - i if self.input_forget else f(self._clipped(c_f + pf * cell))
        cell = forget * cell + i * g(self._clipped(c))
        o = f(self._clipped(o + po * cell))
        return o * h(cell), cell

    def _gru(
        self, x: tf.Tensor, state: Any, r: tf.Tensor, wb: tf.Tensor, rb: tf.Tensor, functions: Any,
        peepholes: tf.Tensor | None,
    ) -> tuple[tf.Tensor, ...]:  # fmt: skip
        f, g = functions
        (hidden,) = state
        n = self.hidden_size
        z_r = x[:, : 2 * n] + tf.matmul(hidden, r[: 2 * n], transpose_b=True)
        z, reset = tf.split(f(self._clipped(z_r + wb[: 2 * n] + rb[: 2 * n])), 2, 1)
        if self.linear_before_reset:
            past = reset * (tf.matmul(hidden, r[2 * n :], transpose_b=True) + rb[2 * n :])
        else:
            past = tf.matmul(reset * hidden, r[2 * n :], transpose_b=True) + rb[2 * n :]
        new = g(self._clipped(x[:, 2 * n :] + past + wb[2 * n :]))
        return ((1 - z) * new + z * hidden,)

    def _rnn(
        self, x: tf.Tensor, state: Any, r: tf.Tensor, wb: tf.Tensor, rb: tf.Tensor, functions: Any,
        peepholes: tf.Tensor | None,
    ) -> tuple[tf.Tensor, ...]:  # fmt: skip
        sums = x + tf.matmul(state[0], r, transpose_b=True) + wb + rb
        return (functions[0](self._clipped(sums)),)


def _turned(x: tf.Tensor, lengths: tf.Tensor | None) -> tf.Tensor:
    """Returns a sequence [steps, batch, n] backwards, each row from its own end."""
    if lengths is None:
        return tf.reverse(x, [0])
    return tf.reverse_sequence(x, tf.cast(lengths, tf.int32), seq_axis=0, batch_axis=1)
