from collections.abc import Sequence
from typing import Literal, NamedTuple

import tensorflow as tf

_RangeMode = Literal["MIN_COMBINED", "MIN_FIRST", "SCALED"]

class _Quantized(NamedTuple):
    output: tf.Tensor
    output_min: tf.Tensor
    output_max: tf.Tensor

class _LstmOutputs(NamedTuple):
    y: tf.Tensor
    y_h: tf.Tensor
    y_c: tf.Tensor

class _DynamicallyQuantized(NamedTuple):
    y: tf.Tensor
    y_scale: tf.Tensor
    y_zero_point: tf.Tensor

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
def ConvInteger(
    *,
    x: tf.Tensor,
    w: tf.Tensor,
    x_zero_point: Sequence[tf.Tensor],
    w_zero_point: Sequence[tf.Tensor],
    kernel_shape: Sequence[int] = [],
    strides: Sequence[int] = [],
    dilations: Sequence[int] = [],
    pads: Sequence[int] = [],
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    group: int = 1,
    data_format: Literal["NCHW", "NHWC"] = "NCHW",
    name: str | None = None,
) -> tf.Tensor: ...
def MatMulInteger(
    *,
    a: tf.Tensor,
    b: tf.Tensor,
    a_zero_point: Sequence[tf.Tensor],
    b_zero_point: Sequence[tf.Tensor],
    name: str | None = None,
) -> tf.Tensor: ...
def MatMulIntegerToFloat(
    *,
    a: tf.Tensor,
    b: tf.Tensor,
    a_scale: tf.Tensor,
    b_scale: tf.Tensor,
    a_zero_point: Sequence[tf.Tensor],
    b_zero_point: Sequence[tf.Tensor],
    bias: Sequence[tf.Tensor],
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearMatMul(
    *,
    a: tf.Tensor,
    a_scale: tf.Tensor,
    a_zero_point: tf.Tensor,
    b: tf.Tensor,
    b_scale: tf.Tensor,
    b_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    name: str | None = None,
) -> tf.Tensor: ...
def QGemm(
    *,
    a: tf.Tensor,
    a_scale: tf.Tensor,
    a_zero_point: tf.Tensor,
    b: tf.Tensor,
    b_scale: tf.Tensor,
    b_zero_point: tf.Tensor,
    c: Sequence[tf.Tensor],
    y_scale: Sequence[tf.Tensor],
    y_zero_point: Sequence[tf.Tensor],
    output_dtype: tf.DType = tf.float32,
    trans_a: bool = False,
    trans_b: bool = False,
    alpha: float = 1.0,
    name: str | None = None,
) -> tf.Tensor: ...
def DynamicQuantizeLinear(
    *,
    x: tf.Tensor,
    name: str | None = None,
) -> _DynamicallyQuantized: ...
def QLinearAdd(
    *,
    a: tf.Tensor,
    a_scale: tf.Tensor,
    a_zero_point: tf.Tensor,
    b: tf.Tensor,
    b_scale: tf.Tensor,
    b_zero_point: tf.Tensor,
    c_scale: tf.Tensor,
    c_zero_point: tf.Tensor,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearMul(
    *,
    a: tf.Tensor,
    a_scale: tf.Tensor,
    a_zero_point: tf.Tensor,
    b: tf.Tensor,
    b_scale: tf.Tensor,
    b_zero_point: tf.Tensor,
    c_scale: tf.Tensor,
    c_zero_point: tf.Tensor,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearLeakyRelu(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    alpha: float = 0.01,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearSigmoid(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearSoftmax(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    axis: int = -1,
    opset: int = 13,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearConcat(
    *,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    x: Sequence[tf.Tensor],
    x_scale: Sequence[tf.Tensor],
    x_zero_point: Sequence[tf.Tensor],
    axis: int,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearAveragePool(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    kernel_shape: Sequence[int],
    strides: Sequence[int] = [],
    dilations: Sequence[int] = [],
    pads: Sequence[int] = [],
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    channels_last: bool = False,
    name: str | None = None,
) -> tf.Tensor: ...
def QLinearGlobalAveragePool(
    *,
    x: tf.Tensor,
    x_scale: tf.Tensor,
    x_zero_point: tf.Tensor,
    y_scale: tf.Tensor,
    y_zero_point: tf.Tensor,
    channels_last: bool = False,
    name: str | None = None,
) -> tf.Tensor: ...
def DynamicQuantizeMatMul(
    *,
    a: tf.Tensor,
    b: tf.Tensor,
    b_scale: tf.Tensor,
    b_zero_point: Sequence[tf.Tensor],
    bias: Sequence[tf.Tensor],
    name: str | None = None,
) -> tf.Tensor: ...
def MatMulNBits(
    *,
    a: tf.Tensor,
    b: tf.Tensor,
    scales: tf.Tensor,
    zero_points: Sequence[tf.Tensor],
    g_idx: Sequence[tf.Tensor],
    bias: Sequence[tf.Tensor],
    k: int,
    n: int,
    bits: int = 4,
    block_size: int = 32,
    name: str | None = None,
) -> tf.Tensor: ...
def GatherBlockQuantized(
    *,
    data: tf.Tensor,
    indices: tf.Tensor,
    scales: tf.Tensor,
    zero_points: Sequence[tf.Tensor],
    gather_axis: int = 0,
    quantize_axis: int = 1,
    block_size: int = 128,
    bits: int = 4,
    name: str | None = None,
) -> tf.Tensor: ...
def DynamicQuantizeLSTM(
    *,
    x: tf.Tensor,
    w: tf.Tensor,
    r: tf.Tensor,
    bias: Sequence[tf.Tensor],
    sequence_lens: Sequence[tf.Tensor],
    initial_h: Sequence[tf.Tensor],
    initial_c: Sequence[tf.Tensor],
    peepholes: Sequence[tf.Tensor],
    w_scale: tf.Tensor,
    w_zero_point: tf.Tensor,
    r_scale: tf.Tensor,
    r_zero_point: tf.Tensor,
    hidden_size: int,
    direction: Literal["forward", "reverse", "bidirectional"] = "forward",
    activations: Sequence[str] = [],
    activation_alpha: Sequence[float] = [],
    activation_beta: Sequence[float] = [],
    clip: float = 0.0,
    input_forget: bool = False,
    name: str | None = None,
) -> _LstmOutputs: ...
