"""Keras layers: quantized operators whose scales and zero points are weights of the layer.

All need Keras 3 on TensorFlow; the functions of `tf_qops` work without Keras.
"""

from tf_qops.layers import _requirements  # noqa: F401  (checked before Keras layers are defined)
from tf_qops.layers.constant import Constant
from tf_qops.layers.dequantize import Dequantize
from tf_qops.layers.linear import DequantizeLinear, QuantizeLinear
from tf_qops.layers.max_pool import MaxPool
from tf_qops.layers.qlinear_conv import QLinearConv1D, QLinearConv2D, QLinearConv3D
from tf_qops.layers.reshape import Flatten, Reshape

__all__ = [
    "Constant",
    "Dequantize",
    "DequantizeLinear",
    "Flatten",
    "MaxPool",
    "QLinearConv1D",
    "QLinearConv2D",
    "QLinearConv3D",
    "QuantizeLinear",
    "Reshape",
]
