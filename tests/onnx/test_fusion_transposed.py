"""ConvTranspose between pairs has the values of exact integers."""

import itertools

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_bytes
from tests.contract_bytes import codes
from tests.onnx import qdq

X = (np.float32(0.05), np.uint8(120))
Y = (np.float32(0.7), np.uint8(30))


def transposed(x, w, strides, pads, dilations, output_padding, groups):
    """The definition: each number adds its multiple of the kernel."""
    (n, c, *size), (_, m, *kernel) = x.shape, w.shape
    whole = [
        (i - 1) * s + (k - 1) * d + 1 + o
        for i, s, k, d, o in zip(size, strides, kernel, dilations, output_padding, strict=True)
    ]
    y = np.zeros((n, groups * m, *whole), np.int64)
    for channel, *place in itertools.product(range(c), *map(range, kernel)):
        group = channel // (c // groups)
        where = tuple(
            slice(k * d, k * d + (i - 1) * s + 1, s)
            for k, d, i, s in zip(place, dilations, size, strides, strict=True)
        )
        target = y[(slice(None), slice(group * m, (group + 1) * m), *where)]
        target += x[:, channel, None] * w[(channel, slice(None), *place)].reshape(
            -1, *[1] * len(size)
        )
    ends = [length - p for length, p in zip(whole, pads[len(size) :], strict=True)]
    return y[(..., *map(slice, pads[: len(size)], ends))]


def graph_of(rng, shape=(2, 4, 5, 4), kernel=(3, 2), groups=1, per_channel=True, **attributes):
    """A quantized ConvTranspose, its input, and its exact codes."""
    spatial = len(shape) - 2
    x, w = codes(rng, np.uint8, shape), codes(rng, np.int8, (4, 6 // groups, *kernel))
    scale = rng.uniform(0.01, 0.05, 6 // groups if per_channel else ()).astype(np.float32)
    of_filters = np.tile(scale, groups) if per_channel else scale
    b = rng.integers(-3000, 3000, 6).astype(np.int32)
    graph = qdq.Builder()
    inputs = [graph.dq(graph.codes("x", x), *X)]
    zero = np.zeros(scale.shape, np.int8)
    inputs.append(graph.dq(graph.constant("w", w), scale, zero, axis=1))
    bias_zero = np.zeros(of_filters.shape, np.int32)
    inputs.append(graph.dq(graph.constant("b", b), X[0] * of_filters, bias_zero, axis=0))
    name = graph.op("ConvTranspose", inputs, "c", group=groups, **attributes)
    graph.q(name, *Y)
    defaults = {"strides": [1] * spatial, "pads": [0] * 2 * spatial, "dilations": [1] * spatial,
                "output_padding": [0] * spatial}  # fmt: skip
    given = {k: attributes.get(k, v) for k, v in defaults.items()}
    places = (1,) * spatial
    sums = transposed(x.astype(np.int64) - int(X[1]), w.astype(np.int64), groups=groups, **given)
    factor = (X[0] * of_filters) / Y[0]
    factor = factor.reshape(-1, *places) if per_channel else factor
    total = (sums + b.reshape(-1, *places)).astype(np.float32)
    return graph, x, contract_bytes.round_then_add(total * factor, Y[1])


class ConvTransposeTest(parameterized.TestCase):
    @parameterized.parameters(
        {},
        {"per_channel": False},
        {"strides": [2, 2], "kernel": (2, 2)},
        {"strides": [2, 2], "kernel": (3, 3), "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
        {"strides": [2, 2], "kernel": (4, 4), "pads": [1, 0, 1, 2]},
        {"strides": [3, 3], "kernel": (3, 4), "output_padding": [2, 1]},
        {"dilations": [2, 3], "pads": [1, 2, 0, 1]},
        {"strides": [2, 2], "kernel": (3, 3), "dilations": [2, 1]},
        {"groups": 2, "strides": [2, 2], "kernel": (2, 3)},
        {"shape": (2, 4, 7), "kernel": (3,), "pads": [1, 0]},
    )
    def test_codes_are_exact(self, **case):
        graph, x, want = graph_of(np.random.default_rng(1), **case)
        model = tfq.onnx.import_model(graph.model("c_q"))
        self.assertEqual([entry.into for entry in model.import_report.fused], ["QLinearConv"])
        self.assertEmpty(model.import_report.stayed_float)
        np.testing.assert_array_equal(model(x), want)

    def test_heights_and_widths_may_be_unknown(self):
        graph, x, want = graph_of(np.random.default_rng(3), strides=[2, 2], kernel=(2, 2))
        graph.inputs["x"] = (np.uint8, (None, 4, None, None))
        model = tfq.onnx.import_model(graph.model("c_q"))
        np.testing.assert_array_equal(model(x), want)

    @parameterized.parameters(
        ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "auto_pad"),
        ({"strides": [2, 1]}, "strides"),
        ({"strides": [3, 3], "kernel": (2, 2)}, "beyond"),
    )
    def test_others_stay_as_they_are(self, case, reason):
        graph, x, _ = graph_of(np.random.default_rng(2), **case)
        model = tfq.onnx.import_model(graph.model("c_q"))
        (entry,) = model.import_report.stayed_float
        self.assertIn(reason, entry.reason)
        kept = tfq.onnx.import_model(graph.model("c_q"), qdq="keep")
        np.testing.assert_array_equal(model(x), kept(x))


if __name__ == "__main__":
    absltest.main()
