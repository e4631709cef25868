"""Runs a quantized ONNX network on handwritten digits inside TensorFlow.

    python examples/01_digits.py --output /tmp/digits

The network's integer layers give the values of ONNX Runtime's exact mode, one by one: in Keras,
in a tf.function and from a SavedModel. The digits are real ones that the network never saw.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import networks
import numpy as np
import onnx
import tensorflow as tf
from models.digits_data import Digits, load_split
from rich.console import Console
from rich.table import Table

import tf_qops as tfq

MODEL = pathlib.Path(__file__).parent / "models" / "digits_int8.onnx"
Network = Callable[[np.ndarray], np.ndarray]


def with_integer_outputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the network with the results of all its integer layers as further outputs."""
    opened = onnx.ModelProto()
    opened.CopyFrom(model)
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "QLinearConv", "MaxPool"):
            output = onnx.helper.make_tensor_value_info(
                node.output[0], onnx.TensorProto.UINT8, None
            )
            opened.graph.output.append(output)
    return opened


def compare_values(console: Console, model: onnx.ModelProto, images: np.ndarray) -> int:
    """Prints how many values of each layer differ from ONNX Runtime's; returns their sum."""
    opened = with_integer_outputs(model)
    ours = tfq.onnx.import_model(opened)(images)
    theirs = networks.session(opened).run(None, {"image": images})
    table = Table("layer", "values", "different", title="Beside ONNX Runtime, value by value")
    different = 0
    for output, a, b in list(zip(opened.graph.output, ours, theirs, strict=True))[1:]:
        count = int((a.numpy() != b).sum())
        different += count
        table.add_row(output.name, f"{b.size:,}", str(count))
    console.print(table)
    console.print(f"Integer values that differ: {different}")
    console.print(f"Largest difference of a probability: {np.abs(ours[0] - theirs[0]).max():.1e}")
    return different


def microseconds(network: Network, images: np.ndarray, rounds: int = 20) -> float:
    """Returns the least time per image over some rounds."""
    network(images)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        network(images)
        times.append(time.perf_counter() - start)
    return min(times) / len(images) * 1e6


def save_picture(path: pathlib.Path, digits: Digits, probabilities: np.ndarray) -> None:
    """Draws held-out digits with what the network takes them for, mistakes first, in red."""
    from matplotlib.figure import Figure

    predictions = probabilities.argmax(1)
    order = np.argsort(predictions == digits.labels, kind="stable")[:40]
    figure = Figure(figsize=(10, 5), layout="constrained")
    figure.suptitle("Held-out digits and what the quantized network takes them for")
    for axes, i in zip(figure.subplots(4, 10).flat, order, strict=True):
        right = predictions[i] == digits.labels[i]
        axes.imshow(digits.images[i, 0], cmap="gray_r")
        axes.set_axis_off()
        note = f" ({probabilities[i].max():.0%})" if right else f", not {digits.labels[i]}"
        axes.set_title(f"{predictions[i]}{note}", color="black" if right else "red", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    """Runs the network in each way; returns 1 if any value is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, help="folder for the picture")
    arguments = parser.parse_args()
    output = arguments.output or pathlib.Path(tempfile.mkdtemp(prefix="tf_qops_digits_"))

    console = Console()
    _, digits = load_split()
    proto = onnx.load(MODEL)
    model = tfq.onnx.import_model(MODEL)
    console.print(model.import_report)
    different = compare_values(console, proto, digits.images)

    compiled = tf.function(model)
    session = networks.session(proto)
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        reloaded = tf.saved_model.load(folder)
        ways: dict[str, Network] = {
            "Keras": lambda x: model(x).numpy(),
            "tf.function": lambda x: compiled(x).numpy(),
            "SavedModel": lambda x: reloaded.serve(x).numpy(),
            "ONNX Runtime": lambda x: session.run(None, {"image": x})[0],
        }
        table = Table("way", "accuracy", "bits as in Keras", "µs an image")
        reference = ways["Keras"](digits.images)
        for name, network in ways.items():
            probabilities = network(digits.images)
            table.add_row(
                name,
                f"{(probabilities.argmax(1) == digits.labels).mean():.2%}",
                "yes" if np.array_equal(probabilities, reference) else "no",
                f"{microseconds(network, digits.images):.1f}",
            )
        console.print(table)
    accuracy = (reference.argmax(1) == digits.labels).mean()
    console.print(f"Accuracy on {len(digits.labels)} held-out digits: {accuracy:.2%}")
    save_picture(output / "digits.png", digits, reference)
    console.print(f"Picture: {output / 'digits.png'}", soft_wrap=True)
    return int(different > 0)


if __name__ == "__main__":
    raise SystemExit(main())
