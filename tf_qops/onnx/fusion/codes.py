"""Quantized tensors of a graph: which codes they hold and what those stand for."""

from __future__ import annotations

import dataclasses

import numpy as np

from tf_qops.ops import linear

BYTES = ("int8", "uint8")
_WIDENED = {"int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8"}


@dataclasses.dataclass(frozen=True, eq=False)
class Codes:
    """A tensor of codes.

    Attributes:
        name: of the tensor.
        scale: float32.
        zero_point: of the codes' dtype and scale's shape.
        axis: along which there are several scales; None for one scale.
    """

    name: str
    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None

    @property
    def dtype(self) -> str:
        """The codes' type."""
        return self.zero_point.dtype.name

    @property
    def per_tensor(self) -> bool:
        """Whether one scale serves all."""
        return self.axis is None

    def same_format(self, other: Codes) -> bool:
        """Returns whether equal codes of both stand for equal numbers."""
        return (
            self.per_tensor
            and other.per_tensor
            and self.dtype == other.dtype
            and self.scale == other.scale
            and self.zero_point == other.zero_point
        )

    def quantize(self, value: float) -> int:
        """Returns the code of a number."""
        code = linear.quantize_linear(np.float32(value), self.scale, self.zero_point)
        return int(code.numpy())

    def represents(self, value: float) -> bool:
        """Returns whether a code stands for exactly this number."""
        difference = np.float32(self.quantize(value) - int(self.zero_point))
        return bool(difference * self.scale == np.float32(value))

    def limits(self) -> tuple[int, int]:
        """Returns the lowest and highest code."""
        info = np.iinfo(self.dtype)
        return info.min, info.max


def make_codes(
    name: str, scale: np.ndarray, zero_point: np.ndarray | None, dtype: str, axis: int
) -> Codes | None:
    """Returns codes, or None where the scales are not positive, finite float32 numbers.

    Args:
        name: of the tensor.
        scale: as the file has it.
        zero_point: likewise; None is 0.
        dtype: of the codes where there is no zero point.
        axis: used where there are several scales.
    """
    if scale.dtype != np.float32 or scale.ndim > 1:
        return None
    tiny = np.finfo(np.float32).tiny
    if not (np.isfinite(scale).all() and (scale >= tiny).all()):
        return None
    if zero_point is None:
        zero_point = np.zeros(scale.shape, np.dtype(dtype))
    if zero_point.dtype.name not in (*BYTES, *_WIDENED, "int32", "int16", "uint16"):
        return None
    if scale.size == 1:
        return Codes(name, scale.reshape(()), zero_point.reshape(()), None)
    return Codes(name, scale, zero_point, axis)


def widened(array: np.ndarray) -> np.ndarray:
    """Returns codes of 4 and 2 bits in bytes, others as they are."""
    return array.astype(_WIDENED.get(array.dtype.name, array.dtype))
