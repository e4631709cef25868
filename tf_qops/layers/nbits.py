"""Layers whose weights have few bits, quantized in blocks and kept packed."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops.layers import _from_float, narrow
from tf_qops.layers._base import as_array, scale_array
from tf_qops.layers._named import NamedOperator
from tf_qops.ops import linear, nbits

_CODES = {2: "uint2", 4: "uint4", 8: "uint8"}


@keras.saving.register_keras_serializable(package="tf_qops")
class MatMulNBits(NamedOperator):
    """Multiplies floats with weights of 2, 4 or 8 bits: `tf_qops.matmul_nbits` as a layer.

    The operands but `a` are weights of the layer, none of them trainable, packed as the function
    takes them.

    Args:
        b: uint8 [n, ceil(k / block_size), block_size * bits / 8].
        scales: floats [n, ceil(k / block_size)], or flat.
        zero_points: uint8, packed, or floats; 2^(bits - 1) where None.
        g_idx: int32 [k]; k // block_size where None.
        bias: floats [n]; none where None.
        k: length of the input's last dimension.
        n: length of the output's.
        bits: 2, 4 or 8.
        block_size: a power of two of at least 16.
        **kwargs: those of `keras.layers.Layer`.

    Input: floats [..., k], computed in the compute dtype: float32, float16 or bfloat16. Output:
    [..., n] in it.

    Raises:
        ValueError: an operand or argument that the function does not take.

    Example:

    >>> b = np.zeros([1, 1, 8], np.uint8)
    >>> b[0, 0, :2] = 0x79, 0x08  # 9, 7 and 8 stand for 1, -1 and 0
    >>> layer = MatMulNBits(b, [[0.5]], k=3, n=1, block_size=16)
    >>> layer(tf.constant([[3.0, 1.0, 5.0]])).numpy().tolist()
    [[1.0]]
    """

    function = staticmethod(nbits.matmul_nbits)

    def __init__(
        self,
        b: Any,
        scales: Any,
        zero_points: Any = None,
        g_idx: Any = None,
        bias: Any = None,
        *,
        k: int,
        n: int,
        bits: int = 4,
        block_size: int = 32,
        **kwargs: Any,
    ):
        scales = scale_array("scales", scales)
        operands = {
            "b": as_array("b", b, "uint8"),
            "scales": scales,
            "zero_points": as_array("zero_points", zero_points, scales.dtype.name),
            "g_idx": as_array("g_idx", g_idx, "int32"),
            "bias": as_array("bias", bias, "float32"),
        }
        attributes = {"k": k, "n": n, "bits": bits, "block_size": block_size}
        super().__init__(operands, ["a"], attributes, **kwargs)

    @classmethod
    def from_float(
        cls,
        layer: keras.layers.Dense,
        bits: int = 4,
        block_size: int = 32,
        symmetric: bool = True,
        **kwargs: Any,
    ) -> MatMulNBits:
        """Quantizes the kernel of a built Keras Dense in blocks; the bias stays.

        Symmetric blocks reach from their value of largest magnitude, code 0, to about its
        negative, with 2^(bits - 1) for 0; others from their lowest value (or 0) to their highest
        (or 0), with a zero point of their own. Codes are `tf_qops.quantize_linear`'s.

        Args:
            layer: a Dense of linear activation.
            bits: 2, 4 or 8.
            block_size: a power of two of at least 16.
            symmetric: whether there are no zero points.
            **kwargs: further arguments of the new layer; its name is that of the old one.

        Returns:
            The new layer, built.

        Raises:
            TypeError: another kind of layer.
            ValueError: a layer that is not built, another activation, or other bits.

        Example:

        >>> layer = keras.layers.Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> MatMulNBits.from_float(layer)(tf.constant([[3.0, 4.0]])).numpy().tolist()
        [[7.0]]
        """
        _from_float.dense(layer)
        if layer.activation is not keras.activations.linear:
            raise ValueError(
                f"The activation must be linear. Received: activation={layer.activation.__name__}"
            )
        if bits not in _CODES:
            raise ValueError(f"bits must be one of {list(_CODES)}. Received: bits={bits}")
        weights = _from_float.onnx_kernel(layer)
        n, k = weights.shape
        blocks = -(-k // block_size)
        padded = np.pad(weights, ((0, 0), (0, blocks * block_size - k)))
        scales, zero_points = _block_parameters(padded.reshape(n, blocks, -1), bits, symmetric)
        codes = linear.quantize_linear(padded, scales, zero_points, 1, block_size).numpy()
        quantized = cls(
            _packed_rows(codes, bits).reshape(n, blocks, -1),
            scales,
            None if symmetric else _packed_rows(zero_points, bits),
            bias=None if layer.bias is None else np.asarray(layer.bias, np.float32),
            k=k,
            n=n,
            bits=bits,
            block_size=block_size,
            **{"name": layer.name} | kwargs,
        )
        quantized.build((None, k))
        return quantized

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns the product."""
        return super().call(tf.cast(x, self.compute_dtype))

    def tensor(self, name: str) -> tf.Tensor | None:
        """Returns a weight's current value; the bias in the compute dtype, as the input has it."""
        value = super().tensor(name)
        return tf.cast(value, self.compute_dtype) if name == "bias" and value is not None else value


