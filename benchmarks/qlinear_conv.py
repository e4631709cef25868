"""QLinearConv beside ONNX Runtime, layer by layer, for weights of random bytes.

    python benchmarks/qlinear_conv.py [--threads 1] [--seconds 1]

Each figure is of eight runs on inputs of their own; ours are in one tf.function, whose call alone
costs 0.2 ms. ONNX Runtime runs each layer twice: as it comes, where it may saturate on a CPU
without VNNI, and with `session.x64quantprecision` set, where it is exact. "wrong" is the share of
the default result's values that differ from exact arithmetic.
"""

import argparse
import functools
from collections.abc import Iterator
from typing import Any

import interleaved
import numpy as np
import onnxruntime as ort
import tensorflow as tf
from onnx import TensorProto, helper, numpy_helper

import tf_qops as tfq

# (name, pixels, channels, filters, kernel, stride, group)
LAYERS = (
    ("7x7 s2 stem", 224, 3, 64, 7, 2, 1),
    ("1x1 64->256 @56", 56, 64, 256, 1, 1, 1),
    ("1x1 256->64 @56", 56, 256, 64, 1, 1, 1),
    ("3x3 64 @56", 56, 64, 64, 3, 1, 1),
    ("3x3 128 @28", 28, 128, 128, 3, 1, 1),
    ("3x3 256 @14", 14, 256, 256, 3, 1, 1),
    ("3x3 512 @7", 7, 512, 512, 3, 1, 1),
    ("3x3 s2 256 @28", 28, 256, 256, 3, 2, 1),
    ("1x1 512->2048 @7", 7, 512, 2048, 1, 1, 1),
    ("depthwise 144 @56", 56, 144, 144, 3, 1, 144),
    ("depthwise s2 96 @112", 112, 96, 96, 3, 2, 96),
)
REPEATED = 8  # Times a layer runs, on inputs of its own, in what is measured.
X_SCALE, X_ZERO_POINT, Y_SCALE, Y_ZERO_POINT = 0.02, 128, 2.0, 120


def session(attributes: dict[str, Any], w: np.ndarray, w_scale: np.ndarray, exact: bool,
            threads: int) -> ort.InferenceSession:  # fmt: skip
    """Returns ONNX Runtime's session of the one layer, with constant weights."""
    constants = {
        "x_scale": np.float32(X_SCALE),
        "x_zero_point": np.uint8(X_ZERO_POINT),
        "w": w,
        "w_scale": w_scale,
        "w_zero_point": np.zeros(len(w), np.int8),
        "y_scale": np.float32(Y_SCALE),
        "y_zero_point": np.uint8(Y_ZERO_POINT),
    }
    node = helper.make_node("QLinearConv", ["x", *constants], ["y"], **attributes)
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, None, None, None])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, None, None, None])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.x64quantprecision", "1" if exact else "0")
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def rows(threads: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Measures layer by layer."""
    rng = np.random.default_rng(0)
    for name, pixels, channels, filters, kernel, stride, group in LAYERS:
        inputs = rng.integers(0, 256, (REPEATED, 1, channels, pixels, pixels)).astype(np.uint8)
        w = rng.integers(-127, 128, (filters, channels // group, kernel, kernel)).astype(np.int8)
        w_scale = rng.uniform(0.001, 0.01, filters).astype(np.float32)
        pads = [kernel // 2] * 4
        attributes = {"strides": [stride] * 2, "pads": pads, "group": group}
        peers = {
            label: session(attributes, w, w_scale, label == "exact", threads)
            for label in ("default", "exact")
        }
        layer = functools.partial(
            tfq.qlinear_conv, x_scale=X_SCALE, x_zero_point=X_ZERO_POINT, w=tf.constant(w),
            w_scale=w_scale, w_zero_point=0, y_scale=Y_SCALE, y_zero_point=Y_ZERO_POINT,
            data_format="NHWC", **attributes,
        )  # fmt: skip
        ours = interleaved.in_one_graph(layer, tf.constant(inputs.transpose(0, 1, 3, 4, 2)))
        got = layer(inputs[0].transpose(0, 2, 3, 1)).numpy().transpose(0, 3, 1, 2)
        default = peers["default"].run(None, {"x": inputs[0]})[0]
        runners = {
            label: functools.partial(interleaved.run_all, peer, inputs)
            for label, peer in peers.items()
        }
        times = interleaved.compare({"ours": ours} | runners, seconds)
        macs = REPEATED * got.size * w[0].size
        yield {
            "layer": name,
            **{f"{k}_gmacs": macs / t["median_ms"] / 1e6 for k, t in times.items()},
            "ratio_default": times["default"]["median_ms"] / times["ours"]["median_ms"],
            "ratio_exact": times["exact"]["median_ms"] / times["ours"]["median_ms"],
            "wrong": float((got != default).mean()),
            "times": times,
        }


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each layer")
    options = parser.parse_args()
    interleaved.use_threads(options.threads)
    columns = {
        "layer": "layer",
        "ours_gmacs": "GMAC/s",
        "default_gmacs": "ONNX Runtime",
        "exact_gmacs": "same, exact",
        "ratio_default": "speed over it",
        "ratio_exact": "over exact",
        "wrong": "wrong",
    }
    interleaved.report(
        f"qlinear_conv_{options.threads}_threads",
        rows(options.threads, options.seconds),
        columns,
        len(LAYERS),
    )


if __name__ == "__main__":
    main()
