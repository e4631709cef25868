"""An LSTM whose weights are integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras

from tf_qops.layers._base import as_array, scale_array
from tf_qops.layers._named import NamedOperator
from tf_qops.ops import lstm

_STATES = ("sequence_lens", "initial_h", "initial_c")


@keras.saving.register_keras_serializable(package="tf_qops")
class DynamicQuantizeLSTM(NamedOperator):
    """Runs an LSTM with integer products: `tf_qops.dynamic_quantize_lstm` as a layer.

    The operands but x, sequence_lens, initial_h and initial_c are weights of the layer, none of
    them trainable, in the function's layout.

    Args:
        w: int8 or uint8 [directions, features, 4 * hidden_size], gates i, o, f, c.
        r: int8 or uint8 [directions, hidden_size, 4 * hidden_size].
        bias: float32 [directions, 8 * hidden_size]; 0 where None.
        peepholes: float32 [directions, 3 * hidden_size]; 0 where None.
        w_scale, r_scale: float32: scalars, [directions] or [directions, 4 * hidden_size].
        w_zero_point, r_zero_point: likewise, in the dtype of w and r, which Python numbers take.
        hidden_size: number of hidden units.
        direction: "forward", "reverse" or "bidirectional".
        activations, activation_alpha, activation_beta, clip, input_forget: as in the function.
        inputs: which of "sequence_lens", "initial_h" and "initial_c" the call is given after x;
            sequences are whole, states start at 0, where they are not.
        **kwargs: those of `keras.layers.Layer`.

    Input: x, float32 [steps, batch, features], or a list of it and the `inputs`. Output: the
    states y [steps, directions, batch, hidden_size] and the last ones y_h and y_c [directions,
    batch, hidden_size], float32.

    Raises:
        ValueError: an operand or argument that the function does not take.

    Example:

    >>> w, r = np.ones([1, 1, 4], np.int8), np.zeros([1, 1, 4], np.int8)
    >>> gates = ["HardSigmoid", "Affine", "Affine"]
    >>> layer = DynamicQuantizeLSTM(
    ...     w, r, w_scale=0.5, r_scale=1.0, hidden_size=1, activations=gates)
    >>> y, y_h, y_c = layer(tf.constant([[[2.0]]]))
    >>> print(f"{y_h[0, 0, 0]:.2f} {y_c[0, 0, 0]:.2f}")
    0.49 0.70
    """

    function = staticmethod(lstm.dynamic_quantize_lstm)

    def __init__(
        self,
        w: Any,
        r: Any,
        bias: Any = None,
        peepholes: Any = None,
        *,
        w_scale: Any,
        w_zero_point: Any = 0,
        r_scale: Any,
        r_zero_point: Any = 0,
        hidden_size: int,
        direction: str = "forward",
        activations: Sequence[str] | None = None,
        activation_alpha: Sequence[float] | None = None,
        activation_beta: Sequence[float] | None = None,
        clip: float | None = None,
        input_forget: bool = False,
        inputs: Sequence[str] = (),
        **kwargs: Any,
    ):
        unknown = sorted(set(inputs) - set(_STATES))
        if unknown:
            raise ValueError(f"inputs must be of {list(_STATES)}. Received: {unknown}")
        w, r = as_array("w", w, None), as_array("r", r, None)
        operands = {
            "w": w,
            "r": r,
            "bias": as_array("bias", bias, "float32"),
            **{name: None for name in _STATES if name not in inputs},
            "peepholes": as_array("peepholes", peepholes, "float32"),
            "w_scale": scale_array("w_scale", w_scale),
            "w_zero_point": as_array("w_zero_point", w_zero_point, w.dtype.name),
            "r_scale": scale_array("r_scale", r_scale),
            "r_zero_point": as_array("r_zero_point", r_zero_point, r.dtype.name),
        }
        attributes = {
            "hidden_size": hidden_size,
            "direction": direction,
            "activations": activations,
            "activation_alpha": activation_alpha,
            "activation_beta": activation_beta,
            "clip": clip,
            "input_forget": input_forget,
        }
        super().__init__(operands, ["x", *inputs], attributes, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        config = super().get_config()
        return {k: v for k, v in config.items() if k not in _STATES} | {"inputs": self.inputs[1:]}
