"""The operators on 8-bit codes that are no products, beside ONNX Runtime.

    python benchmarks/elementwise.py [--elements 65536] [--threads 1] [--seconds 0.5]

Ours runs several times in a function, on distinct inputs, and the time is that of one; the time of
ONNX Runtime has a session's run around it. The first row shows what that costs.
"""

import argparse
import functools
from collections.abc import Callable, Iterator
from typing import Any

import interleaved
import numpy as np
import onnxruntime as ort
import tensorflow as tf
from onnx import helper

import tf_qops as tfq

SCALE, ZERO_POINT = np.float32(0.02), np.uint8(120)
REPEATS = 32
FORMAT = (SCALE, ZERO_POINT)


def session(op_type: str, inputs: list[np.ndarray], threads: int,
            attributes: dict[str, Any]) -> Callable[[], Any]:  # fmt: skip
    """Returns a run of the one node in ONNX Runtime."""
    names = [f"i{i}" for i in range(len(inputs))]
    values = [np.asarray(value) for value in inputs]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in zip(names, values, strict=True)
    ]
    domain = "com.microsoft" if op_type.startswith("QLinear") else ""
    outputs = ["y"] if domain or op_type == "Identity" else ["y", "s", "z"]
    node = helper.make_node(op_type, names, outputs, domain=domain, **attributes)
    graph = helper.make_graph(
        [node], op_type, infos, [helper.make_empty_tensor_value_info(o) for o in outputs]
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.force_spinning_stop", "1")
    run = ort.InferenceSession(model.SerializeToString(), options).run
    return functools.partial(run, None, dict(zip(names, values, strict=True)))


def cases(
    elements: int,
) -> Iterator[tuple[str, str, Callable[..., Any], list[Any], dict[str, Any]]]:
    """Yields (name, operator, function, inputs, attributes)."""
    rng = np.random.default_rng(0)
    codes = lambda *shape: rng.integers(0, 256, shape).astype(np.uint8)  # noqa: E731
    x, side = codes(elements), max(int((elements // 64) ** 0.5), 3)
    first, last = codes(1, 64, side, side), codes(1, side, side, 64)
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    concat = [*FORMAT, x[::2].copy(), SCALE / 2, ZERO_POINT, x[1::2].copy(), *FORMAT]
    yield "nothing", "Identity", tf.identity, [x[:1]], {}
    yield "add", "QLinearAdd", tfq.qlinear_add, [x, *FORMAT, x[::-1].copy(), *FORMAT, *FORMAT], {}
    yield (
        "add, one for a channel",
        "QLinearAdd",
        tfq.qlinear_add,
        [first, *FORMAT, codes(64, 1, 1), *FORMAT, *FORMAT],
        {},
    )
    yield "mul", "QLinearMul", tfq.qlinear_mul, [x, *FORMAT, x[::-1].copy(), *FORMAT, *FORMAT], {}
    unary = [x, *FORMAT, np.float32(1 / 256), np.uint8(0)]
    yield "leaky relu", "QLinearLeakyRelu", tfq.qlinear_leaky_relu, unary, {"alpha": 0.1}
    yield "sigmoid", "QLinearSigmoid", tfq.qlinear_sigmoid, unary, {}
    rows = [x.reshape(-1, 64), *unary[1:]]
    options = {"axis": -1, "opset": 13}
    yield "softmax of 64", "QLinearSoftmax", tfq.qlinear_softmax, rows, options
    yield "concat of two", "QLinearConcat", tfq.qlinear_concat, concat, {"axis": 0}
    for name, value, channels_last in (("NCHW", first, 0), ("NHWC", last, 1)):
        inputs, layout = [value, *FORMAT, *FORMAT], {"channels_last": channels_last}
        yield (f"average 3x3 s2 {name}", "QLinearAveragePool", tfq.qlinear_average_pool, inputs,
               window | layout)  # fmt: skip
        yield (f"global average {name}", "QLinearGlobalAveragePool",
               tfq.qlinear_global_average_pool, inputs, layout)  # fmt: skip
    yield (
        "dynamic quantize",
        "DynamicQuantizeLinear",
        tfq.dynamic_quantize_linear,
        [rng.normal(size=elements).astype(np.float32)],
        {},
    )


def repeat(function: Callable[..., Any], inputs: list[Any], at: int, attributes: dict[str, Any],
           values: list[tf.Tensor]) -> list[Any]:  # fmt: skip
    """Runs a function once for each of the values in place of one input."""
    return [function(*inputs[:at], x, *inputs[at + 1 :], **attributes) for x in values]


def rows(elements: int, threads: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Measures case by case."""
    for name, op_type, function, inputs, attributes in cases(elements):
        largest = max(range(len(inputs)), key=lambda i, v=inputs: np.size(v[i]))
        repeated = tf.function(functools.partial(repeat, function, inputs, largest, attributes))
        large = [tf.constant(np.roll(inputs[largest], i)) for i in range(REPEATS)]
        ours = functools.partial(repeated, large)
        peer = session(op_type, inputs, threads, attributes)
        times = interleaved.compare({"ours": ours, "onnxruntime": peer}, seconds)
        times["ours"] = {k: v / REPEATS if k != "runs" else v for k, v in times["ours"].items()}
        ours_us, peer_us = (1e3 * times[k]["median_ms"] for k in ("ours", "onnxruntime"))
        yield {"operator": name, "ours_us": ours_us, "onnxruntime_us": peer_us,
               "ratio": peer_us / ours_us, "times": times}  # fmt: skip


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=65536)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each operator")
    options = parser.parse_args()
    interleaved.use_threads(options.threads)
    columns = {
        "operator": "operator",
        "ours_us": "us",
        "onnxruntime_us": "ONNX Runtime",
        "ratio": "speed over it",
    }
    interleaved.report(
        f"elementwise_{options.elements}_{options.threads}_threads",
        rows(options.elements, options.threads, options.seconds),
        columns,
        len(list(cases(options.elements))),
    )


if __name__ == "__main__":
    main()
