"""MaxPool."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value


def _check(node: Node) -> str | None:
    if len(node.outputs) > 1 and node.outputs[1]:
        return "its output Indices is not supported"
    return None


@register_handler("MaxPool", layout="image", check=_check)
def max_pool(call: NodeCall) -> Value:
    """Becomes a MaxPool layer, on integers too."""
    x = call.channels_last(0)
    pool = layers.MaxPool(
        call.attribute("kernel_shape"),
        strides=call.attribute("strides"),
        pads=call.attribute("pads"),
        auto_pad=call.attribute("auto_pad"),
        dilations=call.attribute("dilations"),
        ceil_mode=bool(call.attribute("ceil_mode", 0)),
        data_format="channels_last",
        **call.options(),
    )
    return call.output(pool(x), channels_last=True)
