"""QLinearConv."""

from __future__ import annotations

import numpy as np

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_LAYERS = {1: layers.QLinearConv1D, 2: layers.QLinearConv2D, 3: layers.QLinearConv3D}
_PADDING = {"SAME_UPPER": "same", "SAME_LOWER": "same_lower", "VALID": "valid"}


def _check(node: Node) -> str | None:
    if not all(node.is_constant(i) for i in (*range(1, 8), *([8] if node.has_input(8) else []))):
        return "its weight, bias, scales and zero points must be constants"
    spatial = node.constant(3).ndim - 2
    if spatial not in _LAYERS:
        return f"no convolution in {spatial} dimensions"
    return None


@register_handler("QLinearConv", layout="image", check=_check)
def qlinear_conv(call: NodeCall) -> Value:
    """Becomes a QLinearConv layer on the layout with the channels last."""
    kernel: np.ndarray = call.constant(3)
    spatial = kernel.ndim - 2
    auto_pad = call.attribute("auto_pad")
    names = ("x_scale", "x_zero_point", None, "w_scale", "w_zero_point", "y_scale", "y_zero_point")
    layer = _LAYERS[spatial](
        kernel.shape[0],
        kernel.shape[2:],
        strides=call.attribute("strides", (1,) * spatial),
        padding=_PADDING.get(auto_pad) or call.attribute("pads", (0,) * (2 * spatial)),
        dilation_rate=call.attribute("dilations", (1,) * spatial),
        groups=call.attribute("group"),
        use_bias=call.has_input(8),
        data_format="channels_last",
        **{name: call.constant(i) for i, name in enumerate(names, 1) if name},
        **call.options(),
    )
    y = layer(call.channels_last(0))
    layer.assign(kernel=kernel)
    if call.has_input(8):
        layer.assign(bias=call.constant(8))
    return call.output(y, channels_last=True)
