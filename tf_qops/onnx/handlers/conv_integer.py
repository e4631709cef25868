"""ConvInteger."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.handlers._operator import build_operator
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_ATTRIBUTES = ("strides", "dilations", "pads")


@register_handler("ConvInteger", layout="image")
def conv_integer(call: NodeCall) -> Value:
    """Becomes a ConvInteger layer; the kernel keeps ONNX's layout."""
    attributes = {name: call.attribute(name) for name in _ATTRIBUTES}
    channels_last = call.is_constant(1)
    y = build_operator(
        call,
        layers.ConvInteger,
        images=channels_last,
        auto_pad=call.attribute("auto_pad", "NOTSET"),
        group=call.attribute("group", 1),
        data_format="NHWC" if channels_last else "NCHW",
        **{name: list(value) for name, value in attributes.items() if value is not None},
    )
    return call.output(y, channels_last)
