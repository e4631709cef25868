"""Add, Mul, average pooling and Concat of dequantized tensors."""

from __future__ import annotations

from tf_qops.onnx.fusion import reasons
from tf_qops.onnx.fusion.editor import Editor
from tf_qops.onnx.fusion.ends import End, find_end
from tf_qops.onnx.fusion.outcome import MICROSOFT, Fused, NotFusedError
from tf_qops.onnx.fusion.products import activation, parameters, quantized
from tf_qops.onnx.reader import Node

_POOL_ATTRIBUTES = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")


def _end(editor: Editor, node: Node) -> End:
    end = find_end(editor, node.outputs[0])
    if isinstance(end, str):
        raise NotFusedError(end)
    return end


def binary(editor: Editor, node: Node) -> Fused:
    """QLinearAdd or QLinearMul."""
    a, b = (activation(editor, name) for name in node.inputs)
    end = _end(editor, node)
    operands = [a.name, *parameters(editor, a), b.name, *parameters(editor, b)]
    return quantized(editor, node, end, f"QLinear{node.op_type}", operands, domain=MICROSOFT)


def average_pool(editor: Editor, node: Node) -> Fused:
    """QLinearAveragePool."""
    if set(node.attribute("dilations") or (1,)) != {1}:
        raise NotFusedError(reasons.DILATED_POOL)
    if node.attribute("ceil_mode", 0) and node.attribute("count_include_pad", 0):
        raise NotFusedError(reasons.POOL_OVERHANG)
    attributes = {k: v for k, v in node.attributes.items() if k in _POOL_ATTRIBUTES}
    return _pool(editor, node, "QLinearAveragePool", attributes)


def global_average_pool(editor: Editor, node: Node) -> Fused:
    """QLinearGlobalAveragePool."""
    return _pool(editor, node, "QLinearGlobalAveragePool", {})


def _pool(editor: Editor, node: Node, into: str, attributes: dict[str, object]) -> Fused:
    x = activation(editor, node.inputs[0])
    end = _end(editor, node)
    operands = [x.name, *parameters(editor, x)]
    return quantized(editor, node, end, into, operands, (), attributes, MICROSOFT)


def concat(editor: Editor, node: Node) -> Fused:
    """QLinearConcat."""
    parts = [activation(editor, name) for name in node.inputs]
    end = _end(editor, node)
    output = end.nodes[-1].outputs[0]
    written = end.write(editor, output)
    inputs = [*parameters(editor, end.codes)]
    for part in parts:
        inputs += [part.name, *parameters(editor, part)]
    editor.add("QLinearConcat", inputs, written, node.attributes, domain=MICROSOFT, name=node.name)
    end.limit(editor, written, output)
    editor.note_codes(output, end.codes.dtype)
    return Fused("QLinearConcat", (node, *end.nodes))
