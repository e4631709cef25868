"""Keras layers: quantized operators whose scales and zero points are weights of the layer.

All need Keras 3 on TensorFlow; the functions of `tf_qops` work without Keras.
"""

from tf_qops.layers import _requirements  # noqa: F401  (checked before Keras layers are defined)
from tf_qops.layers.arithmetic import Modulo, TruncatingDivide
from tf_qops.layers.average_pool import AveragePool
from tf_qops.layers.constant import Constant
from tf_qops.layers.control import Branch, Loop, Scan
from tf_qops.layers.convolution import Convolution, TransposedConvolution
from tf_qops.layers.dequantize import Dequantize
from tf_qops.layers.dynamic import DynamicConv1D, DynamicConv2D, DynamicConv3D, DynamicDense
from tf_qops.layers.fake_quantize import FakeQuantizeLinear
from tf_qops.layers.imported_model import ImportedModel
from tf_qops.layers.linear import DequantizeLinear, QuantizeLinear
from tf_qops.layers.lstm import DynamicQuantizeLSTM
from tf_qops.layers.max_pool import MaxPool
from tf_qops.layers.nbits import GatherBlockQuantized, MatMulNBits
from tf_qops.layers.non_max_suppression import NonMaxSuppression
from tf_qops.layers.operators import (
    ConvInteger,
    DynamicQuantizeLinear,
    DynamicQuantizeMatMul,
    MatMulInteger,
    MatMulIntegerToFloat,
    QGemm,
    QLinearAdd,
    QLinearAveragePool,
    QLinearConcat,
    QLinearGlobalAveragePool,
    QLinearLeakyRelu,
    QLinearMatMul,
    QLinearMul,
    QLinearSigmoid,
    QLinearSoftmax,
)
from tf_qops.layers.parameter import Parameter
from tf_qops.layers.places import CumSum, DepthToSpace, Pad, SpaceToDepth, Triangle
from tf_qops.layers.qlinear_conv import QLinearConv1D, QLinearConv2D, QLinearConv3D
from tf_qops.layers.qlinear_dense import QLinearDense
from tf_qops.layers.quantize_aware import (
    QuantizeAwareConv1D,
    QuantizeAwareConv2D,
    QuantizeAwareDense,
    QuantizeAwareDepthwiseConv1D,
    QuantizeAwareDepthwiseConv2D,
)
from tf_qops.layers.recurrent import Recurrent
from tf_qops.layers.reshape import Flatten, Reshape
from tf_qops.layers.resize import Resize
from tf_qops.layers.select import (
    ArgExtreme,
    GatherND,
    NonZero,
    OneHot,
    ScatterElements,
    ScatterND,
    TopK,
)
from tf_qops.layers.shapes import Expand, Fill, Range, ReshapeTo, Shape, Slice, Squeeze, Tile

__all__ = [
    "ArgExtreme",
    "AveragePool",
    "Branch",
    "Constant",
    "ConvInteger",
    "Convolution",
    "CumSum",
    "DepthToSpace",
    "Dequantize",
    "DequantizeLinear",
    "DynamicConv1D",
    "DynamicConv2D",
    "DynamicConv3D",
    "DynamicDense",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeLinear",
    "DynamicQuantizeMatMul",
    "Expand",
    "FakeQuantizeLinear",
    "Fill",
    "Flatten",
    "GatherBlockQuantized",
    "GatherND",
    "ImportedModel",
    "Loop",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "MatMulNBits",
    "MaxPool",
    "Modulo",
    "NonMaxSuppression",
    "NonZero",
    "OneHot",
    "Pad",
    "Parameter",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearConv1D",
    "QLinearConv2D",
    "QLinearConv3D",
    "QLinearDense",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMatMul",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QuantizeAwareConv1D",
    "QuantizeAwareConv2D",
    "QuantizeAwareDense",
    "QuantizeAwareDepthwiseConv1D",
    "QuantizeAwareDepthwiseConv2D",
    "QuantizeLinear",
    "Range",
    "Recurrent",
    "Reshape",
    "ReshapeTo",
    "Resize",
    "Scan",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Slice",
    "SpaceToDepth",
    "Squeeze",
    "Tile",
    "TopK",
    "TransposedConvolution",
    "Triangle",
    "TruncatingDivide",
]
