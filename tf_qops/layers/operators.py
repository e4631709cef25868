"""Operators on 8-bit codes as layers: each is one function of `tf_qops`, see `Operator`."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_qops.layers.operator import Operator
from tf_qops.ops import along_axis, elementwise, integer, linear, pooling, qlinear

_PARTS = ("", "_scale", "_zero_point")
_register = keras.saving.register_keras_serializable(package="tf_qops")


@_register
class QLinearMatMul(Operator):
    """ONNX QLinearMatMul: `tf_qops.qlinear_matmul` as an `Operator`."""

    function = staticmethod(qlinear.qlinear_matmul)


@_register
class QGemm(Operator):
    """com.microsoft QGemm: `tf_qops.qgemm` as an `Operator`."""

    function = staticmethod(qlinear.qgemm)


@_register
class MatMulInteger(Operator):
    """ONNX MatMulInteger: `tf_qops.matmul_integer` as an `Operator`."""

    function = staticmethod(integer.matmul_integer)


@_register
class ConvInteger(Operator):
    """ONNX ConvInteger: `tf_qops.conv_integer` as an `Operator`."""

    function = staticmethod(integer.conv_integer)


@_register
class MatMulIntegerToFloat(Operator):
    """com.microsoft MatMulIntegerToFloat: `tf_qops.matmul_integer_to_float` as an `Operator`."""

    function = staticmethod(integer.matmul_integer_to_float)


@_register
class DynamicQuantizeMatMul(Operator):
    """com.microsoft DynamicQuantizeMatMul: `tf_qops.dynamic_quantize_matmul` as an `Operator`."""

    function = staticmethod(integer.dynamic_quantize_matmul)


@_register
class DynamicQuantizeLinear(Operator):
    """ONNX DynamicQuantizeLinear: `tf_qops.dynamic_quantize_linear`; gives [y, scale, zero point].

    Example:

    >>> y, scale, zero_point = DynamicQuantizeLinear()(tf.constant([-253.0, 0.0, 257.0]))
    >>> y.numpy().tolist(), float(scale), int(zero_point)
    ([0, 126, 254], 2.0, 126)
    """

    function = staticmethod(linear.dynamic_quantize_linear)
    has_xla_kernel = True


@_register
class QLinearAdd(Operator):
    """com.microsoft QLinearAdd: `tf_qops.qlinear_add` as an `Operator`."""

    function = staticmethod(elementwise.qlinear_add)
    has_xla_kernel = True


@_register
class QLinearMul(Operator):
    """com.microsoft QLinearMul: `tf_qops.qlinear_mul` as an `Operator`."""

    function = staticmethod(elementwise.qlinear_mul)
    has_xla_kernel = True


@_register
class QLinearLeakyRelu(Operator):
    """com.microsoft QLinearLeakyRelu: `tf_qops.qlinear_leaky_relu` as an `Operator`."""

    function = staticmethod(elementwise.qlinear_leaky_relu)
    has_xla_kernel = True


@_register
class QLinearSigmoid(Operator):
    """com.microsoft QLinearSigmoid: `tf_qops.qlinear_sigmoid` as an `Operator`."""

    function = staticmethod(elementwise.qlinear_sigmoid)
    has_xla_kernel = True


@_register
class QLinearSoftmax(Operator):
    """com.microsoft QLinearSoftmax: `tf_qops.qlinear_softmax` as an `Operator`."""

    function = staticmethod(along_axis.qlinear_softmax)
    has_xla_kernel = True


@_register
class QLinearAveragePool(Operator):
    """com.microsoft QLinearAveragePool: `tf_qops.qlinear_average_pool` as an `Operator`."""

    function = staticmethod(pooling.qlinear_average_pool)
    has_xla_kernel = True


@_register
class QLinearGlobalAveragePool(Operator):
    """com.microsoft QLinearGlobalAveragePool: `tf_qops.qlinear_global_average_pool`."""

    function = staticmethod(pooling.qlinear_global_average_pool)
    has_xla_kernel = True


def _concat(
    y_scale: tf.Tensor, y_zero_point: tf.Tensor, *, axis: int, name: str | None = None, **x: Any
) -> tf.Tensor:
    """Calls `qlinear_concat` with x0, x0_scale, x0_zero_point, x1 and so on in this order."""
    names = [f"x{i}{part}" for i in range(-(-len(x) // 3)) for part in _PARTS]
    if set(names) != set(x):
        raise ValueError(f"The operands must be {names}. Received: {sorted(x)}")
    triples = [x[n] for n in names]
    return along_axis.qlinear_concat(y_scale, y_zero_point, *triples, axis=axis, name=name)


@_register
class QLinearConcat(Operator):
    """com.microsoft QLinearConcat: `tf_qops.qlinear_concat` as an `Operator`.

    The operands of the first tensor are x0, x0_scale and x0_zero_point, then come x1's, and so on.
    All of them must be named, in `constants` or `inputs`.

    Example:

    >>> scales = {"x0_scale": 0.5, "x1_scale": 1.0, "y_scale": 0.5}
    >>> zeros = dict.fromkeys(["x0_zero_point", "x1_zero_point", "y_zero_point"], np.uint8(0))
    >>> layer = QLinearConcat(scales | zeros, ["x0", "x1"], {"axis": 0})
    >>> layer([tf.constant([1], tf.uint8), tf.constant([2], tf.uint8)]).numpy().tolist()
    [1, 4]
    """

    function = staticmethod(_concat)
    has_xla_kernel = True
