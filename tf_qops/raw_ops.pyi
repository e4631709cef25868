from collections.abc import Sequence
from typing import Literal, NamedTuple

import tensorflow as tf

_RangeMode = Literal["MIN_COMBINED", "MIN_FIRST", "SCALED"]

class _Quantized(NamedTuple):
    output: tf.Tensor
    output_min: tf.Tensor
    output_max: tf.Tensor

def Dequantize(
    *,
    input: tf.Tensor,
    min_range: tf.Tensor,
    max_range: tf.Tensor,
    mode: _RangeMode = "MIN_COMBINED",
    narrow_range: bool = False,
    axis: int = -1,
    axis_from_end: bool = False,
    dtype: tf.DType = tf.float32,
    name: str | None = None,
) -> tf.Tensor: ...
def Quantize(
    *,
    input: tf.Tensor,
    min_range: tf.Tensor,
    max_range: tf.Tensor,
    T: tf.DType = tf.quint8,
    mode: _RangeMode = "MIN_COMBINED",
    round_mode: Literal["HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"] = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int = -1,
    axis_from_end: bool = False,
    ensure_minimum_range: float = 0.01,
    name: str | None = None,
) -> _Quantized: ...
def DequantizeLinear(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: Sequence[tf.Tensor],
    output_dtype: tf.DType = tf.float32,
    axis: int = 1,
    block_size: int = 0,
    name: str | None = None,
) -> tf.Tensor: ...
def QuantizeLinear(
    *,
    x: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: Sequence[tf.Tensor],
    output_dtype: tf.DType = tf.uint8,
    axis: int = 1,
    block_size: int = 0,
    saturate: bool = True,
    precision: tf.DType = tf.float32,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearConv(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    w: tf.Tensor,
    w_scale: tf.Tensor,
    w_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    bias: Sequence[tf.Tensor],
    kernel_shape: Sequence[int] = [],
    strides: Sequence[int] = [],
    dilations: Sequence[int] = [],
    pads: Sequence[int] = [],
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    group: int = 1,
    data_format: Literal["NCHW", "NHWC"] = "NCHW",
    name: str | None = None,
) -> tf.Tensor: ...
