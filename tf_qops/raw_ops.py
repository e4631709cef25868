"""The registered operators as TensorFlow wraps them, without checks or defaults of Python's.

`raw_ops.dequantize_linear` is the wrapper generated for `TfQops>DequantizeLinear`; every operator
is here under its name in snake_case. Optional inputs are lists of no or one tensor. raw_ops.pyi has
the signatures. Prefer the functions of `tf_qops`: they convert and check their arguments.

>>> tfq.raw_ops.dequantize_linear([0, 2, 255], 0.5, [np.uint8(128)]).numpy()
array([-64. , -63. ,  63.5], dtype=float32)
"""

from typing import Any

from tf_qops import _library

_PREFIX = "tf_qops_"


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        wrapper = getattr(_library.load(), _PREFIX + name, None)
        if wrapper is not None:
            return wrapper
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = (name for name in dir(_library.load()) if not name.endswith("_eager_fallback"))
    return [name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)]
