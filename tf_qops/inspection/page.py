"""An inspection as one HTML page."""

from __future__ import annotations

import os
import pathlib

import numpy as np

from tf_qops import _page
from tf_qops._progress import steps
from tf_qops.inspection.drawing import Box, draw, legend
from tf_qops.inspection.report import InspectReport, codes_text, scale_text
from tf_qops.onnx.reader import read
from tf_qops.onnx.weights import QuantizedTensor, quantized_constants

_MOST_BOXES = 3000
_MOST_HISTOGRAMS = 60


def write_page(report: InspectReport, path: str | os.PathLike[str]) -> None:
    """Writes a page with the graph drawn, histograms of the weights, and all tables.

    Args:
        report: what was found.
        path: of the page.

    Raises:
        ImportError: matplotlib is missing.
    """
    source = pathlib.Path(report.path)
    oddities = [_page.paragraph(text, "bad") for text in report.oddities]
    oddities = oddities or [_page.paragraph("Nothing odd about scales and operators.", "good")]
    facts = [("kind", report.kind), ("quantized", ", ".join(report.quantization) or "not told")]
    facts += report.facts.items()
    sections = [
        _page.section("Result", *oddities, _page.table(("fact", "value"), facts)),
        _page.section("Inputs and outputs", _ends(report)),
        *_graph(report, source),
        _page.section("Operators", _operators(report)),
        _page.section("Size", _sizes(report)),
    ]
    if report.parameters:
        sections.append(_page.section("Scales and zero points", _parameters(report)))
    if report.fused or report.stays_float:
        sections.append(_page.section("Fusion", _fusion(report)))
    sections += _histograms(report, source)
    _page.write(path, f"{source.name}: inspected", report.path, sections)


def _ends(report: InspectReport) -> str:
    rows = [(name, "input", spec) for name, spec in report.inputs.items()]
    rows += [(name, "output", spec) for name, spec in report.outputs.items()]
    return _page.table(("tensor", "", "type"), rows)


def _graph(report: InspectReport, source: pathlib.Path) -> list[str]:
    from tf_qops.inspection.boxes import keras_boxes, onnx_boxes

    if report.kind == "SavedModel":
        return []
    boxes: dict[str, Box] = (onnx_boxes if report.kind == "ONNX" else keras_boxes)(source)
    if len(boxes) > _MOST_BOXES:
        text = f"Not drawn: {len(boxes)} nodes are more than {_MOST_BOXES}."
        return [_page.section("Graph", _page.paragraph(text, "muted"))]
    hint = _page.paragraph("Rest the pointer on a node for its name and constants.", "muted")
    drawing = f'<div class="scroll graph">{draw(boxes)}</div>'
    return [_page.section("Graph", hint, legend(boxes), drawing)]


def _operators(report: InspectReport) -> str:
    rows = [(op.name, op.nodes, op.unsupported or "yes") for op in report.operators]
    bad = [i for i, op in enumerate(report.operators) if op.unsupported]
    if report.kind == "ONNX":
        return _page.table(("operator", ">nodes", "import"), rows, bad)
    return _page.table(("operator", ">nodes"), [row[:2] for row in rows])


def _sizes(report: InspectReport) -> str:
    rows = [(name, f"{size:,}") for name, size in report.parts.items()]
    rows += [(f"constants of {name}", f"{size:,}") for name, size in report.dtypes.items()]
    return _page.table(("part", ">bytes"), rows)


def _parameters(report: InspectReport) -> str:
    rows = [
        (
            p.tensor, p.role, p.dtype, p.granularity, p.scales, scale_text(p), p.zero_point,
            codes_text(p), "; ".join(p.notes),
        )
        for p in report.parameters
    ]  # fmt: skip
    bad = [i for i, p in enumerate(report.parameters) if p.notes]
    headers = (
        "tensor", "role", "type", "granularity", ">scales", ">scale", ">zero point", ">codes", "odd"
    )  # fmt: skip
    return _page.table(headers, rows, bad)


def _fusion(report: InspectReport) -> str:
    rows = [(f.into, ", ".join(f.nodes)) for f in report.fused]
    parts = [_page.table(("becomes", "made of"), rows)] if rows else []
    if report.stays_float:
        floats = [(f.node, f.op_type, f.reason) for f in report.stays_float]
        parts.append(_page.paragraph("Stays float between Q/DQ:"))
        parts.append(_page.table(("node", "operator", "why"), floats))
    return "".join(parts)


def _histograms(report: InspectReport, source: pathlib.Path) -> list[str]:
    """Returns histograms of the codes of the weights and of what they stand for."""
    if report.kind != "ONNX":
        return []
    weights = {
        name: tensor
        for name, tensor in quantized_constants(read(source)).items()
        if tensor.values.size > 1 and "int" in tensor.values.dtype.name
        and tensor.values.dtype != np.int32
    }  # fmt: skip
    largest = sorted(weights, key=lambda name: -weights[name].values.size)[:_MOST_HISTOGRAMS]
    chosen = [name for name in weights if name in largest]
    if not chosen:
        return []
    parts = []
    if len(chosen) < len(weights):
        parts.append(_page.paragraph(f"The {len(chosen)} largest of {len(weights)}.", "muted"))
    for i, name in enumerate(steps(chosen, "Histograms")):
        tensor = weights[name]
        text = f"{name}: {tensor.values.dtype} {list(tensor.values.shape)}"
        parts += [_page.paragraph(text), _histogram(tensor, f"h{i}")]
    return [_page.section("Histograms of weights: codes, dequantized values", *parts)]


def _histogram(tensor: QuantizedTensor, name: str) -> str:
    figure = _page.new_figure(1.7)
    left, right = figure.subplots(1, 2)
    codes = tensor.values.astype(np.int64).reshape(-1)
    low, high = int(codes.min()), int(codes.max())
    width = max(1, -(-(high - low + 1) // 256))
    edges = np.arange(low, high + width + 1, width) - 0.5
    left.stairs(*np.histogram(codes, edges), fill=True, color=_page.COLORS[0])
    for zero in np.unique(tensor.zero_point.astype(np.int64))[:1]:
        left.axvline(zero, color=_page.COLORS[1], lw=0.8)
    values = tensor.dequantize().astype(np.float64).reshape(-1)
    values = values[np.isfinite(values)]
    if values.size:
        right.stairs(*np.histogram(values, 64), fill=True, color=_page.COLORS[2])
    for axes, label in ((left, "code (line: zero point)"), (right, "value")):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        axes.set_xlabel(label, fontsize=8)
        axes.set_ylabel("count", fontsize=8)
    return _page.svg(figure, name)
