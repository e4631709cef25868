"""MatMulNBits and GatherBlockQuantized in plain numpy, from com.microsoft's documentation."""

import numpy as np

from tests import contract


def unpack(packed: np.ndarray, bits: int) -> np.ndarray:
    """The codes in bytes along the last dimension, lowest bits first."""
    codes = [packed >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return np.stack(codes, -1).reshape(*packed.shape[:-1], -1).astype(np.int32)


def nbits_weights(b, scales, zero_points=None, g_idx=None, *, k, n, bits, block_size):
    """The weights [n, k] in float64."""
    blocks = -(-k // block_size)
    codes = unpack(b.reshape(n, -1), bits)[:, :k]
    block_of = np.arange(k) // block_size if g_idx is None else g_idx[:k]
    if zero_points is None:
        zero_points = np.full([n, blocks], 1 << bits - 1)
    elif zero_points.dtype == np.uint8:
        zero_points = unpack(zero_points.reshape(n, -1), bits)[:, :blocks]
    zero_points = zero_points.reshape(n, blocks).astype(np.float64)[:, block_of]
    return (codes - zero_points) * scales.reshape(n, blocks).astype(np.float64)[:, block_of]


def gather_block_quantized(
    data, indices, scales, zero_points=None, *, gather_axis, quantize_axis, block_size, bits=4
):
    zero = 0
    if data.dtype == np.uint8:
        zero = 1 << bits - 1
        data = unpack(data, bits)
        if zero_points is not None:
            zero_points = unpack(zero_points, bits)[..., : scales.shape[-1]]
    if zero_points is None:
        zero_points = np.full(scales.shape, zero)
    block_size = block_size or data.shape[quantize_axis]
    spread = lambda values: np.broadcast_to(  # noqa: E731
        contract.spread(values.astype(np.float32), data, quantize_axis, block_size), data.shape
    )
    difference = data.astype(np.float32) - spread(zero_points)
    values = contract.flush(difference * spread(scales)).astype(scales.dtype)
    return np.take(values, indices, gather_axis)


def weights(rng, k, n, bits, block_size, zero_points=None, g_idx=False, dtype=np.float32):
    """The constant inputs and attributes of MatMulNBits; zero_points "packed", "float" or None."""
    blocks = -(-k // block_size)
    inputs = {
        "b": rng.integers(0, 256, (n, blocks, block_size * bits // 8), np.uint8),
        "scales": rng.uniform(0.01, 0.1, (n, blocks)).astype(dtype),
    }
    if zero_points == "packed":
        inputs["zero_points"] = rng.integers(0, 256, (n, -(-blocks * bits // 8)), np.uint8)
    elif zero_points == "float":
        inputs["zero_points"] = rng.uniform(0, 1 << bits, (n, blocks)).astype(dtype)
    if g_idx:
        inputs["g_idx"] = rng.integers(0, blocks, k).astype(np.int32)
    return inputs, {"k": k, "n": n, "bits": bits, "block_size": block_size}
