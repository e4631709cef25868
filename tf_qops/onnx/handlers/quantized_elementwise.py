"""Operators on codes one by one: QLinearAdd, QLinearMul, QLinearLeakyRelu, QLinearSigmoid."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.layers.operator import Operator
from tf_qops.onnx.handlers._operator import build_of_one_tensor, build_operator
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_OPERANDS = (0, 3)


@register_handler("QLinearAdd", "com.microsoft", layout="any")
def qlinear_add(call: NodeCall) -> Value:
    """Becomes a QLinearAdd layer."""
    return _build_binary(call, layers.QLinearAdd)


@register_handler("QLinearMul", "com.microsoft", layout="any")
def qlinear_mul(call: NodeCall) -> Value:
    """Becomes a QLinearMul layer."""
    return _build_binary(call, layers.QLinearMul)


@register_handler("QLinearLeakyRelu", "com.microsoft", layout="any")
def qlinear_leaky_relu(call: NodeCall) -> Value:
    """Becomes a QLinearLeakyRelu layer."""
    return build_of_one_tensor(call, layers.QLinearLeakyRelu, alpha=call.attribute("alpha", 0.01))


@register_handler("QLinearSigmoid", "com.microsoft", layout="any")
def qlinear_sigmoid(call: NodeCall) -> Value:
    """Becomes a QLinearSigmoid layer."""
    return build_of_one_tensor(call, layers.QLinearSigmoid)


def _build_binary(call: NodeCall, layer_type: type[Operator]) -> Value:
    """Builds a layer on two tensors, with the channels last where they can stay there."""
    channels_last = _may_stay_last(call)

    def moved(name: str, array: np.ndarray) -> np.ndarray:
        operand = channels_last and name in ("a", "b") and array.size > 1
        return np.moveaxis(array, 1, -1) if operand else array

    y = build_operator(call, layer_type, images=channels_last, constant=moved)
    return call.output(y, channels_last)


def _may_stay_last(call: NodeCall) -> bool:
    """Returns whether one operand has its channels last and no other broadcasts to its rank."""
    values = [call.value(i) for i in _OPERANDS]
    ranks = {
        v.ndim if isinstance(v, np.ndarray) else len(v.either()[0].shape)
        for v in values
        if not (isinstance(v, np.ndarray) and v.size == 1)
    }
    images = [v for v in values if isinstance(v, Value) and v.is_image]
    single = [v.ndim for v in values if isinstance(v, np.ndarray) and v.size == 1]
    return bool(images) and len(ranks) == 1 and all(rank <= max(ranks) for rank in single)
