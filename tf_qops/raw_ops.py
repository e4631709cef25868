"""The operators as they are registered, in the manner of `tf.raw_ops`.

`tfq.raw_ops.QLinearConv` is the operator `TfQops>QLinearConv`. Arguments are given by keyword;
optional inputs are lists of no or one tensor; raw_ops.pyi has the signatures. Prefer the functions
of `tfq`, which convert their arguments.

>>> x = tf.constant([0, 2, 255], tf.uint8)
>>> zero_point = tf.constant(128, tf.uint8)
>>> tfq.raw_ops.DequantizeLinear(x=x, x_scale=0.5, x_zero_point=[zero_point]).numpy()
array([-64. , -63. ,  63.5], dtype=float32)
"""

from collections.abc import Callable

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import gradients as _gradients  # noqa: F401  (registers them)

_PREFIX = "TfQops_"


def __getattr__(name: str) -> Callable[..., tf.Tensor]:
    if not name.startswith("_"):
        operator = getattr(_library.load(), _PREFIX + name, None)
        if operator is not None:
            return operator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = (name for name in dir(_library.load()) if name.startswith(_PREFIX))
    return [name.removeprefix(_PREFIX) for name in names]
