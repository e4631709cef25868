"""Expand."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _joined(a: int | None, b: int | None) -> int | None:
    """Returns the length of two dimensions that are broadcast together.

    Raises:
        ValueError: they cannot be.
    """
    if None not in (a, b) and a != b and 1 not in (a, b):
        raise ValueError(f"lengths must be equal or 1. Received: {a} and {b}.")
    if a == 1 or (a is None and b not in (None, 1)):
        return b
    return a if b == 1 or a is not None else None


@register_handler("Expand")
def expand(call: NodeCall) -> Tensor:
    """Becomes an Expand layer."""
    given, target = call.shape(0), call.known(1)
    static = None
    if target is not None:
        rank = max(len(given), len(target))
        given, target = ([1] * (rank - len(s)) + list(s) for s in (given, target))
        static = call.bounded([_joined(a, b) for a, b in zip(given, target, strict=True)])
    return layers.Expand(static, **call.options())(call.tensor(0), call.tensor(1))
