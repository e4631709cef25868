"""The nodes of a model as boxes to draw."""

from __future__ import annotations

import pathlib

import keras

from tf_qops.inspection import saved
from tf_qops.inspection.drawing import Box
from tf_qops.inspection.inspect import fused, type_text
from tf_qops.onnx.reader import Graph, Node, free_names, read
from tf_qops.onnx.registry import find_handler
from tf_qops.onnx.report import computes_in_floats

_CONVERTS = {"Dequantize", "DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"}
_MOVES = {
    *("Cast", "Concat", "Concatenate", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity"),
    *("Pad", "Permute", "Reshape", "Shape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile"),
    *("Transpose", "Unsqueeze", "QLinearConcat"),
}


def onnx_boxes(path: pathlib.Path) -> dict[str, Box]:
    """Returns the graph of an ONNX file, without what computes constants."""
    graph = read(path)
    becomes = {node.outputs[0]: done.into for done in fused(graph).fused for node in done.nodes}
    boxes = {
        f"in:{info.name}": Box(
            info.name, "input or output", f"{info.name}: {type_text(info.dtype, info.shape)}", ()
        )
        for info in graph.inputs
    }
    maker = {info.name: f"in:{info.name}" for info in graph.inputs}
    for i, node in enumerate(graph.nodes):
        inner = [name for body in node.graphs() for name in free_names(body)]
        reads = [maker[name] for name in (*node.inputs, *inner) if name in maker]
        if not reads:
            continue
        key = f"n{i}"
        maker.update((name, key) for name in node.outputs if name)
        boxes[key] = Box(node.op_type, _kind(node, becomes), _tooltip(graph, node, becomes), reads)
    for name in graph.outputs:
        if name in maker:
            boxes[f"out:{name}"] = Box(name, "input or output", name, (maker[name],))
    return boxes


def _kind(node: Node, becomes: dict[str, str]) -> str:
    handler = find_handler(node)
    if handler is None or handler.check(node):
        return "not imported"
    if node.op_type in _CONVERTS:
        return "between codes and floats"
    if node.op_type in _MOVES:
        return "moves values"
    if node.outputs[0] in becomes:
        return "floats, fused to integers"
    integers = node.op_type.startswith("QLinear") or node.op_type.endswith("Integer")
    return "integers" if integers or not computes_in_floats(node) else "floats"


def _tooltip(graph: Graph, node: Node, becomes: dict[str, str]) -> str:
    lines = [f"{node.op_type} {node.name}"]
    for name in node.inputs:
        if name in graph.constants:
            array = graph.constants[name]
            lines.append(f"{name}: {type_text(array.dtype.name, array.shape)}")
    if node.outputs[0] in becomes:
        lines.append(f"becomes {becomes[node.outputs[0]]}")
    return "\n".join(lines)


def keras_boxes(path: pathlib.Path) -> dict[str, Box]:
    """Returns the graph of a functional Keras model; of another one its layers in a row."""
    model = saved.load(path)
    operations = saved.operations(model)
    boxes: dict[str, Box] = {}
    before: tuple[str, ...] = ()
    names = {id(operation): operation.name for operation in operations}
    for operation in operations:
        kind = type(operation).__name__
        reads = [
            names[id(tensor._keras_history.operation)]
            for node in operation._inbound_nodes
            for tensor in node.input_tensors
            if id(tensor._keras_history.operation) in names
        ]
        if not hasattr(model, "operations"):
            reads = list(before)
        boxes[operation.name] = Box(
            kind, _keras_kind(operation), f"{kind} {operation.name}",
            [name for name in reads if name in boxes],
        )  # fmt: skip
        before = (operation.name,)
    return boxes


def _keras_kind(operation: keras.Operation) -> str:
    kind = type(operation).__name__
    if kind == "InputLayer":
        return "input or output"
    if kind in _CONVERTS:
        return "between codes and floats"
    if kind in _MOVES:
        return "moves values"
    output = operation.output if operation._inbound_nodes else None
    first = output[0] if isinstance(output, (list, tuple)) and output else output
    dtype = getattr(first, "dtype", "float32")
    return "integers" if "int" in str(dtype) or kind.startswith("QLinear") else "floats"
