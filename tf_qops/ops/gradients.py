"""Gradients of the operators whose result depends smoothly on their parameters.

Codes have none: quantizing passes no gradient on. `tfq.fake_quantize_linear` has the estimators.
Importing this module registers them, whether the libraries are loaded yet or not.
"""

from typing import Any

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _granularity

tf.no_gradient("TfQops>QuantizeLinear")
tf.no_gradient("TfQops>Quantize")


def _float_differences(op: Any) -> tf.Tensor:
    """Returns what a DequantizeLinear multiplies with its scale, as float32."""
    x, x_scale, *x_zero_point = op.inputs
    return _library.load().tf_qops_dequantize_linear(
        x=x,
        x_scale=tf.ones_like(x_scale, tf.float32),
        x_zero_point=x_zero_point,
        axis=op.get_attr("axis"),
        block_size=op.get_attr("block_size"),
    )


@tf.RegisterGradient("TfQops>DequantizeLinear")
def _dequantize_linear(op: Any, dy: tf.Tensor) -> list[tf.Tensor | None]:
    """Of x_scale: the sum of `dy * (x - x_zero_point)`, in float32."""
    x_scale = op.inputs[1]
    products = tf.cast(dy, tf.float32) * _float_differences(op)
    sums = _granularity.summed(products, x_scale, op.get_attr("axis"), op.get_attr("block_size"))
    return [None, tf.cast(sums, x_scale.dtype), *[None] * (len(op.inputs) - 2)]


@tf.RegisterGradient("TfQops>Dequantize")
def _dequantize(op: Any, dy: tf.Tensor) -> list[tf.Tensor | None]:
    """Of min_range and max_range; MIN_FIRST's rounding of min passes its gradient straight on."""
    codes, low, high = op.inputs
    plain = tf.as_dtype(codes.dtype.name.removeprefix("q"))
    lowest, highest = float(plain.min), float(plain.max)
    axis = op.get_attr("axis")
    axis = -1 - axis if op.get_attr("axis_from_end") else axis
    # In this mode and range a code stands for itself.
    values = _library.load().tf_qops_dequantize(
        input=codes, min_range=lowest, max_range=highest, mode="SCALED"
    )
    dy = tf.cast(dy, tf.float32)

    def of_range(weights: tf.Tensor) -> tf.Tensor:
        return _granularity.summed(dy * weights, low, axis)

    if op.get_attr("mode") != b"SCALED":
        share = (values - lowest) / (highest - lowest)
        return [None, of_range(1 - share), of_range(share)]
    from_high = of_range(values / highest)
    if not lowest:
        return [None, tf.zeros_like(low), from_high]
    lowest += float(op.get_attr("narrow_range"))
    chosen = low / lowest < high / highest
    zeros = tf.zeros_like(low)
    return [
        None,
        tf.where(chosen, zeros, of_range(values / lowest)),
        tf.where(chosen, from_high, zeros),
    ]
