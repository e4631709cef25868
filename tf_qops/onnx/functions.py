"""Local functions of a model, put in where they are called."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import onnx
from onnx import inliner

from tf_qops.onnx.errors import OnnxFileError

_MOST_NODES = 1_000_000
_DEEPEST = 100

_Key = tuple[str, str, str]


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yields nodes and those of the graphs inside them."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                pending.extend(graph.node)


def _key(item: onnx.NodeProto | onnx.FunctionProto) -> _Key:
    name = item.name if isinstance(item, onnx.FunctionProto) else item.op_type
    return ("" if item.domain == "ai.onnx" else item.domain, name, item.overload)


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a model without local functions; one that has none is returned as it is.

    Raises:
        OnnxFileError: functions that call themselves, or unfold to more than a million nodes.
    """
    if not model.functions:
        return model
    functions = {_key(f): f for f in model.functions}
    called = {
        key: [k for k in map(_key, _all_nodes(f.node)) if k in functions]
        for key, f in functions.items()
    }
    unfolding: list[_Key] = []

    @functools.cache
    def nodes_of(key: _Key) -> int:
        if key in unfolding or len(unfolding) > _DEEPEST:
            raise OnnxFileError(
                "Functions must not call themselves, nor each other more than "
                f"{_DEEPEST} deep. Received: function {key[1]!r}"
            )
        unfolding.append(key)
        count = len(functions[key].node) + sum(map(nodes_of, called[key]))
        unfolding.pop()
        return count

    total = sum(nodes_of(k) for k in map(_key, _all_nodes(model.graph.node)) if k in functions)
    if total > _MOST_NODES:
        raise OnnxFileError(
            f"Functions must unfold to at most {_MOST_NODES} nodes. Received: {total} nodes"
        )
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # the checker inside has its own, undocumented ones
        raise OnnxFileError(
            f"Functions cannot be put in where they are called: {error}. "
            f"Received: functions {sorted(key[1] for key in functions)}"
        ) from error
