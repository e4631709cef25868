"""The table of operators that can be imported."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any, Literal

from tf_qops.onnx.reader import Node

Layout = Literal["onnx", "any", "image"]


@dataclasses.dataclass(frozen=True)
class Handler:
    """How one operator is imported, from one of its versions on.

    Attributes:
        build: takes a `NodeCall`, returns the node's output, or a list of them.
        check: takes a `Node`, returns why it cannot be imported, or None; runs before any build.
        layout: "image": its first input has channels (dimension 1 in ONNX) and places; "any": it
            works element by element; "onnx": it needs ONNX's order of dimensions.
        since_version: the first operator version that it serves.
        shapes: the inputs through which shapes are followed: an element of the output that comes
            from known elements of theirs does not depend on the unknown ones.
    """

    build: Callable[[Any], Any]
    check: Callable[[Node], str | None]
    layout: Layout
    since_version: int
    shapes: Collection[int]


_handlers: dict[tuple[str, str], list[Handler]] = {}


def register_handler(
    op_type: str,
    domain: str = "",
    since_version: int = 1,
    *,
    layout: Layout = "onnx",
    check: Callable[[Node], str | None] | None = None,
    shapes: Collection[int] = (),
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Returns a decorator that registers a function as the importer of an operator.

    A node is given to the handler with the highest `since_version` that is not above its own;
    registering the same operator and version again replaces the handler.

    Args:
        op_type: the operator.
        domain: its domain; "" is ONNX's own.
        since_version: the first operator version that the function serves.
        layout: "image", "any" or "onnx", see `Handler`.
        check: takes a `Node` and returns why it cannot be imported, or None.
        shapes: the inputs through which shapes are followed, see `Handler`.

    Example:

    >>> import keras
    >>> @register_handler("Shout", domain="example.com")
    ... def shout(call):
    ...     return keras.ops.multiply(call.tensor(0), 10.0)
    """

    def register(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
        versions = _handlers.setdefault((domain, op_type), [])
        versions[:] = [h for h in versions if h.since_version != since_version]
        chosen_check = check or (lambda node: None)
        versions.append(Handler(build, chosen_check, layout, since_version, shapes))
        versions.sort(key=lambda handler: handler.since_version)
        return build

    return register


def registered() -> dict[tuple[str, str], tuple[int, ...]]:
    """Returns (domain, operator) -> the versions from which a handler serves it.

    Example:

    >>> registered()["", "Softmax"]
    (1, 13)
    """
    return {key: tuple(h.since_version for h in found) for key, found in _handlers.items()}


def find_handler(node: Node) -> Handler | None:
    """Returns the handler of a node, or None."""
    version = node.since_version or node.opset
    serving = [
        handler
        for handler in _handlers.get((node.domain, node.op_type), ())
        if handler.since_version <= version
    ]
    return serving[-1] if serving else None
