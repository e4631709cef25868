"""Builds a Keras model of quantized layers by hand, saves it and loads it again.

    python examples/02_layers.py

An edge detector: its input is quantized, convolved in integers, and turned back into floats.
"""

from __future__ import annotations

import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from rich.console import Console

import tf_qops as tfq


def edge_detector() -> keras.Model:
    """Returns a model [n, h, w, 1] float32 in [0, 1] -> [n, h, w, 2] float32 in [-4, 4)."""
    pixel_scale, weight_scale, edge_scale = 1 / 255, 1 / 64, 1 / 32
    image = keras.Input((None, None, 1), name="image")
    x = tfq.layers.QuantizeLinear(pixel_scale, 0, output_dtype="uint8", name="pixels")(image)
    edges = tfq.layers.QLinearConv2D(
        2,
        3,
        padding="same",
        use_bias=False,
        x_scale=pixel_scale,
        w_scale=weight_scale,
        y_scale=edge_scale,
        output_dtype="int8",
        data_format="channels_last",
        name="edges",
    )
    x = edges(x)
    x = tfq.layers.DequantizeLinear(edge_scale, 0, name="strength")(x)
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    kernel = np.stack([sobel, sobel.T])[:, np.newaxis]  # [filters, channels, height, width]
    edges.kernel.assign(tfq.quantize_linear(kernel, weight_scale, output_dtype="int8"))
    return keras.Model(image, x, name="edge_detector")


def main() -> None:
    """Detects the edges of a bright square, then does so with the reloaded model."""
    console = Console()
    model = edge_detector()
    image = np.zeros((1, 8, 8, 1), np.float32)
    image[:, 2:6, 2:6] = 1
    edges = model(image).numpy()
    model.summary()
    console.print("Strength of horizontal changes along row 4:", edges[0, 4, :, 0].tolist())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "edges.keras"
        model.save(path)
        reloaded = keras.models.load_model(path)
        same = np.array_equal(reloaded(image), edges)
    console.print(f"Reloaded model gives the same bits: {'yes' if same else 'no'}")


if __name__ == "__main__":
    main()
