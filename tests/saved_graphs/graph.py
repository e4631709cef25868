"""Graphs that earlier versions saved must go on giving the values of the specification.

    python -m tests.saved_graphs.graph FOLDER

writes what the current version saves; `2026-12` is what the first one did.
"""

import sys

import numpy as np
import tensorflow as tf

import tf_qops as tfq
from tests import contract

X = np.linspace(-3.0, 3.0, 48, dtype=np.float32).reshape(1, 2, 4, 6)
W = (np.arange(2 * 2 * 3 * 3) % 17 - 8).astype(np.int8).reshape(2, 2, 3, 3)
CONV = {
    "x_scale": np.float32(0.03),
    "x_zero_point": np.uint8(101),
    "w": W,
    "w_scale": np.array([0.5, 0.25], np.float32),
    "w_zero_point": np.array([0, 3], np.int8),
    "y_scale": np.float32(0.75),
    "y_zero_point": np.uint8(90),
    "bias": np.array([-40, 12], np.int32),
}
PADS = [1, 0, 1, 0]


class Graph(tf.Module):
    """Quantizes, convolves and dequantizes, each with attributes that are not the default."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2, 4, 6], tf.float32)])
    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the codes of x, their convolution, and that in floats in two ways."""
        codes = tfq.quantize_linear(x, CONV["x_scale"], CONV["x_zero_point"])
        sums = tfq.qlinear_conv(codes, **CONV, pads=PADS)
        return {
            "codes": codes,
            "sums": sums,
            "linear": tfq.dequantize_linear(sums, [0.75, 0.5], tf.constant([90, 7], tf.uint8)),
            "range": tfq.dequantize(sums, -1.0, 3.0, "MIN_FIRST", dtype=tf.bfloat16),
        }


def expected() -> dict[str, np.ndarray]:
    """Returns the same in numpy."""
    codes = contract.quantize_linear(X, CONV["x_scale"], CONV["x_zero_point"])
    ones = {"strides": [1, 1], "dilations": [1, 1], "group": 1}
    sums = contract.qlinear_conv(codes, **CONV, pads=PADS, **ones)
    scale, zero = np.array([0.75, 0.5], np.float32), np.array([90, 7], np.uint8)
    step = np.float32(4.0 / 255)
    low = np.float32(np.round(np.float32(-1.0) / step)) * step
    return {
        "codes": codes,
        "sums": sums,
        "linear": contract.dequantize_linear(sums, scale, zero),
        "range": (low + sums.astype(np.float32) * step).astype(tf.bfloat16.as_numpy_dtype),
    }


if __name__ == "__main__":
    tf.saved_model.save(Graph(), sys.argv[1])
