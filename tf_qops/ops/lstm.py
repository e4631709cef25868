"""com.microsoft's LSTM of weights of 8 bits."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


class LstmOutputs(NamedTuple):
    """What `tfq.dynamic_quantize_lstm` returns."""

    y: tf.Tensor
    y_h: tf.Tensor
    y_c: tf.Tensor


def dynamic_quantize_lstm(
    x: TensorLike,
    w: TensorLike,
    r: TensorLike,
    bias: TensorLike | None,
    sequence_lens: TensorLike | None,
    initial_h: TensorLike | None,
    initial_c: TensorLike | None,
    peepholes: TensorLike | None,
    w_scale: TensorLike,
    w_zero_point: TensorLike,
    r_scale: TensorLike,
    r_zero_point: TensorLike,
    *,
    hidden_size: int,
    direction: str = "forward",
    activations: Sequence[str] | None = None,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    clip: float | None = None,
    input_forget: bool = False,
    name: str | None = None,
) -> LstmOutputs:
    """Runs an LSTM with integer products, com.microsoft's DynamicQuantizeLSTM (version 1).

    x is quantized to uint8 once, as `tfq.dynamic_quantize_linear` does, up to the longest
    sequence; so is, at each step of a direction, what the step before gave for the whole batch
    (initial_h at first, 0 beyond the end of a sequence). Their products with the weights are exact
    integers. In float32, with f, g, h the activations:

    | | |
    |---|---|
    | i, f | `f(x @ W + h @ R + P * c + (Wb + Rb))`; f is `1 - i` with input_forget |
    | c | `c * f + i * g(x @ W + h @ R + (Wb + Rb))` |
    | o | `f(x @ W + h @ R + P * c + (Wb + Rb))`, with the new c |
    | h | `o * h(c)` |

    Every input of an activation is clipped. (ONNX Runtime 1.31.1 does not clip that of h, see
    microsoft/onnxruntime#27224. It quantizes the hidden states of parts of a batch by themselves
    where it has several threads; here the number of threads changes nothing.)

    One step with gates of 2 * 0.5 = 1, so i = f = o = 0.2 * 1 + 0.5, c = 0.7 * 1, h = 0.7 * 0.7:

    >>> w, r = tf.ones([1, 1, 4], tf.int8), tf.zeros([1, 1, 4], tf.int8)
    >>> y, y_h, y_c = tfq.dynamic_quantize_lstm(
    ...     [[[2.0]]], w, r, None, None, None, None, None, 0.5, 0, 1.0, 0, hidden_size=1,
    ...     activations=["HardSigmoid", "Affine", "Affine"])
    >>> print(f"{y_h[0, 0, 0]:.2f} {y_c[0, 0, 0]:.2f}")
    0.49 0.70

    Args:
      x: float32 of shape [steps, batch, inputs].
      w: int8 or uint8 of shape [directions, inputs, 4 * hidden_size]; the columns are those of the
        gates i, o, f, c.
      r: int8 or uint8 of shape [directions, hidden_size, 4 * hidden_size].
      bias: float32 of shape [directions, 8 * hidden_size], Wb and then Rb; 0 where None.
      sequence_lens: int32 of shape [batch], in [0, steps]; steps where None.
      initial_h: float32 of shape [directions, batch, hidden_size]; 0 where None.
      initial_c: Likewise.
      peepholes: float32 of shape [directions, 3 * hidden_size], for i, o, f; 0 where None.
      w_scale: float32: a scalar, [directions], or [directions, 4 * hidden_size].
      w_zero_point: Of w's dtype (a number takes it); shapes as w_scale's, but not of need the same
        one.
      r_scale: As w_scale, for r.
      r_zero_point: As w_zero_point, for r.
      hidden_size: Number of hidden units.
      direction: "forward", "reverse", or "bidirectional", which has two directions.
      activations: f, g, h of each direction, each of "Relu", "Tanh", "Sigmoid", "Affine",
        "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign" or
        "Softplus"; Sigmoid, Tanh, Tanh where None.
      activation_alpha: For the activations that have an alpha, in order; then their defaults: 1
        (Affine, ThresholdedRelu, ScaledTanh, Elu), 0.01 (LeakyRelu), 0.2 (HardSigmoid).
      activation_beta: Likewise: 0 (Affine), 1 (ScaledTanh), 0.5 (HardSigmoid).
      clip: The largest magnitude of an activation's input; no limit where None.
      input_forget: Whether the forget gate is 1 - i.
      name: A name for the operation.

    Returns:
      y, float32 of shape [steps, directions, batch, hidden_size], 0 beyond the end of a sequence;
      y_h and y_c, of shape [directions, batch, hidden_size], the states after the last step, 0
      for a sequence of length 0.

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other (a ValueError
        while a graph is built), or a length out of range.
      ValueError: A zero point outside the range of its dtype, or of another dtype; a clip that is
        not positive.
      TypeError: A ragged or sparse tensor.
    """
    if clip is not None and not clip > 0:
        raise ValueError(f"clip must be positive. Received: {clip}")
    w, r = _arguments.tensor(w, "w"), _arguments.tensor(r, "r")

    def optional(value: TensorLike | None, argument: str, dtype: tf.DType) -> list[tf.Tensor]:
        return [] if value is None else [_arguments.tensor(value, argument, dtype)]

    return LstmOutputs(
        *_library.load().tf_qops_dynamic_quantize_lstm(
            x=_arguments.tensor(x, "x", tf.float32),
            w=w,
            r=r,
            bias=optional(bias, "bias", tf.float32),
            sequence_lens=optional(sequence_lens, "sequence_lens", tf.int32),
            initial_h=optional(initial_h, "initial_h", tf.float32),
            initial_c=optional(initial_c, "initial_c", tf.float32),
            peepholes=optional(peepholes, "peepholes", tf.float32),
            w_scale=_arguments.scale(w_scale, "w_scale"),
            w_zero_point=_arguments.zero_point(w_zero_point, "w_zero_point", w.dtype),
            r_scale=_arguments.scale(r_scale, "r_scale"),
            r_zero_point=_arguments.zero_point(r_zero_point, "r_zero_point", r.dtype),
            hidden_size=hidden_size,
            direction=direction,
            activations=list(activations or []),
            activation_alpha=list(activation_alpha or []),
            activation_beta=list(activation_beta or []),
            clip=clip or 0.0,
            input_forget=input_forget,
            name=name,
        )
    )
