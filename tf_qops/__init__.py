"""ONNX- and TensorFlow-quantized numbers inside TensorFlow: exact, fast, trainable."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from tf_qops._library import build_info, register
from tf_qops.ops import gradients as _gradients  # noqa: F401  (registers them)
from tf_qops.ops.along_axis import qlinear_concat, qlinear_softmax
from tf_qops.ops.dequantize import dequantize, quantize
from tf_qops.ops.elementwise import (
    qlinear_add,
    qlinear_leaky_relu,
    qlinear_mul,
    qlinear_sigmoid,
)
from tf_qops.ops.fake_quantize import fake_quantize_linear
from tf_qops.ops.integer import (
    conv_integer,
    dynamic_quantize_matmul,
    matmul_integer,
    matmul_integer_to_float,
)
from tf_qops.ops.linear import dequantize_linear, dynamic_quantize_linear, quantize_linear
from tf_qops.ops.lstm import dynamic_quantize_lstm
from tf_qops.ops.nbits import gather_block_quantized, matmul_nbits
from tf_qops.ops.pooling import qlinear_average_pool, qlinear_global_average_pool
from tf_qops.ops.qlinear import qgemm, qlinear_conv, qlinear_matmul

if TYPE_CHECKING:
    from tf_qops import layers, onnx, raw_ops

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "build_info",
    "conv_integer",
    "dequantize",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "dynamic_quantize_lstm",
    "dynamic_quantize_matmul",
    "fake_quantize_linear",
    "gather_block_quantized",
    "layers",
    "matmul_integer",
    "matmul_integer_to_float",
    "matmul_nbits",
    "onnx",
    "qgemm",
    "qlinear_add",
    "qlinear_average_pool",
    "qlinear_concat",
    "qlinear_conv",
    "qlinear_global_average_pool",
    "qlinear_leaky_relu",
    "qlinear_matmul",
    "qlinear_mul",
    "qlinear_sigmoid",
    "qlinear_softmax",
    "quantize",
    "quantize_linear",
    "raw_ops",
    "register",
]

_LAZY = ("layers", "onnx", "raw_ops")


def __getattr__(name: str) -> ModuleType:
    if name in _LAZY:
        return importlib.import_module(f"tf_qops.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
