"""Operators of com.microsoft whose weights have few bits, quantized in blocks."""

import tensorflow as tf

from tf_qops import _library
from tf_qops.ops import _arguments
from tf_qops.ops._arguments import TensorLike


def matmul_nbits(
    a: TensorLike,
    b: TensorLike,
    scales: TensorLike,
    zero_points: TensorLike | None = None,
    g_idx: TensorLike | None = None,
    bias: TensorLike | None = None,
    *,
    k: int,
    n: int,
    bits: int = 4,
    block_size: int = 32,
    name: str | None = None,
) -> tf.Tensor:
    """Multiplies with weights of 2, 4 or 8 bits, com.microsoft's MatMulNBits (version 1).

    y is `a @ w.T + bias` for weights `w[n, k] = (code - zero_point) * scale`, a scale and zero
    point for each `block_size` of k. The weights stay packed. Sums are float32, taken in one order
    on every CPU, for any batch and number of threads: with fused multiply-adds, over the k of a
    block, each difference times a's element; then over the blocks, each sum times its scale.

    Codes 9, 7, 8, of 4 bits two to a byte, stand for 1, -1, 0:

    >>> b = np.zeros([1, 1, 8], np.uint8)
    >>> b[0, 0, :2] = 0x79, 0x08
    >>> tfq.matmul_nbits([[3.0, 1.0, 5.0]], b, [[0.5]], k=3, n=1, block_size=16).numpy()
    array([[1.]], dtype=float32)

    Args:
      a: float32, float16 or bfloat16 of shape [..., k]; Python numbers become float32.
      b: uint8 of shape [n, ceil(k / block_size), block_size * bits / 8]: the codes of a block one
        after the other, lowest bits first; those beyond k do not matter. With a dimension of 0,
        the weights are left out and the product is 0.
      scales: float32, float16 or bfloat16 of shape [n, ceil(k / block_size)], or flat.
      zero_points: uint8 of shape [n, ceil(ceil(k / block_size) * bits / 8)], packed like codes; or
        of scales' dtype (lists take it) and shape. 2^(bits - 1) where left out.
      g_idx: int32 of shape [k] (or up to the end of the last block): the block whose scale and
        zero point each k has, where that is not k // block_size.
      bias: Of a's dtype and shape [n].
      k: Length of a's last dimension.
      n: Number of columns of the result.
      bits: 2, 4 or 8.
      block_size: A power of two of at least 16.
      name: A name for the operation.

    Returns:
      y, [..., n] of a's dtype, to which float32 sums are rounded once.

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other (a ValueError
        while a graph is built), or a g_idx that names no block.
      TypeError: A ragged or sparse tensor.
    """
    a = _arguments.tensor(a, "a", tf.float32)
    scales = _arguments.scale(scales, "scales")
    if zero_points is not None:
        zero_points = _arguments.tensor(zero_points, "zero_points", scales.dtype)
    if g_idx is not None:
        g_idx = _arguments.tensor(g_idx, "g_idx", tf.int32)
    if bias is not None:
        bias = _arguments.tensor(bias, "bias", a.dtype)
    return _library.load().tf_qops_mat_mul_n_bits(
        a=a,
        b=_arguments.tensor(b, "b", tf.uint8),
        scales=scales,
        zero_points=_arguments.optional(zero_points),
        g_idx=_arguments.optional(g_idx),
        bias=_arguments.optional(bias),
        k=k,
        n=n,
        bits=bits,
        block_size=block_size,
        name=name,
    )


def gather_block_quantized(
    data: TensorLike,
    indices: TensorLike,
    scales: TensorLike,
    zero_points: TensorLike | None = None,
    *,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    block_size: int = 128,
    bits: int = 4,
    name: str | None = None,
) -> tf.Tensor:
    """Gathers slices and dequantizes them, com.microsoft's GatherBlockQuantized (version 1).

    The value of a code is `(code - zero_point) * scale`: the difference exact, the product rounded
    to float32 and then to the output's type. An index out of range is an error; ONNX Runtime gives
    zeros for it.

    >>> data = np.full([3, 8], 0x98, np.uint8)  # 16 codes of 4 bits a row: 8, 9, 8, 9, ...
    >>> y = tfq.gather_block_quantized(data, [2, 0], [[1.0], [2.0], [0.5]], block_size=16)
    >>> y[:, :4].numpy()
    array([[0. , 0.5, 0. , 0.5],
           [0. , 1. , 0. , 1. ]], dtype=float32)

    Args:
      data: Of rank r: uint8 that holds codes of `bits` bits along its last dimension, lowest bits
        first; or int4, uint4, float8 or float4, a code an element.
      indices: int32 or int64 of any shape, in [-D, D - 1] where data has D along gather_axis.
      scales: float32, float16 or bfloat16, of the shape of the codes, but ceil(D / block_size)
        along quantize_axis. For float8 and float4 data, any other dimension may be 1.
      zero_points: Of data's dtype and scales' shape, packed like data; without them
        2^(bits - 1) for uint8 data, else 0. None for float8 and float4 data.
      gather_axis: In [-r, r - 1]; must be 0 for uint8 data.
      quantize_axis: In [-r, r - 1]; must not be 0 for uint8 data.
      block_size: A power of two of at least 16; 0 for float8 and float4 data: the whole axis.
      bits: 2, 4 or 8 for uint8 data; 4 for int4 and uint4.
      name: A name for the operation.

    Returns:
      A tensor of scales' dtype and the codes' shape, with indices' shape in place of gather_axis.

    Raises:
      tf.errors.InvalidArgumentError: Shapes or attributes that do not fit each other (a ValueError
        while a graph is built), or an index out of range.
      ValueError: A zero point outside the range of data's dtype, or of another dtype.
      TypeError: A ragged or sparse tensor.
    """
    data = _arguments.tensor(data, "data")
    return _library.load().tf_qops_gather_block_quantized(
        data=data,
        indices=_arguments.tensor(indices, "indices", tf.int32),
        scales=_arguments.scale(scales, "scales"),
        zero_points=_arguments.optional_zero_point(zero_points, "zero_points", data.dtype),
        gather_axis=gather_axis,
        quantize_axis=quantize_axis,
        block_size=block_size,
        bits=bits,
        name=name,
    )
