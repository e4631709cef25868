"""AveragePool and LpPool's relatives over whole images."""

from __future__ import annotations

import keras

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_LAYERS = {
    1: keras.layers.AveragePooling1D,
    2: keras.layers.AveragePooling2D,
    3: keras.layers.AveragePooling3D,
}


@register_handler("AveragePool", layout="image")
def average_pool(call: NodeCall) -> Value:
    """Becomes a Keras AveragePooling where nothing is padded, else our own."""
    x, window = call.channels_last(0), call.attribute("kernel_shape")
    strides = call.attribute("strides") or [1] * len(window)
    pads, dilations = call.attribute("pads"), call.attribute("dilations")
    ceil_mode, auto_pad = bool(call.attribute("ceil_mode", 0)), call.attribute("auto_pad")
    padded = any(pads or ()) or auto_pad.startswith("SAME") or ceil_mode
    if not padded and set(dilations or [1]) == {1} and len(window) in _LAYERS:
        # Keras takes "valid" windows only where they fit, as floor division says.
        layer = _LAYERS[len(window)](
            window, strides, "valid", data_format="channels_last", **call.options()
        )
        return call.output(layer(x), channels_last=True)
    layer = layers.AveragePool(
        window,
        strides=strides,
        pads=pads,
        auto_pad=auto_pad,
        dilations=dilations,
        ceil_mode=ceil_mode,
        count_include_pad=bool(call.attribute("count_include_pad", 0)),
        data_format="channels_last",
        **call.options(),
    )
    return call.output(layer(x), channels_last=True)


@register_handler("GlobalMaxPool", layout="image")
def global_max_pool(call: NodeCall) -> Value:
    """Becomes keras.ops.max."""
    x = call.channels_last(0)
    places = tuple(range(1, len(x.shape) - 1))
    return call.output(keras.ops.max(x, axis=places, keepdims=True), channels_last=True)


@register_handler("GlobalLpPool", layout="image")
def global_lp_pool(call: NodeCall) -> Value:
    """Becomes a sum of powers and its root."""
    x, p = call.channels_last(0), float(call.attribute("p"))
    places = tuple(range(1, len(x.shape) - 1))
    powers = keras.ops.power(keras.ops.abs(x), p)
    sums = keras.ops.sum(powers, axis=places, keepdims=True)
    return call.output(keras.ops.power(sums, 1 / p), channels_last=True)
