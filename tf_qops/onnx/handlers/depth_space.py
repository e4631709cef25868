"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


@register_handler("DepthToSpace", layout="image")
def depth_to_space(call: NodeCall) -> Value:
    """Becomes a DepthToSpace layer."""
    layer = layers.DepthToSpace(
        call.attribute("blocksize"), call.attribute("mode", "DCR"), **call.options()
    )
    return call.output(layer(call.channels_last(0)), channels_last=True)


@register_handler("SpaceToDepth", layout="image")
def space_to_depth(call: NodeCall) -> Value:
    """Becomes a SpaceToDepth layer."""
    layer = layers.SpaceToDepth(
        call.attribute("blocksize"), call.attribute("mode", "DCR"), **call.options()
    )
    return call.output(layer(call.channels_last(0)), channels_last=True)
