"""GlobalAveragePool."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value

_LAYERS = {
    3: keras.layers.GlobalAveragePooling1D,
    4: keras.layers.GlobalAveragePooling2D,
    5: keras.layers.GlobalAveragePooling3D,
}


@register_handler("GlobalAveragePool", layout="image")
def global_average_pool(call: NodeCall) -> Value:
    """Becomes a Keras GlobalAveragePooling that keeps the dimensions, or a mean."""
    x = call.channels_last(0)
    rank = len(x.shape)
    if rank in _LAYERS:
        pool = _LAYERS[rank](data_format="channels_last", keepdims=True, **call.options())
        return call.output(pool(x), channels_last=True)
    mean = keras.ops.mean(x, axis=tuple(range(1, rank - 1)), keepdims=True)
    return call.output(mean, channels_last=True)
