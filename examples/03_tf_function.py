"""Uses the functions inside tf.function, plain and compiled by XLA, and checks every number.

python examples/03_tf_function.py
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table

import tf_qops as tfq


def round_trip(x: tf.Tensor) -> tf.Tensor:
    """Quantizes to uint8 in steps of 0.5 around 100, and back."""
    return tfq.dequantize_linear(tfq.quantize_linear(x, 0.5, 100), 0.5, 100)


def sum_of_neighbours(x: tf.Tensor) -> tf.Tensor:
    """Adds neighbouring integers of [n, 1, w]: a convolution with ones."""
    ones = tf.ones((1, 1, 1, 2), tf.int8)
    y = tfq.qlinear_conv(x[:, :, tf.newaxis], 1.0, 0, ones, 1.0, 0, 1.0, tf.constant(0, tf.int8))
    return y[:, :, 0]


def main() -> int:
    """Prints what each function gives in each mode; returns 1 if a number is wrong."""
    console = Console()
    floats = tf.constant([-60.0, -50.25, 0.2, 0.25, 0.75, 77.5, 99.0])
    # 0.25 and 0.75 are half-way between steps: ties go to the even code.
    rounded = [-50.0, -50.0, 0.0, 0.0, 1.0, 77.5, 77.5]
    integers = tf.constant([[[1, -2, 100, 100]]], tf.int8)
    sums = [-1, 98, 127]  # 200 does not fit into int8
    cases = [
        ("round_trip, eager", round_trip, floats, rounded),
        ("round_trip, tf.function", tf.function(round_trip), floats, rounded),
        ("round_trip, XLA", tf.function(round_trip, jit_compile=True), floats, rounded),
        ("sum_of_neighbours, eager", sum_of_neighbours, integers, sums),
        ("sum_of_neighbours, tf.function", tf.function(sum_of_neighbours), integers, sums),
    ]
    if not tfq.build_info()["xla"]:
        cases = [case for case in cases if "XLA" not in case[0]]
    table = Table("function", "result", "right")
    right = [np.array_equal(np.ravel(function(x)), wanted) for _, function, x, wanted in cases]
    for (name, function, x, _), ok in zip(cases, right, strict=True):
        table.add_row(name, str(np.ravel(function(x)).tolist()), "yes" if ok else "NO")
    console.print(table)
    console.print(f"{sum(right)} of {len(right)} right")
    return int(not all(right))


if __name__ == "__main__":
    raise SystemExit(main())
