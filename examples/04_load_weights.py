"""Puts the weights of a quantized ONNX network into a plain Keras model built by hand.

    python examples/04_load_weights.py

The Keras model computes in floats with the dequantized weights, so its predictions on digits that
neither ever saw are nearly those of the quantized network.
"""

from __future__ import annotations

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from models.digits_data import load_split
from rich.console import Console
from rich.table import Table

import tf_qops as tfq

MODEL = pathlib.Path(__file__).parent / "models" / "digits_int8.onnx"


def build_network() -> keras.Sequential:
    """Returns the network's layers with weights of Keras's own: [n, 8, 8, 1] -> [n, 10]."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1"),
            keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="conv2"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(48, 3, padding="same", activation="relu", name="conv3"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10, activation="softmax", name="scores"),
        ],
        name="digits",
    )


def main() -> int:
    """Prints what went where and how the two networks compare; returns 1 if they do not."""
    console = Console()
    stored = tfq.onnx.load_weights(MODEL)
    table = Table("quantized constant", "type", "shape", "scales", title=MODEL.name)
    for name, tensor in stored.items():
        table.add_row(
            name, tensor.values.dtype.name, str(tensor.values.shape), str(tensor.scale.size)
        )
    console.print(table)

    network = build_network()
    report = tfq.onnx.assign_weights(network, MODEL)
    console.print(report)

    _, digits = load_split()
    ours = network(np.moveaxis(digits.images, 1, -1)).numpy()
    theirs = tfq.onnx.import_model(MODEL)(digits.images).numpy()
    agreement = (ours.argmax(1) == theirs.argmax(1)).mean()
    for name, probabilities in (("Keras", ours), ("quantized", theirs)):
        accuracy = (probabilities.argmax(1) == digits.labels).mean()
        console.print(f"{name} network: {accuracy:.2%} of {len(digits.labels)} held-out digits")
    console.print(f"Same prediction: {agreement:.2%}")
    console.print(f"Mean difference of a probability: {np.abs(ours - theirs).mean():.1e}")
    return int(agreement < 0.98 or bool(report.left_in_model))


if __name__ == "__main__":
    raise SystemExit(main())
