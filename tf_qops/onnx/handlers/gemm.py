"""Gemm."""

from __future__ import annotations

import keras
import numpy as np

from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, set_weights


@register_handler("Gemm")
def gemm(call: NodeCall) -> Tensor:
    """Becomes a Keras Dense where the weights are constant and nothing is scaled."""
    alpha, beta = call.attribute("alpha"), call.attribute("beta")
    bias = call.constant(2)
    one_row = not call.has_input(2) or (call.is_constant(2) and bias.shape[:-1] in ((), (1,)))
    plain = alpha == beta == 1 and not call.attribute("transA")
    if not (plain and one_row and call.is_constant(1)):
        return _written_out(call, alpha, beta)
    kernel = call.constant(1).T if call.attribute("transB") else call.constant(1)
    use_bias = bias is not None
    dense = keras.layers.Dense(kernel.shape[1], use_bias=use_bias, **call.options())
    y = dense(call.tensor(0))
    set_weights(dense, kernel=kernel)
    if use_bias:
        set_weights(dense, bias=np.broadcast_to(bias.reshape(-1), kernel.shape[1:]))
    return y


def _written_out(call: NodeCall, alpha: float, beta: float) -> Tensor:
    """Returns alpha * A B + beta * C."""
    a, b = call.tensor(0), call.tensor(1)
    a = keras.ops.transpose(a) if call.attribute("transA") else a
    b = keras.ops.transpose(b) if call.attribute("transB") else b
    y = keras.ops.matmul(a, b)
    if alpha != 1:
        y = keras.ops.multiply(y, alpha)
    if not call.has_input(2):
        return y
    c = call.tensor(2)
    return keras.ops.add(y, c if beta == 1 else keras.ops.multiply(c, beta))
