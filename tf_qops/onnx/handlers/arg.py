"""ArgMax and ArgMin."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _register(op_type: str, largest: bool) -> None:
    @register_handler(op_type)
    def build(call: NodeCall) -> Tensor:
        layer = layers.ArgExtreme(
            call.attribute("axis"),
            largest,
            bool(call.attribute("keepdims")),
            bool(call.attribute("select_last_index", 0)),
            **call.options(),
        )
        return layer(call.tensor(0))


_register("ArgMax", True)
_register("ArgMin", False)
