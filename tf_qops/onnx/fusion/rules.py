"""The table: what each float operator becomes, in order of preference."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tf_qops.onnx.fusion import elementwise, products, transposed, value_preserving
from tf_qops.onnx.fusion.editor import Editor
from tf_qops.onnx.fusion.outcome import Fused
from tf_qops.onnx.reader import Node

Rule = Callable[[Editor, Node], Fused]

_MOVES = (
    "DepthToSpace",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "GlobalMaxPool",
    "Identity",
    "ReduceMax",
    "ReduceMin",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Unsqueeze",
)

RULES: Mapping[str, tuple[Rule, ...]] = {
    "Add": (elementwise.binary,),
    "AveragePool": (elementwise.average_pool,),
    "Clip": (value_preserving.limit,),
    "Concat": (value_preserving.concat_alike, elementwise.concat),
    "Conv": (products.conv,),
    "ConvTranspose": (transposed.conv_transpose,),
    "Gemm": (products.gemm,),
    "GlobalAveragePool": (elementwise.global_average_pool,),
    "MatMul": (products.matmul,),
    "MaxPool": (value_preserving.max_pool,),
    "Mul": (elementwise.binary,),
    "Pad": (value_preserving.pad,),
    "Relu": (value_preserving.limit,),
    "Resize": (value_preserving.nearest,),
    "Transpose": (value_preserving.transpose,),
    **dict.fromkeys(_MOVES, (value_preserving.on_codes,)),
}
