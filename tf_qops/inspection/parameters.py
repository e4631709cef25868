"""Scales and zero points, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np

from tf_qops.inspection.report import Parameter
from tf_qops.onnx.reader import Graph, Node
from tf_qops.onnx.weights import QuantizedTensor

# Of the codes that a weight's type has, fewer in use are odd.
_LEAST_USED = 0.5
# Scales of one tensor that are further apart are odd.
_WIDEST_SPREAD = 1e4
# A bias is added to sums of x_scale * w_scale; scales further from that are odd.
_BIAS_TOLERANCE = 1e-3
_NOT_NEGATIVE = {"Relu", "Sigmoid", "Softmax"}


def describe(
    tensor: str,
    role: str,
    scale: np.ndarray,
    zero_point: np.ndarray,
    granularity: str,
    values: np.ndarray | None = None,
    notes: tuple[str, ...] = (),
) -> Parameter:
    """Returns a scale and zero point with the range of the codes."""
    scales = np.asarray(scale, np.float64).reshape(-1)
    zeros = np.asarray(zero_point).reshape(-1)
    wide = zeros.astype(np.int64 if zeros.dtype.kind in "iu" or _is_int(zeros) else np.float64)
    low, high = (wide.min(), wide.max()) if wide.size else (0, 0)
    codes = None
    if values is not None and values.size and (values.dtype.kind in "iu" or _is_int(values)):
        codes = int(values.min()), int(values.max())
    return Parameter(
        tensor=tensor,
        role=role,
        dtype=(zeros if values is None else values).dtype.name,
        shape=None if values is None else values.shape,
        granularity=granularity,
        scales=scales.size,
        scale_min=float(scales.min(initial=np.inf)) if scales.size else 0.0,
        scale_max=float(scales.max(initial=-np.inf)) if scales.size else 0.0,
        zero_point=f"{low}" if low == high else f"{low} … {high}",
        codes=codes,
        notes=(*_scale_notes(scales), *notes),
    )


def _is_int(array: np.ndarray) -> bool:
    return "int" in array.dtype.name


def _scale_notes(scales: np.ndarray) -> Iterator[str]:
    """Yields what is odd about scales."""
    zero, unfit = int((scales == 0).sum()), int((~np.isfinite(scales) | (scales < 0)).sum())
    if zero:
        yield f"{zero} of {scales.size} scales are 0"
    if unfit:
        yield f"{unfit} of {scales.size} scales are negative or not finite"
    usable = scales[np.isfinite(scales) & (scales > 0)]
    if usable.size and usable.max() > _WIDEST_SPREAD * usable.min():
        yield f"the scales are up to {usable.max() / usable.min():.0e} apart"


def granularity_of(tensor: QuantizedTensor) -> str:
    """Returns how many values share a scale."""
    if tensor.axis is None:
        return "per tensor"
    if tensor.block_size:
        return f"blocks of {tensor.block_size} along axis {tensor.axis}"
    return f"per axis {tensor.axis}"


def weight(name: str, tensor: QuantizedTensor) -> Parameter:
    """Returns a weight's scale and zero point, with what is odd about its codes too."""
    bias = tensor.values.ndim == 1 and tensor.values.dtype == np.int32
    notes = () if bias or not _is_int(tensor.values) else tuple(_code_notes(tensor))
    role = "bias" if bias else "weight"
    granularity = granularity_of(tensor)
    return describe(name, role, tensor.scale, tensor.zero_point, granularity, tensor.values, notes)


