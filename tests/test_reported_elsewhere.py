"""Inputs from public bug reports against other implementations; the others stand in tests/ops.

Each test's comment names the report.
"""

import ml_dtypes
import numpy as np
from absl.testing import absltest, parameterized
from onnx import TensorProto, helper

import tf_qops as tfq
from tests import contract
from tests.onnx import graphs

UNIT = {"x_scale": 1.0, "x_zero_point": 0, "w_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}


def codes(seed, *shape, dtype="uint8", low=0, high=9):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


class ConvolutionTest(parameterized.TestCase):
    def assert_as_specified(self, x, w, w_scale, bias=None, **attributes):
        rank = x.ndim - 2
        want = contract.qlinear_conv(
            x, np.float32(1), np.uint8(0), w, w_scale, np.int8(0), np.float32(40), np.uint8(100),
            bias, **{"strides": [1] * rank, "dilations": [1] * rank, "pads": [0] * 2 * rank,
                     "group": 1} | attributes)  # fmt: skip
        arguments = UNIT | {"y_scale": 40.0, "y_zero_point": 100}
        got = tfq.qlinear_conv(x, w=w, w_scale=w_scale, bias=bias, **arguments, **attributes)
        np.testing.assert_array_equal(got, want)

    def test_a_scale_for_each_filter_at_any_rank(self):
        # onnx/onnx/issues/6428 and apache/tvm/issues/17197: one spatial dimension.
        w_scale = np.float32([0.5, 1, 2, 4])
        self.assert_as_specified(codes(1, 2, 3, 9), codes(2, 4, 3, 3, dtype="int8"), w_scale)

    def test_a_bias_of_one_dimension(self):
        # onnx/onnx-tensorflow/issues/1024.
        bias = np.arange(64, dtype=np.int32) * 100
        for w_scale in (np.float32(0.5), np.linspace(0.1, 1, 64, dtype=np.float32)):
            self.assert_as_specified(
                codes(3, 1, 3, 24, 24), codes(4, 64, 3, 7, 7, dtype="int8", low=-9), w_scale, bias,
                strides=[2, 2], pads=[3, 3, 3, 3])  # fmt: skip

    def test_scales_of_filters_where_there_are_groups(self):
        # apache/tvm/pull/10162.
        w_scale = np.float32([0.1, 0.5, 1, 2, 3, 4])
        self.assert_as_specified(
            codes(5, 2, 4, 6, 6), codes(6, 6, 2, 3, 3, dtype="int8"), w_scale, group=2
        )

    def test_transposed_filters_are_quantized_along_axis_1(self):
        # onnx/tensorflow-onnx/pull/2134: W is [channels, filters, ...], a scale for each filter.
        w, scale = codes(7, 2, 3, 2, 2, dtype="int8"), np.float32([0.5, 1, 2])
        constants = {"w": w, "scale": scale, "zero": np.zeros(3, np.int8)}
        nodes = [
            graphs.node("DequantizeLinear", ["w", "scale", "zero"], ["dw"], axis=1),
            graphs.node("ConvTranspose", ["x", "dw"], ["y"], strides=[2, 2]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [1, 2, 2, 2])}, ["y"], constants)
        x = np.random.default_rng(8).normal(size=(1, 2, 2, 2)).astype(np.float32)
        want = np.zeros((1, 3, 4, 4), np.float32)
        weights = w * scale[:, np.newaxis, np.newaxis]
        for i, j in np.ndindex(2, 2):
            window = want[0, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            window += np.einsum("c,cmab->mab", x[0, :, i, j], weights)
        np.testing.assert_allclose(tfq.onnx.import_model(proto)(x), want, rtol=1e-6)


class ValuesTest(parameterized.TestCase):
    def test_products_saturate(self):
        # onnx/onnx/issues/7835: 100 * 100 / 0.2 wraps there.
        y = tfq.qlinear_matmul(np.uint8([[100]]), 1.0, 0, np.uint8([[100]]), 1.0, 0, 0.2, 0)
        self.assertEqual(y.numpy(), 255)

    def test_sums_follow_one_formula(self):
        # microsoft/onnxruntime/issues/11759, 91 + 100: true quotients, rounded once.
        a_scale, b_scale, c_scale = np.float32([0.11, 0.07, 0.13])
        value = np.float32(91) * a_scale + np.float32(100) * b_scale
        want = np.rint(np.float32(value / c_scale))
        y = tfq.qlinear_add(np.uint8([91]), a_scale, 0, np.uint8([100]), b_scale, 0, c_scale, 0)
        self.assertEqual(y.numpy(), want)

    def test_the_last_nibble_stands_alone(self):
        # openvinotoolkit/openvino/pull/31006.
        values = [-8, 7, 3, -1, 5]
        constant = helper.make_tensor("w", TensorProto.INT4, [5], values)
        node = graphs.node("DequantizeLinear", ["w", "scale"], ["dw"])
        add = graphs.node("Add", ["x", "dw"])
        proto = graphs.model(
            [node, add], {"x": ("float32", [5])}, ["y"], {"scale": np.float32(0.5)}
        )
        proto.graph.initializer.append(constant)
        weights = tfq.onnx.load_weights(proto)["w"]
        np.testing.assert_array_equal(weights.values.astype(np.int8), values)
        y = tfq.dequantize_linear(np.array(values).astype(ml_dtypes.int4), 0.5)
        np.testing.assert_array_equal(y, np.float32(values) / 2)
        np.testing.assert_array_equal(
            tfq.onnx.import_model(proto)(np.zeros(5, np.float32)), np.float32(values) / 2
        )


if __name__ == "__main__":
    absltest.main()
