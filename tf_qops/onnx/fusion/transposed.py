"""ConvTranspose of dequantized tensors: a convolution of codes with zero points between them."""

from __future__ import annotations

import dataclasses

import numpy as np

from tf_qops.onnx.fusion import reasons
from tf_qops.onnx.fusion.codes import Codes
from tf_qops.onnx.fusion.editor import Editor
from tf_qops.onnx.fusion.outcome import Fused, NotFusedError
from tf_qops.onnx.fusion.products import activation, convolved, weights
from tf_qops.onnx.reader import Node


def conv_transpose(editor: Editor, node: Node) -> Fused:
    """As Conv, with zero points between the codes and flipped filters."""
    x, w = activation(editor, node.inputs[0]), weights(editor, node.inputs[1], 1)
    kernel = editor.constants[w.name]
    spatial = kernel.ndim - 2
    if node.attribute("auto_pad", "NOTSET") != "NOTSET" or node.attribute("output_shape"):
        raise NotFusedError(reasons.SHAPE_IMPLIED)
    strides = node.attribute("strides", (1,) * spatial)
    stride = strides[0]
    if set(strides) != {1} and (spatial != 2 or len(set(strides)) > 1):
        raise NotFusedError(reasons.UNEQUAL_STRIDES)
    dilations = node.attribute("dilations", (1,) * spatial)
    pads = np.reshape(node.attribute("pads", (0,) * (2 * spatial)), (2, spatial))
    reach = np.multiply(dilations, np.subtract(kernel.shape[2:], 1))
    # Each code has stride - 1 zero points behind it, the last one too.
    behind = np.subtract(node.attribute("output_padding", (0,) * spatial), stride - 1)
    conv_pads = reach - pads + np.stack([np.zeros_like(behind), behind])
    if (conv_pads < 0).any():
        raise NotFusedError(reasons.PADS_BEYOND_KERNEL)
    groups = node.attribute("group", 1)
    attributes = {"dilations": list(dilations), "group": groups, "pads": conv_pads.ravel().tolist()}
    if stride > 1:
        x = _spread(editor, node, x, kernel.shape[0], stride)
    return convolved(editor, node, x, _flipped(editor, w, groups), attributes)


def _spread(editor: Editor, node: Node, x: Codes, channels: int, stride: int) -> Codes:
    """Puts stride - 1 zero points behind each code of both axes: as further channels first."""
    pads = np.int64([0, 0, 0, 0, 0, channels * (stride**2 - 1), 0, 0])
    inputs = [
        x.name,
        editor.add_constant(f"{node.name}_channels", pads),
        editor.add_constant(f"{node.name}_zero_point", x.zero_point),
    ]
    padded = editor.add("Pad", inputs, editor.new_name(f"{node.name}_padded"))
    editor.note_codes(padded, x.dtype)
    spread = editor.add("DepthToSpace", [padded], editor.new_name(f"{node.name}_spread"),
                        {"blocksize": stride, "mode": "DCR"})  # fmt: skip
    editor.note_codes(spread, x.dtype)
    return dataclasses.replace(x, name=spread)


def _flipped(editor: Editor, w: Codes, groups: int) -> Codes:
    """Returns filters [channels, filters / groups, ...] as Conv has them."""
    kernel = editor.constants[w.name]
    channels, filters, *places = kernel.shape
    split = kernel.reshape(groups, channels // groups, filters, *places).swapaxes(1, 2)
    array = np.flip(split.reshape(groups * filters, channels // groups, *places),
                    tuple(range(2, kernel.ndim)))  # fmt: skip
    name = editor.add_constant(f"{w.name}_flipped", np.ascontiguousarray(array))
    if w.per_tensor:
        return dataclasses.replace(w, name=name)
    scale, zero_point = (np.tile(v, groups) for v in (w.scale, w.zero_point))
    return dataclasses.replace(w, name=name, scale=scale, zero_point=zero_point, axis=0)
