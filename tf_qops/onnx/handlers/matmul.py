"""MatMul."""

from __future__ import annotations

import keras

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, set_weights


@register_handler("MatMul")
def matmul(call: NodeCall) -> Tensor:
    """Becomes a Keras Dense where the second matrix is a constant of floats."""
    shape, kernel = call.shape(0), call.constant(1)
    dense = call.is_constant(1) and not call.folds and kernel.ndim == 2
    if not dense or kernel.dtype != "float32" or len(shape) < 2 or shape[-1] is None:
        return keras.ops.matmul(call.tensor(0), call.tensor(1))
    layer = keras.layers.Dense(kernel.shape[1], use_bias=False, **call.options())
    y = layer(call.tensor(0))
    set_weights(layer, kernel=kernel)
    return y
