"""MatMulNBits beside ONNX Runtime, for random weights in float32 and constant parameters.

    python benchmarks/matmul_nbits.py [--threads 1] [--seconds 1]

"error" is the largest difference from ONNX Runtime, relative to the largest result.
"""

import argparse
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import interleaved
import numpy as np
import onnxruntime as ort
import tensorflow as tf
from onnx import TensorProto, helper, numpy_helper

import tf_qops as tfq

SHAPES = ((768, 3072), (4096, 4096), (4096, 11008))  # K, N
FORMATS = ((4, 32, False), (4, 128, True), (8, 32, False), (2, 64, False))  # bits, block, zeros
ROWS = (1, 32)


def session(constants: dict[str, np.ndarray], attributes: dict[str, int], threads: int
            ) -> ort.InferenceSession:  # fmt: skip
    """Returns ONNX Runtime's session of the one node."""
    upper = {"K": attributes["k"], "N": attributes["n"]}
    node = helper.make_node(
        "MatMulNBits", ["a", *constants], ["y"], domain="com.microsoft", **upper,
        bits=attributes["bits"], block_size=attributes["block_size"])  # fmt: skip
    graph = helper.make_graph(
        [node],
        "node",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [None, attributes["k"]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, attributes["n"]])],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def rows(threads: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Measures shape by shape."""
    rng = np.random.default_rng(0)
    for (k, n), (bits, block, zeros) in itertools.product(SHAPES, FORMATS):
        blocks = -(-k // block)
        constants = {
            "b": rng.integers(0, 256, (n, blocks, block * bits // 8), np.uint8),
            "scales": rng.uniform(0.001, 0.01, (n, blocks)).astype(np.float32),
        }
        if zeros:
            width = -(-blocks * bits // 8)
            constants["zero_points"] = rng.integers(0, 256, (n, width), np.uint8)
        attributes = {"k": k, "n": n, "bits": bits, "block_size": block}
        peer = session(constants, attributes, threads)
        tensors = {name: tf.constant(value) for name, value in constants.items()}
        for count in ROWS:
            a = rng.standard_normal((count, k)).astype(np.float32)
            ours = functools.partial(tfq.matmul_nbits, tf.constant(a), **tensors, **attributes)
            theirs = functools.partial(peer.run, None, {"a": a})
            want = theirs()[0]
            times = interleaved.compare({"ours": ours, "onnxruntime": theirs}, seconds)
            median = {name: time["median_ms"] for name, time in times.items()}
            yield {
                "shape": f"{count}x{k}x{n}, {bits} bits, blocks of {block}"
                + (", zero points" if zeros else ""),
                **{f"{name}_gmacs": count * k * n / ms / 1e6 for name, ms in median.items()},
                "ratio": median["onnxruntime"] / median["ours"],
                "error": float(np.abs(ours().numpy() - want).max() / np.abs(want).max()),
                "times": times,
            }


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each shape")
    options = parser.parse_args()
    interleaved.use_threads(options.threads)
    interleaved.report(
        f"matmul_nbits_{options.threads}_threads",
        rows(options.threads, options.seconds),
        {
            "shape": "shape",
            "ours_gmacs": "GMAC/s",
            "onnxruntime_gmacs": "ONNX Runtime",
            "ratio": "speed over it",
            "error": "error",
        },
        len(SHAPES) * len(FORMATS) * len(ROWS),
    )


if __name__ == "__main__":
    main()
