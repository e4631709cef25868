"""ONNX- and TensorFlow-quantized numbers inside TensorFlow: exact, fast, trainable."""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf_qops import layers, onnx, raw_ops
    from tf_qops._public import *
    from tf_qops.verification import verify

if importlib.util.find_spec("tensorflow") is None:
    raise ImportError("tf_qops needs TensorFlow: pip install 'tf_qops[cpu]'")

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
    "verify",
]

_MODULES = ("layers", "onnx", "raw_ops")


def __getattr__(name: str) -> Any:
    """Imports what is first asked for: TensorFlow takes seconds, and a command may not need it."""
    if name in _MODULES:
        return importlib.import_module(f"tf_qops.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "tf_qops.verification" if name == "verify" else "tf_qops._public"
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
