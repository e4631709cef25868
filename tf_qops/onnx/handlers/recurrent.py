"""LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Callable

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor

_ACTIVATIONS = {"relu", "sigmoid", "softplus", "softsign", "tanh"}
_OPTIONAL = ("bias", "sequence_lens", "initial_h", "initial_c", "peepholes")


def _check(node: Node) -> str | None:
    unknown = {a for a in node.attribute("activations") or () if a.lower() not in _ACTIVATIONS}
    if unknown:
        return f"its activations {', '.join(sorted(unknown))} are not supported"
    return None


def _register(cell: str) -> Callable[[NodeCall], tuple[Tensor, ...]]:
    @register_handler(cell, check=_check)
    def build(call: NodeCall) -> tuple[Tensor, ...]:
        activations = call.attribute("activations")
        given = {name: i for i, name in enumerate(_OPTIONAL, 3) if call.has_input(i)}
        layer = layers.Recurrent(
            cell,
            call.attribute("hidden_size") or call.shape(2)[-1],
            call.attribute("direction"),
            activations and [name.capitalize() for name in activations],
            call.attribute("clip"),
            bool(call.attribute("input_forget", 0)),
            bool(call.attribute("linear_before_reset", 0)),
            tuple(given),
            bool(call.attribute("layout", 0)),
            **call.options(),
        )
        return layer(*(call.tensor(i) for i in (0, 1, 2, *given.values())))

    return build


for _cell in ("LSTM", "GRU", "RNN"):
    _register(_cell)
