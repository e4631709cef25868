"""Makes the arguments and weights of a quantized layer out of a float one."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np

from tf_qops.ops import linear

_CONVOLUTIONS = {
    1: (keras.layers.Conv1D, keras.layers.DepthwiseConv1D),
    2: (keras.layers.Conv2D, keras.layers.DepthwiseConv2D),
    3: (keras.layers.Conv3D,),
}
_DEPTHWISE = (keras.layers.DepthwiseConv1D, keras.layers.DepthwiseConv2D)
_ZERO_POINTS = {"int8": np.int8(0), "uint8": np.uint8(128)}

# A bias code of this size leaves as much of int32 to the products.
_LARGEST_BIAS = 2**30


class QuantizedWeights(NamedTuple):
    """Kernel [filters, channels / groups, ...] in codes, scale and zero point, and the bias."""

    kernel: np.ndarray
    scale: np.ndarray
    zero_point: np.ndarray
    bias: np.ndarray


def onnx_kernel(layer: keras.layers.Layer) -> np.ndarray:
    """Returns the kernel of a layer in ONNX's layout, float32; a Dense's as [units, inputs].

    Keras has [..., channels / groups, filters], or [..., channels, multiplier] where each channel
    has filters of its own.
    """
    kernel = np.asarray(layer.kernel, np.float32)
    spatial = range(kernel.ndim - 2)
    if isinstance(layer, _DEPTHWISE):
        kernel = kernel.transpose(-2, -1, *spatial)
        return kernel.reshape(-1, 1, *kernel.shape[2:])
    return kernel.transpose(-1, -2, *spatial)


def convolution(rank: int, layer: keras.layers.Layer) -> dict[str, Any]:
    """Returns the arguments of a QLinearConv layer that convolves as a Keras layer does.

    Raises:
        TypeError: no convolution of this rank.
        ValueError: not built.
    """
    if not isinstance(layer, _CONVOLUTIONS[rank]):
        names = " or ".join(kind.__name__ for kind in _CONVOLUTIONS[rank])
        raise TypeError(f"layer must be a {names}. Received: {type(layer).__name__}")
    _check_built(layer)
    padding = layer.padding
    if padding == "causal":
        padding = ((layer.kernel_size[0] - 1) * layer.dilation_rate[0], 0)
    return {
        "filters": len(onnx_kernel(layer)),
        "kernel_size": layer.kernel_size,
        "strides": layer.strides,
        "padding": padding,
        "dilation_rate": layer.dilation_rate,
        "groups": layer.kernel.shape[-2] if isinstance(layer, _DEPTHWISE) else layer.groups,
        "use_bias": layer.use_bias,
        "data_format": layer.data_format,
        "name": layer.name,
    }


def dense(layer: keras.layers.Layer) -> dict[str, Any]:
    """Returns the arguments of a layer of integers that multiplies as a Keras Dense does.

    Raises:
        TypeError: no Dense.
        ValueError: not built.
    """
    if not isinstance(layer, keras.layers.Dense):
        raise TypeError(f"layer must be a Dense. Received: {type(layer).__name__}")
    _check_built(layer)
    return {"units": layer.units, "use_bias": layer.use_bias, "name": layer.name}


def _check_built(layer: keras.layers.Layer) -> None:
    if not layer.built:
        raise ValueError(f"layer must be built, to have weights. Received: {layer.name!r}")


def weights(
    layer: keras.layers.Layer, x_scale: Any, per_channel: bool, dtype: str
) -> QuantizedWeights:
    """Quantizes kernel and bias; with an x_scale of None the bias stays float32.

    Raises:
        ValueError: a dtype other than int8 and uint8.
    """
    if dtype not in _ZERO_POINTS:
        raise ValueError(
            f"weight_dtype must be one of {list(_ZERO_POINTS)}. Received: weight_dtype={dtype!r}"
        )
    kernel = onnx_kernel(layer)
    bias = np.zeros(len(kernel)) if layer.bias is None else np.asarray(layer.bias, np.float64)
    scale = np.abs(kernel).reshape(len(kernel), -1).max(1) / np.float32(127)
    if x_scale is not None:
        x_scale = np.float32(x_scale)
        scale = np.maximum(scale, np.abs(bias) / (np.float64(x_scale) * _LARGEST_BIAS))
    scale = scale.astype(np.float32) if per_channel else scale.max().astype(np.float32)
    scale = np.where(scale < np.finfo(np.float32).tiny, np.float32(1), scale)
    zero_point = np.full_like(scale, _ZERO_POINTS[dtype], dtype)
    if x_scale is None:
        bias = bias.astype(np.float32)
    else:
        bias = np.rint(bias / (x_scale * scale).astype(np.float64)).astype(np.int32)
    codes = linear.quantize_linear(kernel, scale, zero_point, axis=0).numpy()
    return QuantizedWeights(codes, scale, zero_point, bias)


def check_activation(layer: keras.layers.Layer, y_zero_point: np.ndarray) -> None:
    """Refuses an activation that the limits of the output's codes do not imply.

    Raises:
        ValueError: neither linear nor, with the lowest code as zero point, relu.
    """
    name = getattr(layer.activation, "__name__", str(layer.activation))
    cut = name == "relu" and y_zero_point == np.iinfo(y_zero_point.dtype).min
    if name != "linear" and not cut:
        raise ValueError(
            "The activation must be linear, or relu where y_zero_point is the lowest code. "
            f"Received: activation={name}, y_zero_point={y_zero_point} ({y_zero_point.dtype})"
        )
