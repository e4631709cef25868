"""Max, Min, Sum and Mean of any number of inputs."""

from __future__ import annotations

import keras

from tf_qops.onnx.handlers.binary import on_tensors
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_FUNCTIONS = {
    "Max": keras.ops.maximum,
    "Mean": keras.ops.add,
    "Min": keras.ops.minimum,
    "Sum": keras.ops.add,
}


def _register(op_type: str) -> None:
    @register_handler(op_type, layout="any")
    def build(call: NodeCall) -> Value:
        tensors, channels_last = call.broadcast(range(len(call.node.inputs)))
        y = on_tensors(_FUNCTIONS[op_type], tensors)
        if op_type == "Mean":
            y = keras.ops.divide(y, float(len(tensors)))
        return call.output(y, channels_last)


for _op_type in _FUNCTIONS:
    _register(_op_type)
