"""Goes through a graph and applies the rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import onnx

from tf_qops.onnx.fusion.editor import DEQUANTIZE, QUANTIZE, Editor
from tf_qops.onnx.fusion.outcome import Fused, NotFusedError
from tf_qops.onnx.fusion.rules import RULES
from tf_qops.onnx.reader import Graph, Node

Fold = Callable[[Node, list[np.ndarray | None]], dict[str, np.ndarray] | None]


@dataclasses.dataclass(frozen=True, eq=False)
class Fusion:
    """A graph with integer operators.

    Attributes:
        graph: the new graph.
        fused: what was replaced, in order.
        reasons: first output of a float operator between the pairs -> why it stayed.
    """

    graph: Graph
    fused: tuple[Fused, ...]
    reasons: Mapping[str, str]


def fuse(graph: Graph, fold: Fold) -> Fusion:
    """Returns a graph in which operators between Q/DQ pairs work on integers where that is exact.

    What any other node or output of the graph uses stays as it was.

    Args:
        graph: the graph.
        fold: computes a node of constants, or gives None where that is not worth while.
    """
    editor = Editor(graph)
    fused: list[Fused] = []
    reasons: dict[str, str] = {}
    replaced: set[str] = set()
    for original in graph.nodes:
        node = editor.renamed(original)
        if node.outputs[0] in replaced or _is_folded(editor, node, fold):
            continue
        if _is_plain(editor, node):
            continue
        try:
            done = _apply(editor, node) if any(map(editor.dequantized, node.inputs)) else None
        except NotFusedError as error:
            reasons[node.outputs[0]] = str(error)
            done = None
        if done is None:
            editor.emit(node)
        else:
            fused.append(done)
            replaced.update(n.outputs[0] for n in done.nodes)
    return Fusion(editor.graph(), tuple(fused), reasons)


def _is_folded(editor: Editor, node: Node, fold: Fold) -> bool:
    """Makes constants of what a node of constants makes; returns whether it did."""
    given = [i for i in range(len(node.inputs)) if node.has_input(i)]
    linear = node.op_type in (QUANTIZE, DEQUANTIZE)
    if linear or not given or not all(node.is_constant(i) for i in given):
        return False
    try:
        folded = fold(node, [node.constant(i, None) for i in range(len(node.inputs))])
    except Exception:  # Whoever builds the node says what is wrong with it.
        return False
    for name, value in (folded or {}).items():
        editor.set_constant(name, value)
    return folded is not None


def _is_plain(editor: Editor, node: Node) -> bool:
    """Deals with the nodes that quantize, dequantize or change nothing; returns whether it did."""
    if node.op_type == DEQUANTIZE:
        editor.note_dequantize(node)
        return False
    if node.op_type == QUANTIZE:
        return _quantize(editor, node)
    if node.op_type == "Cast" and not node.domain:
        dtype = editor.dtype(node.inputs[0])
        target = onnx.helper.tensor_dtype_to_np_dtype(node.attribute("to")).name
        if dtype == target:
            editor.alias(node.outputs[0], node.inputs[0])
            return True
    return False


def _quantize(editor: Editor, node: Node) -> bool:
    """Leaves out what quantizes codes to the codes they are, or constants."""
    codes = editor.output_codes(node)
    if codes is None:
        return False
    editor.note_codes(node.outputs[0], codes.dtype)
    source = editor.dequantized(node.inputs[0])
    if source is not None and source.same_format(codes) and codes.dtype in ("int8", "uint8"):
        editor.alias(node.outputs[0], source.name)
        return True
    return node.outputs[0] not in editor.outputs and editor.fold_quantize(node, codes)


def _apply(editor: Editor, node: Node) -> Fused | None:
    """Returns what the first rule that can be applied makes of a node, or None without a rule.

    Raises:
        NotFusedError: none can.
    """
    rules = () if node.domain else RULES.get(node.op_type, ())
    for i, rule in enumerate(rules):
        try:
            return rule(editor, node)
        except NotFusedError:
            if i + 1 == len(rules):
                raise
    return None
