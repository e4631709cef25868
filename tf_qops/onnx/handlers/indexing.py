"""GatherElements, GatherND, ScatterElements, ScatterND, OneHot and NonZero."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _check(node: Node) -> str | None:
    reduction = node.attribute("reduction", "none")
    return f"its reduction {reduction} is not supported" if reduction == "mul" else None


@register_handler("GatherElements")
def gather_elements(call: NodeCall) -> Tensor:
    """Becomes keras.ops.take_along_axis."""
    return keras.ops.take_along_axis(call.tensor(0), call.tensor(1), call.attribute("axis"))


@register_handler("GatherND")
def gather_nd(call: NodeCall) -> Tensor:
    """Becomes a GatherND layer."""
    layer = layers.GatherND(call.attribute("batch_dims", 0), **call.options())
    return layer(call.tensor(0), call.tensor(1))


@register_handler("ScatterND", check=_check)
def scatter_nd(call: NodeCall) -> Tensor:
    """Becomes a ScatterND layer."""
    layer = layers.ScatterND(call.attribute("reduction", "none"), **call.options())
    return layer(*(call.tensor(i) for i in range(3)))


@register_handler("ScatterElements", check=_check)
@register_handler("Scatter", check=_check)
def scatter_elements(call: NodeCall) -> Tensor:
    """Becomes a ScatterElements layer."""
    reduction = call.attribute("reduction", "none")
    layer = layers.ScatterElements(call.attribute("axis"), reduction, **call.options())
    return layer(*(call.tensor(i) for i in range(3)))


@register_handler("OneHot")
def one_hot(call: NodeCall) -> Tensor:
    """Becomes a OneHot layer."""
    (depth,) = call.known(1) or [None]
    call.bounded([*call.shape(0), depth])
    layer = layers.OneHot(depth, call.attribute("axis"), **call.options())
    rest = [] if depth is not None else [call.tensor(1)]
    return layer(call.tensor(0), call.tensor(2), *rest)


@register_handler("NonZero")
def non_zero(call: NodeCall) -> Tensor:
    """Becomes a NonZero layer."""
    return layers.NonZero(**call.options())(call.tensor(0))
