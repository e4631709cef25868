"""What QuantizeLinear and DequantizeLinear have in common."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from tf_qops.onnx.values import NodeCall, Value, channels_last_axis


def build_linear(
    call: NodeCall,
    layer_type: type[keras.layers.Layer],
    zero_point: np.ndarray | None = None,
    **options: Any,
) -> Value:
    """Builds the layer of a node (x, scale, zero_point).

    Scale and zero point become its weights where both are constants, and its inputs where one of
    them is computed.

    Args:
        call: the node.
        layer_type: QuantizeLinear or DequantizeLinear.
        zero_point: stands in for one that the node leaves out.
        **options: further arguments of the layer.
    """
    block_size, axis = call.attribute("block_size", 0), call.attribute("axis", 1)
    # Blocked scales have x's rank, so its order of dimensions too.
    x, channels_last = (call.tensor(0), False) if block_size else call.either(0)
    given = [i for i in (1, 2) if call.has_input(i)]
    constant = all(call.is_constant(i) for i in given)
    layer = layer_type(
        call.constant(1) if constant else None,
        call.constant(2, zero_point) if constant else None,
        axis=channels_last_axis(axis, len(x.shape)) if channels_last else axis,
        block_size=block_size,
        **call.options() | options,
    )
    inputs = [] if constant else [call.tensor(i) for i in given]
    return call.output(layer(x, *inputs), channels_last, dtype=options.get("output_dtype"))
