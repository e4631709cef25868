"""Conv."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value, set_weights

_LAYERS = {1: keras.layers.Conv1D, 2: keras.layers.Conv2D, 3: keras.layers.Conv3D}


def geometry(call: NodeCall, spatial: int) -> dict[str, Any]:
    """Returns the arguments of a convolution layer.

    Raises:
        ValueError: not one to three spatial dimensions, or attributes of other lengths.
    """
    if spatial not in _LAYERS:
        raise ValueError(f"no convolution in {spatial} dimensions.")
    lengths = {"strides": spatial, "dilations": spatial, "pads": 2 * spatial}
    given = {
        name: call.attribute(name) or [0 if name == "pads" else 1] * n
        for name, n in lengths.items()
    }
    for name, n in lengths.items():
        if len(given[name]) != n:
            raise ValueError(f"{name} must have {n} numbers. Received: {given[name]}.")
    return given | {"auto_pad": call.attribute("auto_pad"), "group": call.attribute("group")}


@register_handler("Conv", layout="image")
def conv(call: NodeCall) -> Value:
    """Becomes a Keras Conv, or a Convolution layer where filters or groups ask for it."""
    shape = call.shape(1)
    if None in shape:
        raise ValueError(f"filters must have a static shape. Received: {shape}.")
    arguments = geometry(call, len(shape) - 2)
    x = call.channels_last(0)
    constant = all(call.is_constant(i) for i in (1, 2) if call.has_input(i))
    if constant and arguments["group"] == 1 and call.constant(1).dtype == "float32":
        y = _keras_conv(call, x, arguments)
    else:
        given = [call.tensor(i) for i in (1, 2) if call.has_input(i)]
        y = layers.Convolution(**arguments, **call.options())(x, *given)
    return call.output(y, channels_last=True)


def _keras_conv(call: NodeCall, x: Tensor, arguments: dict[str, Any]) -> Tensor:
    """Convolves with constant filters; explicit padding is a layer of its own."""
    kernel, auto_pad = call.constant(1), arguments["auto_pad"]
    spatial, pads = kernel.ndim - 2, arguments["pads"]
    same = auto_pad == "SAME_UPPER"
    if auto_pad == "SAME_LOWER" or (
        set(arguments["dilations"]) != {1} != set(arguments["strides"])
    ):
        given = [call.tensor(i) for i in (1, 2) if call.has_input(i)]
        return layers.Convolution(**arguments, **call.options())(x, *given)
    layer = _LAYERS[spatial](
        kernel.shape[0],
        kernel.shape[2:],
        strides=arguments["strides"],
        padding="same" if same else "valid",
        dilation_rate=arguments["dilations"],
        use_bias=call.has_input(2),
        data_format="channels_last",
        **call.options(),
    )
    if any(pads) and auto_pad == "NOTSET":
        pairs = [(0, 0), *zip(pads[:spatial], pads[spatial:], strict=True), (0, 0)]
        x = keras.ops.pad(x, pairs)
    y = layer(x)
    set_weights(layer, kernel=np.moveaxis(kernel, (1, 0), (-2, -1)))
    if call.has_input(2):
        set_weights(layer, bias=call.constant(2))
    return y
