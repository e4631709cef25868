"""Poolings of codes: QLinearAveragePool and QLinearGlobalAveragePool."""

from __future__ import annotations

from typing import Any

from tf_qops import layers
from tf_qops.layers.operator import Operator
from tf_qops.onnx.handlers._operator import build_operator
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_LISTS = ("kernel_shape", "strides", "dilations", "pads")


@register_handler("QLinearAveragePool", "com.microsoft", layout="image")
def qlinear_average_pool(call: NodeCall) -> Value:
    """Becomes a QLinearAveragePool layer."""
    lists = {name: call.attribute(name) for name in _LISTS}
    return _build_pool(
        call,
        layers.QLinearAveragePool,
        auto_pad=call.attribute("auto_pad", "NOTSET"),
        ceil_mode=bool(call.attribute("ceil_mode", 0)),
        count_include_pad=bool(call.attribute("count_include_pad", 0)),
        **{name: list(value) for name, value in lists.items() if value is not None},
    )


@register_handler("QLinearGlobalAveragePool", "com.microsoft", layout="image")
def qlinear_global_average_pool(call: NodeCall) -> Value:
    """Becomes a QLinearGlobalAveragePool layer."""
    return _build_pool(call, layers.QLinearGlobalAveragePool)


def _build_pool(call: NodeCall, layer_type: type[Operator], **attributes: Any) -> Value:
    """Builds a pool with the channels last; a node may have them so in the file already."""
    as_in_file = bool(call.attribute("channels_last", 0))
    y = build_operator(call, layer_type, images=not as_in_file, channels_last=True, **attributes)
    return call.output(y, channels_last=not as_in_file)
