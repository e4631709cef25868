"""ONNX-quantized files: their weights as arrays, their graphs as Keras models.

Needs the extra "onnx": `pip install 'tf_qops[onnx]'`.
"""

try:
    import onnx as _onnx  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("tf_qops.onnx needs ONNX: pip install 'tf_qops[onnx]'") from error

from tf_qops.onnx.assign import assign_weights
from tf_qops.onnx.errors import OnnxFileError, UnsupportedOperator, UnsupportedOperatorsError
from tf_qops.onnx.importer import import_model
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.report import AssignReport, ImportReport
from tf_qops.onnx.support import unsupported_operators
from tf_qops.onnx.weights import QuantizedTensor, load_weights

__all__ = [
    "AssignReport",
    "ImportReport",
    "OnnxFileError",
    "QuantizedTensor",
    "UnsupportedOperator",
    "UnsupportedOperatorsError",
    "assign_weights",
    "import_model",
    "load_weights",
    "register_handler",
    "unsupported_operators",
]
