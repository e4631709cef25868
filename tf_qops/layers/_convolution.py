"""What the convolutions of integers share: their geometry, kernel and bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from tf_qops.layers._base import QuantizedLayer

_AUTO_PAD = {"valid": "VALID", "same": "SAME_UPPER", "same_lower": "SAME_LOWER"}
_LAYOUTS = {"channels_first": "NCHW", "channels_last": "NHWC"}


def _per_dimension(name: str, value: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """Returns one number for each spatial dimension."""
    values = (value,) * rank if isinstance(value, int) else tuple(int(v) for v in value)
    if len(values) != rank or min(values) < 1:
        raise ValueError(f"{name} must be {rank} positive integers. Received: {name}={value}")
    return values


class IntegerConvolution(QuantizedLayer):
    """Base of the convolutions of integers; a subclass says its number of spatial dimensions.

    Args:
        parameters: as `QuantizedLayer` has them; w_zero_point has the kernel's dtype.
        bias_dtype: of the weight `bias`.
        filters, kernel_size, strides, padding, dilation_rate, groups, use_bias, data_format: as
            `QLinearConv2D` has them.
        **kwargs: those of `keras.layers.Layer`.
    """

    rank: ClassVar[int]

    def __init__(
        self,
        parameters: Mapping[str, np.ndarray | None],
        bias_dtype: str,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int],
        padding: str | Sequence[int],
        dilation_rate: int | Sequence[int],
        groups: int,
        use_bias: bool,
        data_format: str | None,
        **kwargs: Any,
    ):
        super().__init__(parameters, **kwargs)
        self._bias_dtype = bias_dtype
        self.filters = filters
        self.kernel_size = _per_dimension("kernel_size", kernel_size, self.rank)
        self.strides = _per_dimension("strides", strides, self.rank)
        self.dilation_rate = _per_dimension("dilation_rate", dilation_rate, self.rank)
        self.groups = groups
        if groups < 1 or filters < 1 or filters % groups:
            raise ValueError(
                "filters must be a positive multiple of groups. "
                f"Received: filters={filters}, groups={groups}"
            )
        self.padding = padding if isinstance(padding, str) else tuple(int(p) for p in padding)
        if self.padding not in _AUTO_PAD and (
            isinstance(padding, str) or len(self.padding) != 2 * self.rank or min(self.padding) < 0
        ):
            raise ValueError(
                f'padding must be "valid", "same", "same_lower" or {2 * self.rank} numbers from 0 '
                f"(first all begins, then all ends). Received: padding={padding}"
            )
        self.data_format = keras.config.image_data_format() if data_format is None else data_format
        if self.data_format not in _LAYOUTS:
            raise ValueError(
                f"data_format must be one of {list(_LAYOUTS)}. Received: data_format={data_format}"
            )
        self.use_bias = use_bias
        self.input_spec = keras.layers.InputSpec(ndim=self.rank + 2)
        self.supports_jit = False
        self.kernel = None
        self.bias = None

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates kernel (int8 or uint8 zeros), bias (zeros) and the parameters."""
        channels = input_shape[1 if self.data_format == "channels_first" else -1]
        if channels is None or channels % self.groups:
            raise ValueError(
                "The number of channels must be known and a multiple of groups. "
                f"Received: input_shape={input_shape}, groups={self.groups}"
            )
        kernel_shape = (self.filters, channels // self.groups, *self.kernel_size)
        kernel_dtype = self._initial["w_zero_point"].dtype
        self.kernel = self.add_fixed_weight("kernel", np.zeros(kernel_shape, kernel_dtype))
        if self.use_bias:
            self.bias = self.add_fixed_weight("bias", np.zeros(self.filters, self._bias_dtype))
        self.add_parameters()

    def build_with(self, kernel: np.ndarray, bias: np.ndarray) -> None:
        """Builds the layer for a kernel, and assigns it; the bias too, if there is to be one."""
        shape: list[int | None] = [None] * (self.rank + 2)
        shape[1 if self.data_format == "channels_first" else -1] = kernel.shape[1] * self.groups
        self.build(tuple(shape))
        self.assign(kernel=kernel)
        if self.use_bias:
            self.assign(bias=bias)

    def attributes(self) -> dict[str, Any]:
        """Returns the geometry as the operators take it."""
        explicit = not isinstance(self.padding, str)
        return {
            "strides": self.strides,
            "dilations": self.dilation_rate,
            "pads": self.padding if explicit else None,
            "auto_pad": "NOTSET" if explicit else _AUTO_PAD[self.padding],
            "group": self.groups,
            "data_format": _LAYOUTS[self.data_format],
        }

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return super().get_config() | {
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "dilation_rate": self.dilation_rate,
            "groups": self.groups,
            "use_bias": self.use_bias,
            "data_format": self.data_format,
        }
