"""What the operators on codes have in common: constants become weights of one layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf_qops.layers.operator import Operator
from tf_qops.onnx.values import NodeCall, Tensor, Value

_PARAMETERS = ("_scale", "_zero_point")


def build_operator(
    call: NodeCall,
    layer_type: type[Operator],
    *,
    names: Sequence[str] | None = None,
    images: bool = False,
    constant: Callable[[str, np.ndarray], np.ndarray] = lambda name, array: array,
    **attributes: Any,
) -> Tensor | list[Tensor]:
    """Builds the layer of a node: constants become its weights, what is computed its inputs.

    Args:
        call: the node.
        layer_type: of the layer.
        names: of the node's inputs; None takes the layer's operands.
        images: whether tensors that are no scale and no zero point come with their channels last.
        constant: from an operand's name and array to the array that the layer gets.
        **attributes: of the layer.
    """
    names = names or layer_type.operands()
    given = {name: i for i, name in enumerate(names) if call.has_input(i)}
    inputs = [name for name, i in given.items() if not call.is_constant(i)]
    if not inputs:
        inputs = [next(name for name in given if not name.endswith(_PARAMETERS))]
    constants = {
        name: constant(name, call.constant(given[name])) if name in given else None
        for name in names
        if name not in inputs
    }
    tensors = [
        call.channels_last(given[name])
        if images and not name.endswith(_PARAMETERS)
        else call.tensor(given[name])
        for name in inputs
    ]
    options = call.options(given[inputs[0]])
    layer = layer_type(constants, inputs, attributes, **options)
    return layer(tensors if len(tensors) > 1 else tensors[0])


def build_of_one_tensor(call: NodeCall, layer_type: type[Operator], **attributes: Any) -> Value:
    """Builds an operator that works on its first input element by element, in either layout."""
    _, channels_last = call.either(0)
    y = build_operator(call, layer_type, images=channels_last, **attributes)
    return call.output(y, channels_last)
