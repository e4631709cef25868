"""Axes, which were an attribute before they became an input."""

from __future__ import annotations

from collections.abc import Callable

from tf_qops.onnx.reader import Node
from tf_qops.onnx.values import NodeCall


def check_axes(node: Node) -> str | None:
    """Refuses axes that are known only when the graph runs."""
    if node.has_input(1) and not node.is_constant(1):
        return "its axes must be constants"
    return None


def axes(call: NodeCall) -> tuple[int, ...] | None:
    """Returns the axes of a node from its input 1 or its attribute; None if it has none."""
    if call.has_input(1):
        given = [int(a) for a in call.constant(1).reshape(-1)]
    else:
        given = call.attribute("axes")
    return None if given is None else tuple(given)


def normalized(given: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Returns axes counted from the front, in order.

    Raises:
        ValueError: an axis out of range, or one given twice.
    """
    if any(not -rank <= a < rank for a in given) or len({a % rank for a in given}) != len(given):
        raise ValueError(
            f"axes must be distinct and in [{-rank}, {rank - 1}]. Received: axes={list(given)}."
        )
    return tuple(sorted(a % rank for a in given))


def constants(*indices: int, what: str) -> Callable[[Node], str | None]:
    """Returns a check that inputs, where given, are constants."""

    def check(node: Node) -> str | None:
        if all(node.is_constant(i) for i in indices if node.has_input(i)):
            return None
        return f"its {what} must be constant"

    return check