def _block_parameters(
    blocks: np.ndarray, bits: int, symmetric: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Returns scales and zero points [n, blocks] of weights [n, blocks, block_size]."""
    lowest = np.minimum(blocks.min(-1), 0)
    highest = np.maximum(blocks.max(-1), 0)
    middle = 2 ** (bits - 1)
    if symmetric:
        scales = np.where(-lowest >= highest, lowest, highest) / np.float32(-middle)
    else:
        scales = (highest - lowest) / np.float32(2**bits - 1)
    scales = np.where(np.abs(scales) < np.finfo(np.float32).tiny, np.float32(1), scales)
    zero_points = np.full_like(scales, middle) if symmetric else np.rint(-lowest / scales)
    codes = tf.as_dtype(_CODES[bits]).as_numpy_dtype
    return scales, zero_points.clip(0, 2**bits - 1).astype(codes)


def _packed_rows(codes: np.ndarray, bits: int) -> np.ndarray:
    """Packs the codes of each row of a matrix, from a byte of its own on."""
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % (8 // bits))))
    return (padded if bits == 8 else narrow.pack(padded)).reshape(len(codes), -1)


@keras.saving.register_keras_serializable(package="tf_qops")
class GatherBlockQuantized(NamedOperator):
    """Looks rows up and dequantizes them: `tf_qops.gather_block_quantized` as a layer.

    An embedding whose table stays packed. The operands but `indices` are weights of the layer,
    none of them trainable.

    Args:
        data: uint8 that holds codes along its last dimension, or int4, uint4, float8 or float4.
        scales: floats, one for each block of codes.
        zero_points: of data's dtype and scales' shape, packed like data; None: the function's.
        gather_axis: the axis that indices count along; must be 0 for uint8 data.
        quantize_axis: the axis of the blocks.
        block_size: a power of two of at least 16; 0 for float8 and float4 data: the whole axis.
        bits: 2, 4 or 8 for uint8 data; 4 for int4 and uint4.
        **kwargs: those of `keras.layers.Layer`.

    Input: int32 or int64 of any shape. Output: the codes' shape with the input's in place of
    gather_axis, in scales' dtype.

    Raises:
        ValueError: an operand or argument that the function does not take.

    Example:

    >>> data = np.full([3, 8], 0x98, np.uint8)  # 16 codes of 4 bits a row: 8, 9, 8, 9, ...
    >>> layer = GatherBlockQuantized(data, [[1.0], [2.0], [0.5]], block_size=16)
    >>> layer(tf.constant([2]))[:, :4].numpy().tolist()
    [[0.0, 0.5, 0.0, 0.5]]
    """

    function = staticmethod(nbits.gather_block_quantized)

    def __init__(
        self,
        data: Any,
        scales: Any,
        zero_points: Any = None,
        *,
        gather_axis: int = 0,
        quantize_axis: int = 1,
        block_size: int = 128,
        bits: int = 4,
        **kwargs: Any,
    ):
        attributes = {
            "gather_axis": gather_axis,
            "quantize_axis": quantize_axis,
            "block_size": block_size,
            "bits": bits,
        }
        data = as_array("data", data, "uint8")
        operands = {
            "data": data,
            "scales": scale_array("scales", scales),
            "zero_points": as_array("zero_points", zero_points, data.dtype.name),
        }
        super().__init__(operands, ["indices"], attributes, **kwargs)

    def input_dtype_for_shapes(self) -> str:
        """Returns an integer type."""
        return "int32"
