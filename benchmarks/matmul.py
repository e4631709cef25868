"""QLinearMatMul beside ONNX Runtime, for every pair of integer types.

    python benchmarks/matmul.py [--threads 1] [--seconds 0.3] [--quick]

ONNX Runtime runs each product twice: as it comes, where uint8 times int8 may saturate on a CPU
without VNNI, and with `session.x64quantprecision` set, where it is exact. "wrong" is the share of
the default result's values that differ from exact arithmetic. Each figure is of sixteen products;
ours are in one tf.function, whose call costs 0.2 ms where sixteen calls of ONNX Runtime cost less.
"less the calls" compares what remains when the same calls without a product, measured in the same
rounds, are subtracted from both.
"""

import argparse
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import interleaved
import numpy as np
import onnx
import onnxruntime as ort
import tensorflow as tf
from onnx import helper, numpy_helper

import tf_qops as tfq

ROWS = (1, 16, 128)
SIZES = ((256, 256), (768, 768), (768, 3072), (4096, 1024), (4096, 4096))
DTYPES = ("uint8", "int8")
REPEATED = 16  # Products, of inputs of their own, in what is measured.
COLUMNS = {
    "product": "M x K x N",
    "types": "a, b",
    "ours_gmacs": "GMAC/s",
    "default_gmacs": "ONNX Runtime",
    "exact_gmacs": "same, exact",
    "ratio_default": "speed over it",
    "ratio_exact": "over exact",
    "ratio_less_calls": "less the calls",
    "wrong": "wrong",
}
A_SCALE, B_SCALE, Y_SCALE = np.float32(0.02), np.float32(0.003), np.float32(2.0)


def session(
    node: onnx.NodeProto, a: np.ndarray, constants: dict[str, np.ndarray], exact: bool, threads: int
) -> ort.InferenceSession:
    """Returns ONNX Runtime's session of one node, of a to y."""
    element_type = helper.np_dtype_to_tensor_dtype(a.dtype)
    graph = helper.make_graph(
        [node],
        "node",
        [helper.make_tensor_value_info("a", element_type, a.shape)],
        [helper.make_tensor_value_info("y", element_type, [None, None])],
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


def product_session(
    a: np.ndarray, b: np.ndarray, exact: bool, threads: int
) -> ort.InferenceSession:
    """Returns ONNX Runtime's session of the one product, with a constant b."""
    constants = {
        "a_scale": A_SCALE,
        "a_zero_point": np.zeros((), a.dtype),
        "b": b,
        "b_scale": B_SCALE,
        "b_zero_point": np.zeros((), b.dtype),
        "y_scale": Y_SCALE,
        "y_zero_point": np.zeros((), a.dtype),
    }
    node = helper.make_node("QLinearMatMul", ["a", *constants], ["y"])
    return session(node, a, constants, exact, threads)


def codes(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Returns random codes of the whole range."""
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def rows(cases: list[tuple[Any, ...]], threads: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Measures product by product."""
    rng = np.random.default_rng(0)
    for (k, n), m, a_dtype, b_dtype in cases:
        inputs, b = codes(rng, a_dtype, REPEATED, m, k), codes(rng, b_dtype, k, n)
        try:
            peers = {
                label: product_session(inputs[0], b, label == "exact", threads)
                for label in ("default", "exact")
            }
        except ort.capi.onnxruntime_pybind11_state.NotImplemented:
            peers = {}  # It has no int8 times uint8.
        product = functools.partial(
            tfq.qlinear_matmul, a_scale=A_SCALE, a_zero_point=np.zeros((), a_dtype),
            b=tf.constant(b), b_scale=B_SCALE, b_zero_point=np.zeros((), b_dtype),
            y_scale=Y_SCALE, y_zero_point=np.zeros((), a_dtype),
        )  # fmt: skip
        ours = interleaved.in_one_graph(product, tf.constant(inputs))
        runners = {
            label: functools.partial(interleaved.run_all, peer, inputs)
            for label, peer in peers.items()
        }
        empty = session(helper.make_node("Identity", ["a"], ["y"]), inputs[0], {}, True, threads)
        calls = {
            "our_calls": interleaved.in_one_graph(tf.identity, tf.constant(inputs)),
            "their_calls": functools.partial(interleaved.run_all, empty, inputs),
        }
        times = interleaved.compare({"ours": ours} | runners | calls, seconds)
        floors = {label: times.pop(label)["median_ms"] for label in calls}
        ours_ms = times["ours"]["median_ms"]
        row: dict[str, Any] = dict.fromkeys(COLUMNS, "-")
        row |= {"product": f"{m} x {k} x {n}", "types": f"{a_dtype} {b_dtype}"}
        row |= {"times": times, "calls_ms": floors}
        for label, measured in times.items():
            row[f"{label}_gmacs"] = REPEATED * m * k * n / measured["median_ms"] / 1e6
            row[f"ratio_{label}"] = measured["median_ms"] / ours_ms
        if peers:
            theirs = times["exact"]["median_ms"] - floors["their_calls"]
            row["ratio_less_calls"] = theirs / (ours_ms - floors["our_calls"])
            default = peers["default"].run(None, {"a": inputs[0]})[0]
            row["wrong"] = float((product(inputs[0]).numpy() != default).mean())
        yield row


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each product")
    parser.add_argument("--quick", action="store_true", help="only the smallest and a middle size")
    options = parser.parse_args()
    interleaved.use_threads(options.threads)
    sizes = (SIZES[0], SIZES[2]) if options.quick else SIZES
    cases = list(itertools.product(sizes, ROWS, DTYPES, DTYPES))
    name = f"matmul_{options.threads}_threads" + ("_quick" if options.quick else "")
    interleaved.report(name, rows(cases, options.threads, options.seconds), COLUMNS, len(cases))


if __name__ == "__main__":
    main()