def _code_notes(tensor: QuantizedTensor) -> Iterator[str]:
    """Yields what is odd about the codes of a weight."""
    values = tensor.values.astype(np.int64)
    if not values.size:
        return
    limits = ml_dtypes.iinfo(tensor.values.dtype)
    available = int(limits.max) - int(limits.min)
    if tensor.axis is not None and not tensor.block_size:
        centred = np.moveaxis(values, tensor.axis, 0).reshape(values.shape[tensor.axis], -1)
        centred = centred - tensor.zero_point.astype(np.int64).reshape(-1, 1)
        dead = int((centred == 0).all(1).sum())
        if dead:
            yield f"{dead} of {len(centred)} channels are all zero"
    elif (values == tensor.zero_point.astype(np.int64).reshape(-1)[0]).all():
        yield "all values are zero"
        return
    used = int(values.max()) - int(values.min())
    if used < _LEAST_USED * available and values.size > 16:
        yield f"its codes span {used + 1} of {available + 1}"


def graph_parameters(graph: Graph, weights: dict[str, QuantizedTensor]) -> list[Parameter]:
    """Returns the scales and zero points of a graph, in its order."""
    made_by = {name: node for node in graph.nodes for name in node.outputs if name}
    found: dict[str, Parameter] = {}
    for node in graph.nodes:
        for name in node.inputs:
            constant = graph.aliases.get(name, name)
            if constant in weights and constant not in found:
                found[constant] = weight(constant, weights[constant])
        if place := _result_place(node):
            scale, zero = place
            if node.is_constant(scale) and node.outputs[0] not in found:
                found[node.outputs[0]] = _activation(node, scale, zero, made_by)
        for name, note in _bias_notes(node, graph, made_by):
            if name in found:
                p = found[name]
                found[name] = Parameter(**{**vars(p), "notes": (*p.notes, note)})
    return list(found.values())


def _result_place(node: Node) -> tuple[int, int] | None:
    """Returns which inputs are the scale and zero point of a node's result."""
    if node.op_type == "QuantizeLinear":
        return 1, 2
    if node.op_type in ("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"):
        return 6, 7
    if node.op_type == "QGemm":
        return 7, 8
    if node.op_type == "QLinearConcat":
        return 0, 1
    return (3, 4) if node.op_type.startswith("QLinear") else None


def _activation(node: Node, scale: int, zero: int, made_by: dict[str, Node]) -> Parameter:
    scales = np.asarray(node.constant(scale))
    points = np.asarray(node.constant(zero, np.uint8(0)) if node.has_input(zero) else np.uint8(0))
    notes = []
    source = made_by.get(node.inputs[0]) if node.op_type == "QuantizeLinear" else None
    if source is not None and source.op_type in _NOT_NEGATIVE and points.dtype.kind in "iu":
        unused = int(points.astype(np.int64).max()) - int(np.iinfo(points.dtype).min)
        if unused:
            notes.append(f"{unused} codes below zero are never used behind {source.op_type}")
    granularity = "per tensor"
    if scales.size > 1:
        granularity = f"per axis {node.attribute('axis', 1)}"
    return describe(node.outputs[0], "activation", scales, points, granularity, notes=tuple(notes))


def _bias_notes(node: Node, graph: Graph, made_by: dict[str, Node]) -> Iterator[tuple[str, str]]:
    """Yields biases between Q/DQ pairs whose scales are not those of the sums they go to."""
    if node.op_type not in ("Conv", "Gemm", "ConvTranspose") or not node.has_input(2):
        return
    makers = [made_by.get(name) for name in node.inputs[:3]]
    if any(m is None or m.op_type != "DequantizeLinear" or not m.is_constant(1) for m in makers):
        return
    x, w, b = (np.asarray(m.constant(1), np.float64).reshape(-1) for m in makers)
    if x.size != 1 or not (w.size == b.size or 1 in (w.size, b.size)):
        return
    wanted = x * w
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(b / wanted, nan=np.inf)
    off = ratio[np.abs(ratio - 1) > _BIAS_TOLERANCE]
    if off.size:
        name = graph.aliases.get(makers[2].inputs[0], makers[2].inputs[0])
        worst = off[np.argmax(np.abs(off - 1))]
        sums = f"x_scale * w_scale of {node.name}"
        share = f"{off.size} of {ratio.size} of its scales are"
        yield name, f"{share} not {sums}, but up to {worst:.4g} times it"
