"""Finds out which graph inputs are images."""

from __future__ import annotations

from tf_qops.onnx.reader import Graph
from tf_qops.onnx.registry import find_handler


def image_inputs(graph: Graph) -> set[str]:
    """Returns the graph inputs that reach an image operator through elementwise ones.

    The operators' handlers say which those are.
    """
    images: set[str] = set()
    for node in reversed(graph.nodes):
        layout = find_handler(node).layout
        if layout == "image":
            images.add(node.inputs[0])
        elif layout == "any" and not images.isdisjoint(node.outputs):
            images.update(node.inputs)
    return {i.name for i in graph.inputs if i.name in images and len(i.shape) > 2}
