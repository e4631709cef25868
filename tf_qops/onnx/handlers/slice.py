"""Slice: attributes before version 10, inputs since."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.handlers._axes import normalized
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _check(node: Node) -> str | None:
    if node.has_input(3) and not node.is_constant(3):
        return "its axes must be constants"
    return None


@register_handler("Slice", since_version=10, check=_check, shapes=(0,))
def slice_by_inputs(call: NodeCall) -> Tensor:
    """Becomes a Slice layer, with its bounds as arguments where they are constants."""
    starts, ends, axes, steps = (
        [int(v) for v in call.constant(i).reshape(-1)] if call.is_constant(i) else None
        for i in range(1, 5)
    )
    if axes is not None:
        normalized(tuple(axes), len(call.shape(0)))
    if starts is None or ends is None or (steps is None and call.has_input(4)):
        given = [call.tensor(i) for i in (1, 2, 4) if call.has_input(i)]
        return layers.Slice(axes=axes, **call.options())(call.tensor(0), *given)
    return layers.Slice(starts, ends, axes, steps, **call.options())(call.tensor(0))


@register_handler("Slice", shapes=(0,))
def slice_by_attributes(call: NodeCall) -> Tensor:
    """Becomes a Slice layer."""
    bounds = (call.attribute(name) for name in ("starts", "ends", "axes"))
    return layers.Slice(*bounds, **call.options())(call.tensor(0))
