"""Operators on codes along an axis: QLinearConcat and QLinearSoftmax."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.onnx.handlers._operator import build_operator
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value, channels_last_axis


@register_handler("QLinearConcat", "com.microsoft")
def qlinear_concat(call: NodeCall) -> Value:
    """Becomes a QLinearConcat layer, with the channels last where any tensor has them so."""
    tensors = range(2, len(call.node.inputs), 3)
    names = [f"x{i}{part}" for i in range(len(tensors)) for part in ("", "_scale", "_zero_point")]
    computed = [call.value(i) for i in tensors if not call.is_constant(i)]
    channels_last = any(value.is_image for value in computed)
    axis = call.attribute("axis")
    if channels_last:
        rank = len(computed[0].either()[0].shape)
        axis = channels_last_axis(axis, rank)
    y = build_operator(
        call,
        layers.QLinearConcat,
        names=[*layers.QLinearConcat.operands(), *names],
        images=channels_last,
        constant=lambda name, array: (
            np.moveaxis(array, 1, -1) if channels_last and array.ndim > 2 else array
        ),
        axis=axis,
    )
    return call.output(y, channels_last)


@register_handler("QLinearSoftmax", "com.microsoft")
def qlinear_softmax(call: NodeCall) -> Tensor:
    """Becomes a QLinearSoftmax layer."""
    axis, opset = call.attribute("axis", -1), call.attribute("opset")
    return build_operator(call, layers.QLinearSoftmax, axis=axis, opset=opset)
