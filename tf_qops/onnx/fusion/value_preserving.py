"""Operators that move or choose numbers: on the codes, and dequantized after it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tf_qops.onnx.fusion import reasons
from tf_qops.onnx.fusion.codes import BYTES, Codes
from tf_qops.onnx.fusion.editor import Editor
from tf_qops.onnx.fusion.ends import limits_of
from tf_qops.onnx.fusion.outcome import Fused, NotFusedError
from tf_qops.onnx.fusion.products import activation
from tf_qops.onnx.reader import Node


def on_codes(editor: Editor, node: Node) -> Fused:
    """The same operator on the codes of its first input."""
    codes = activation(editor, node.inputs[0])
    return _moved(editor, node, codes, (codes.name, *node.inputs[1:]), node.attributes)


def transpose(editor: Editor, node: Node) -> Fused:
    """The same on the codes; constants are transposed at once, with their scales' axis."""
    codes = editor.dequantized(node.inputs[0])
    if codes is None or codes.name not in editor.constants:
        return on_codes(editor, node)
    array = editor.constants[codes.name]
    order = list(node.attribute("perm", range(array.ndim)[::-1]))
    axis = None if codes.per_tensor else order.index(codes.axis % array.ndim)
    name = editor.add_constant(f"{node.outputs[0]}_codes", array.transpose(order))
    editor.dequantize(node.outputs[0], dataclasses.replace(codes, name=name, axis=axis))
    return Fused("Transpose", (node,))


def nearest(editor: Editor, node: Node) -> Fused:
    """Resize on the codes."""
    if node.attribute("mode", "nearest") != "nearest":
        raise NotFusedError(reasons.INTERPOLATES)
    if node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        raise NotFusedError(reasons.EXTRAPOLATES)
    return on_codes(editor, node)


def max_pool(editor: Editor, node: Node) -> Fused:
    """MaxPool on the codes, which are in the order of the numbers."""
    if len(node.outputs) > 1 and node.outputs[1]:
        raise NotFusedError(reasons.INDICES_USED)
    return on_codes(editor, node)


def pad(editor: Editor, node: Node) -> Fused:
    """Pad with the code of its value."""
    codes = activation(editor, node.inputs[0])
    by_attributes = node.since_version < 11
    if not by_attributes and node.has_input(2) and not node.is_constant(2):
        raise NotFusedError(reasons.VALUE_COMPUTED)
    value = node.attribute("value", 0.0) if by_attributes else node.constant(2, np.float32(0))
    value = float(np.asarray(value).item())
    if node.attribute("mode", "constant") == "constant" and not codes.represents(value):
        raise NotFusedError(reasons.VALUE_BETWEEN_CODES)
    code = np.array(codes.quantize(value), codes.dtype)
    if by_attributes:
        return _moved(editor, node, codes, (codes.name,), node.attributes | {"value": float(code)})
    constant = editor.add_constant(f"{node.name}_value", code)
    inputs = (codes.name, node.inputs[1], constant, *node.inputs[3:])
    return _moved(editor, node, codes, inputs, node.attributes)


def limit(editor: Editor, node: Node) -> Fused:
    """Relu or Clip on the codes, where codes stand for its limits."""
    codes = activation(editor, node.inputs[0])
    limits = limits_of(node)
    if limits is None or not all(math.isinf(v) or codes.represents(v) for v in limits):
        raise NotFusedError(reasons.LIMITS_BETWEEN_CODES)
    bounds = [
        editor.add_constant(f"{node.name}_limit", np.array(codes.quantize(v), codes.dtype))
        for v in limits
    ]
    output = editor.new_name(f"{node.outputs[0]}_codes")
    editor.add("Clip", [codes.name, *bounds], output, name=node.name)
    editor.dequantize(node.outputs[0], dataclasses.replace(codes, name=output))
    return Fused("Clip", (node,))


def concat_alike(editor: Editor, node: Node) -> Fused:
    """Concat on codes of one format."""
    parts = [activation(editor, name) for name in node.inputs]
    if not all(part.same_format(parts[0]) for part in parts):
        raise NotFusedError(reasons.DIFFERENT_SCALES)
    return _moved(editor, node, parts[0], tuple(part.name for part in parts), node.attributes)


def _moved(
    editor: Editor, node: Node, codes: Codes, inputs: tuple[str, ...], attributes: object
) -> Fused:
    """Adds the node on codes, and dequantizes each of its outputs."""
    if codes.dtype not in BYTES:
        raise NotFusedError(reasons.NOT_BYTES)
    names = tuple(editor.new_name(f"{name}_codes") if name else "" for name in node.outputs)
    editor.emit(
        dataclasses.replace(node, inputs=inputs, outputs=names, attributes=dict(attributes))
    )
    for output, name in zip(node.outputs, names, strict=True):
        if name:
            editor.dequantize(output, dataclasses.replace(codes, name=name))
    return Fused(node.op_type, (node,))
