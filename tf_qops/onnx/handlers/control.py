"""If, Loop and Scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value


def _as_list(results: Any) -> list[Tensor]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


@register_handler("If")
def if_(call: NodeCall) -> list[Tensor | Value | np.ndarray]:
    """Becomes the nodes of the branch that is taken, or a Branch layer where only a run tells."""
    bodies = call.attribute("then_branch"), call.attribute("else_branch")
    if call.is_constant(0):
        return call.inline(bodies[0 if call.constant(0).item() else 1])
    (then_body, taken), (else_body, other) = (call.body(body, []) for body in bodies)
    layer = layers.Branch(then_body, else_body, len(taken), **call.options())
    return _as_list(layer(call.tensor(0), *taken, *other))


@register_handler("Scan", since_version=9)
def scan(call: NodeCall) -> list[Tensor]:
    """Becomes a Scan layer."""
    body, cuts = call.attribute("body"), call.attribute("num_scan_inputs")
    states = len(call.node.inputs) - cuts
    made = len(body.outputs) - states
    tensors = [call.tensor(i) for i in range(len(call.node.inputs))]
    axes = call.attribute("scan_input_axes") or [0] * cuts
    specs = [(t.shape, t.dtype) for t in tensors[:states]]
    for tensor, axis in zip(tensors[states:], axes, strict=True):
        shape = list(tensor.shape)
        del shape[axis]
        specs.append((tuple(shape), tensor.dtype))
    model, same = call.body(body, specs)
    layer = layers.Scan(
        model,
        states,
        axes,
        call.attribute("scan_input_directions") or [0] * cuts,
        call.attribute("scan_output_axes") or [0] * made,
        call.attribute("scan_output_directions") or [0] * made,
        **call.options(),
    )
    return _as_list(layer(*tensors, *same))


def _common(a: Sequence[int | None], b: Sequence[int | None]) -> tuple[int | None, ...]:
    """Returns the shape that a state has before and after a round.

    Raises:
        ValueError: its rank changes.
    """
    if len(a) != len(b):
        raise ValueError(f"a state must keep its rank. Received: {tuple(a)}, then {tuple(b)}.")
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


@register_handler("Loop")
def loop(call: NodeCall) -> list[Tensor]:
    """Becomes a Loop layer."""
    states = [call.tensor(i) for i in range(2, len(call.node.inputs))]
    most, condition = (
        call.tensor(i) if call.has_input(i) else call.placed(name, value)
        for i, name, value in (
            (0, "most", np.array(np.iinfo(np.int64).max)),
            (1, "condition", np.array(True)),
        )
    )
    shapes = [tuple(t.shape) for t in states]
    while True:
        specs = [((), "int64"), ((), "bool")]
        specs += [(shape, t.dtype) for shape, t in zip(shapes, states, strict=True)]
        model, same = call.body(call.attribute("body"), specs)
        wider = [_common(a, t.shape) for a, t in zip(shapes, model.outputs[1:], strict=False)]
        if wider == shapes:
            break
        shapes = wider
    layer = layers.Loop(model, len(states), **call.options())
    return _as_list(layer(most, condition, *states, *same))
