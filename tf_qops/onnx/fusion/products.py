"""Conv, MatMul and Gemm of dequantized tensors: products of integers.

Each has two integer forms. The exact one, whose result is quantized, is QLinearConv, QLinearMatMul
or QGemm; its bias must be int32 in units of x_scale * w_scale. Where that is not so, or the result
stays float, the sums are still integers, scaled in float32 and added to the bias of the file.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx

from tf_qops.onnx.fusion import reasons
from tf_qops.onnx.fusion.codes import BYTES, Codes, widened
from tf_qops.onnx.fusion.editor import Editor
from tf_qops.onnx.fusion.ends import End, find_end
from tf_qops.onnx.fusion.outcome import MICROSOFT, Fused, NotFusedError
from tf_qops.onnx.reader import Node


@dataclasses.dataclass(frozen=True, eq=False)
class Bias:
    """A bias: int32 in units of x_scale * w_scale, or float32 where it is not exactly that."""

    codes: np.ndarray | None
    values: np.ndarray


def activation(editor: Editor, name: str) -> Codes:
    """Returns the codes of an operand with one scale."""
    codes = editor.dequantized(name)
    if codes is None or not codes.per_tensor or codes.dtype not in BYTES:
        raise NotFusedError(reasons.NOT_BYTES)
    return codes


def weights(editor: Editor, name: str, channel_axis: int) -> Codes:
    """Returns the codes of a constant operand, in bytes, with scales along one axis at most."""
    codes = editor.dequantized(name)
    if codes is None:
        raise NotFusedError(reasons.NOT_BYTES)
    if codes.name not in editor.constants:
        raise NotFusedError(reasons.NO_CONSTANT)
    array = editor.constants[codes.name]
    if not codes.per_tensor and codes.axis % array.ndim != channel_axis % array.ndim:
        raise NotFusedError(reasons.OTHER_AXIS)
    bytes_, zero_point = widened(array), widened(codes.zero_point)
    if bytes_.dtype.name not in BYTES:
        raise NotFusedError(reasons.NOT_BYTES)
    if bytes_ is not array:
        name = editor.add_constant(f"{codes.name}_{bytes_.dtype}", bytes_)
        codes = dataclasses.replace(codes, name=name, zero_point=zero_point)
    return codes


def parameters(editor: Editor, codes: Codes) -> tuple[str, str]:
    """Returns the names of new constants: scale and zero point."""
    return (
        editor.add_constant(f"{codes.name}_scale", codes.scale),
        editor.add_constant(f"{codes.name}_zero_point", codes.zero_point),
    )


def bias_of(editor: Editor, name: str, unit: np.ndarray) -> Bias:
    """Returns a constant bias of at most one dimension.

    Args:
        editor: the graph.
        name: of the float tensor.
        unit: x_scale * w_scale, float32.
    """
    codes = editor.dequantized(name)
    if codes is not None and codes.name in editor.constants:
        array = editor.constants[codes.name]
        difference = array.astype(np.int64) - codes.zero_point
        values = difference.astype(np.float32) * codes.scale
        exact = codes.dtype == "int32" and not codes.zero_point.any()
        in_units = np.array_equal(*np.broadcast_arrays(codes.scale, unit))
        return Bias(array.astype(np.int32) if exact and in_units else None, values)
    if name not in editor.constants:
        raise NotFusedError(reasons.BIAS_COMPUTED)
    values = editor.constants[name]
    steps = np.rint(values.astype(np.float64) / unit)
    if (np.abs(steps) < 2**31).all():
        whole = steps.astype(np.int32)
        if np.array_equal(whole.astype(np.float32) * unit, values):
            return Bias(whole, values)
    return Bias(None, values)


def conv(editor: Editor, node: Node) -> Fused:
    """QLinearConv; else ConvInteger, Cast, Mul and Add."""
    x, w = activation(editor, node.inputs[0]), weights(editor, node.inputs[1], 0)
    return convolved(editor, node, x, w, node.attributes)


def convolved(editor: Editor, node: Node, x: Codes, w: Codes, attributes: object) -> Fused:
    """Adds the convolution of a node with the bias of its third input."""
    unit = x.scale * w.scale
    bias = bias_of(editor, node.inputs[2], unit) if node.has_input(2) else None
    end = find_end(editor, node.outputs[0])
    operands = [x.name, *parameters(editor, x), w.name, *parameters(editor, w)]
    if isinstance(end, End) and (bias is None or bias.codes is not None):
        filters = editor.constants[w.name].shape[0]
        extra = []
        if bias is not None:
            whole = np.broadcast_to(bias.codes.reshape(-1), (filters,))
            extra = [editor.add_constant(f"{node.name}_bias", whole)]
        return quantized(editor, node, end, "QLinearConv", operands, extra, attributes)

    codes = [operands[i] for i in (0, 3, 2, 5)]
    sums = editor.add("ConvInteger", codes, editor.new_name(f"{node.name}_sums"), attributes,
                      name=node.name)  # fmt: skip
    places = (1,) * (editor.constants[w.name].ndim - 2)
    as_channels = lambda values: values.reshape(-1, *places) if values.size > 1 else values  # noqa: E731
    return scaled(editor, node, sums, as_channels(unit), bias and as_channels(bias.values))


def matmul(editor: Editor, node: Node) -> Fused:
    """QLinearMatMul; else MatMulIntegerToFloat."""
    a = activation(editor, node.inputs[0])
    b = editor.dequantized(node.inputs[1])
    if b is not None and b.name in editor.constants:
        b = weights(editor, node.inputs[1], -1)
        if not b.per_tensor and editor.constants[b.name].ndim != 2:
            raise NotFusedError(reasons.OTHER_AXIS)
    else:
        b = activation(editor, node.inputs[1])
    end = find_end(editor, node.outputs[0])
    if isinstance(end, End):
        operands = [a.name, *parameters(editor, a), b.name, *parameters(editor, b)]
        return quantized(editor, node, end, "QLinearMatMul", operands)
    return to_float(editor, node, a, b, None)


def gemm(editor: Editor, node: Node) -> Fused:
    """QGemm; else MatMulIntegerToFloat."""
    transposed = bool(node.attribute("transB", 0))
    a, b = activation(editor, node.inputs[0]), weights(editor, node.inputs[1], int(not transposed))
    if node.attribute("alpha", 1.0) != 1 or (
        node.has_input(2) and node.attribute("beta", 1.0) != 1
    ):
        raise NotFusedError(reasons.FACTORS)
    unit = a.scale * b.scale
    bias = bias_of(editor, node.inputs[2], unit) if node.has_input(2) else None
    if bias is not None and bias.values.ndim > 1 and bias.values.shape[0] != 1:
        raise NotFusedError(reasons.BIAS_ROWS)
    end = find_end(editor, node.outputs[0])
    if isinstance(end, End) and (bias is None or bias.codes is not None):
        operands = [a.name, *parameters(editor, a), b.name, *parameters(editor, b)]
        operands.append(
            "" if bias is None else editor.add_constant(f"{node.name}_bias", bias.codes)
        )
        attributes = {k: v for k, v in node.attributes.items() if k in ("transA", "transB")}
        return quantized(editor, node, end, "QGemm", operands, (), attributes, MICROSOFT)
    if node.attribute("transA", 0):
        raise NotFusedError(reasons.TRANSPOSED_FLOAT)
    if transposed:
        array = np.ascontiguousarray(editor.constants[b.name].T)
        b = dataclasses.replace(b, name=editor.add_constant(f"{b.name}_transposed", array))
    columns = editor.constants[b.name].shape[1]
    values = None if bias is None else np.broadcast_to(bias.values.reshape(-1), (columns,))
    return to_float(editor, node, a, b, values)


def quantized(
    editor: Editor,
    node: Node,
    end: End,
    op_type: str,
    operands: list[str],
    extra: list[str] | tuple[str, ...] = (),
    attributes: object = None,
    domain: str = "",
) -> Fused:
    """Adds the operator that writes an end's codes; `extra` operands stand behind y's."""
    output = end.nodes[-1].outputs[0]
    written = end.write(editor, output)
    inputs = [*operands, *parameters(editor, end.codes), *extra]
    editor.add(op_type, inputs, written, attributes, domain=domain, name=node.name)
    end.limit(editor, written, output)
    editor.note_codes(output, end.codes.dtype)
    return Fused(op_type, (node, *end.nodes))


def to_float(editor: Editor, node: Node, a: Codes, b: Codes, bias: np.ndarray | None) -> Fused:
    """Adds a product of integers whose result is float."""
    (a_scale, a_zero), (b_scale, b_zero) = parameters(editor, a), parameters(editor, b)
    inputs = [a.name, b.name, a_scale, b_scale, a_zero, b_zero]
    if bias is not None:
        inputs.append(editor.add_constant(f"{node.name}_bias", bias))
    editor.add("MatMulIntegerToFloat", inputs, node.outputs[0], domain=MICROSOFT, name=node.name)
    return Fused("MatMulIntegerToFloat", (node,))


def scaled(
    editor: Editor, node: Node, sums: str, unit: np.ndarray, bias: np.ndarray | None
) -> Fused:
    """Adds what makes float32 numbers of integer sums."""
    scale = editor.add_constant(f"{node.name}_scale", unit)
    floats = editor.add("Cast", [sums], editor.new_name(f"{node.name}_cast"),
                        {"to": onnx.TensorProto.FLOAT})  # fmt: skip
    product = node.outputs[0] if bias is None else editor.new_name(f"{node.name}_scaled")
    editor.add("Mul", [floats, scale], product)
    if bias is not None:
        editor.add("Add", [product, editor.add_constant(f"{node.name}_bias", bias)],
                   node.outputs[0])  # fmt: skip
    return Fused("ConvInteger", (node,))
