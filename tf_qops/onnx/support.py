"""What keeps a graph from being imported, all of it at once."""

from __future__ import annotations

import os

import onnx

from tf_qops.onnx import handlers  # noqa: F401  (fills the table)
from tf_qops.onnx.errors import UnsupportedOperator
from tf_qops.onnx.reader import Graph, Node, all_nodes, read
from tf_qops.onnx.registry import find_handler, registered


def unsupported_operators(
    path: str | os.PathLike[str] | onnx.ModelProto,
) -> list[UnsupportedOperator]:
    """Lists what keeps a graph from being imported.

    Args:
        path: an ONNX file, or a loaded model.

    Returns:
        One entry per operator and reason; empty if `import_model` can take the graph.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
    """
    return unsupported_in(read(path))


def unsupported_in(graph: Graph) -> list[UnsupportedOperator]:
    """Lists what keeps a graph that was read from being imported."""
    found: dict[tuple[str, str, int, str], list[str]] = {}
    for node in all_nodes(graph):
        handler = find_handler(node)
        reason = handler.check(node) if handler else _no_handler(node)
        if reason:
            key = (node.domain, node.op_type, node.since_version, reason)
            found.setdefault(key, []).append(node.name)
    return [
        UnsupportedOperator(domain, op_type, version, tuple(nodes), reason)
        for (domain, op_type, version, reason), nodes in found.items()
    ]


def _no_handler(node: Node) -> str:
    versions = registered().get((node.domain, node.op_type))
    if not versions:
        return "no handler is registered for it"
    return f"its version {node.since_version or node.opset} has no handler, only {versions[0]} on"
