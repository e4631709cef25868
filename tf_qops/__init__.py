"""ONNX- and TensorFlow-quantized numbers inside TensorFlow: exact, fast, trainable."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from tf_qops._library import build_info, register
from tf_qops.ops.dequantize import dequantize, quantize
from tf_qops.ops.integer import conv_integer, matmul_integer, matmul_integer_to_float
from tf_qops.ops.linear import dequantize_linear, quantize_linear
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
    "layers",
    "matmul_integer",
    "matmul_integer_to_float",
    "onnx",
    "qgemm",
    "qlinear_conv",
    "qlinear_matmul",
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
