"""Trains a small convolutional network on handwritten digits and writes digits_int8.onnx.

    python examples/models/make_digits.py

The network is trained with Keras, written as a float ONNX graph node by node, and quantized by
ONNX Runtime (QOperator, per channel, int8 weights, uint8 activations) with training images only.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import keras
import numpy as np
import onnx
import onnxruntime
from digits_data import Digits, load_split
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from rich.console import Console

OPSET = 17


def build_network() -> keras.Sequential:
    """Returns the float network: [n, 8, 8, 1] float32 -> [n, 10] probabilities."""

    def conv(filters: int, name: str) -> keras.layers.Layer:
        return keras.layers.Conv2D(filters, 3, padding="same", activation="relu", name=name)

    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            conv(16, "conv1"),
            conv(32, "conv2"),
            keras.layers.MaxPooling2D(name="pool"),
            conv(48, "conv3"),
            keras.layers.GlobalAveragePooling2D(name="mean"),
            keras.layers.Dense(10, activation="softmax", name="scores"),
        ]
    )


def train(network: keras.Sequential, digits: Digits, epochs: int) -> None:
    """Fits the network; images shift by up to one pixel so that few digits teach much."""
    images = np.moveaxis(digits.images, 1, -1)
    shift = keras.layers.RandomTranslation(0.12, 0.12, fill_mode="constant", seed=1)
    network_input = keras.Input((8, 8, 1))
    student = keras.Model(network_input, network(shift(network_input)))
    steps = epochs * -(-len(images) // 32)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, steps)
    student.compile(keras.optimizers.Adam(rate), "sparse_categorical_crossentropy")
    student.fit(images, digits.labels, batch_size=32, epochs=epochs, verbose=0)


def float_graph(network: keras.Sequential) -> onnx.ModelProto:
    """Returns the trained network as an ONNX graph in ONNX's own layout [n, 1, 8, 8]."""
    initializers, nodes = [], []

    def constant(name: str, value: np.ndarray) -> str:
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(op_type: str, name: str, inputs: list[str], **attributes) -> str:
        output = "probabilities" if op_type == "Softmax" else f"{name}_output"
        nodes.append(helper.make_node(op_type, inputs, [output], name, **attributes))
        return output

    value = "image"
    for name in ("conv1", "conv2", "conv3"):
        kernel, bias = network.get_layer(name).get_weights()
        kernel = constant(f"{name}.weight", kernel.transpose(3, 2, 0, 1))
        inputs = [value, kernel, constant(f"{name}.bias", bias)]
        value = add("Conv", name, inputs, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        if name == "conv2":  # before its Relu: the same values, and pooling is done in integers
            value = add("MaxPool", "pool", [value], kernel_shape=[2, 2], strides=[2, 2])
        value = add("Relu", f"{name}_relu", [value])
    value = add("GlobalAveragePool", "mean", [value])
    value = add("Flatten", "flatten", [value])
    kernel, bias = network.get_layer("scores").get_weights()
    inputs = [value, constant("scores.weight", kernel.T), constant("scores.bias", bias)]
    value = add("Gemm", "scores", inputs, transB=1)
    value = add("Softmax", "softmax", [value], axis=1)
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["n", 10])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


class CalibrationImages(quantization.CalibrationDataReader):
    """Feeds the training images to ONNX Runtime's calibration."""

    def __init__(self, images: np.ndarray):
        self._batches = iter(np.array_split(images, 10))

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Returns the next batch, None after the last."""
        batch = next(self._batches, None)
        return None if batch is None else {"image": batch}


def quantize(model: onnx.ModelProto, images: np.ndarray, target: pathlib.Path) -> None:
    """Writes the graph with its convolutions and pooling in integers."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "float.onnx"
        onnx.save(model, source)
        quantization.quantize_static(
            source,
            target,
            CalibrationImages(images),
            quant_format=quantization.QuantFormat.QOperator,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            op_types_to_quantize=["Conv", "MaxPool"],
        )


def accuracy(model: bytes, digits: Digits) -> float:
    """Returns the share of digits that ONNX Runtime's exact integer arithmetic gets right."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model, options)
    (probabilities,) = session.run(None, {"image": digits.images})
    return float((probabilities.argmax(1) == digits.labels).mean())


def main() -> None:
    """Trains, quantizes, writes and prints both accuracies on the held-out digits."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = pathlib.Path(__file__).with_name("digits_int8.onnx")
    parser.add_argument("--output", type=pathlib.Path, default=default)
    parser.add_argument("--epochs", type=int, default=60)
    arguments = parser.parse_args()

    keras.utils.set_random_seed(7)
    training, held_out = load_split()
    network = build_network()
    train(network, training, arguments.epochs)
    model = float_graph(network)
    quantize(model, training.images, arguments.output)
    console = Console()
    quantized = arguments.output.read_bytes()
    for kind, graph in (("float", model.SerializeToString()), ("quantized", quantized)):
        console.print(f"{kind}: {accuracy(graph, held_out):.2%} of the held-out digits right")
    console.print(f"{arguments.output} {arguments.output.stat().st_size / 1024:.1f} KB")


if __name__ == "__main__":
    main()
