"""Operators on codes, one node at a time, beside ONNX Runtime; all constants become weights."""

import pathlib
import tempfile

import keras
import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs

FORMATS = {
    "xs": np.float32(0.043),
    "xz": np.uint8(121),
    "ys": np.float32(0.11),
    "yz": np.uint8(40),
}
IMAGE = (2, 3, 6, 5)


def microsoft(op_type, inputs, outputs=("y",), **attributes):
    return graphs.node(op_type, inputs, outputs, domain="com.microsoft", **attributes)


def codes(shape, dtype="uint8", seed=1):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


class QuantizedOperatorsTest(parameterized.TestCase):
    def check(self, nodes, inputs, constants, outputs=("y",), tolerance=0.0, opset=21):
        """Imports, compares with ONNX Runtime, and with itself after a .keras file."""
        signature = {n: (a.dtype, [None, *a.shape[1:]]) for n, a in inputs.items()}
        proto = graphs.model(nodes, signature, outputs, constants, opset, microsoft=True)
        model = tfq.onnx.import_model(proto)
        arrays = list(inputs.values())

        def run(model):
            results = model(arrays if len(arrays) > 1 else arrays[0])
            return results if isinstance(results, list) else [results]

        results = run(model)
        for result, wanted in zip(results, graphs.run_exactly(proto, *arrays), strict=True):
            self.assertEqual((result.dtype, result.shape), (wanted.dtype, wanted.shape))
            np.testing.assert_allclose(
                np.array(result, float), wanted.astype(float), rtol=tolerance, atol=0
            )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.keras")
            model.save(path)
            again = run(keras.models.load_model(path))
        for one, other in zip(again, results, strict=True):
            np.testing.assert_array_equal(one, other)
        return model

    def layer(self, model, kind):
        """The one layer of a kind."""
        (found,) = [layer for layer in model.layers if isinstance(layer, kind)]
        return found

    @parameterized.parameters(((2, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)))
    def test_qlinear_matmul(self, a_shape, b_shape):
        constants = FORMATS | {
            "b": codes(b_shape, "int8"),
            "bs": np.float32(0.02),
            "bz": np.int8(-3),
        }
        node = graphs.node("QLinearMatMul", ["x", "xs", "xz", "b", "bs", "bz", "ys", "yz"])
        model = self.check([node], {"x": codes(a_shape)}, constants)
        layer = self.layer(model, tfq.layers.QLinearMatMul)
        np.testing.assert_array_equal(layer.b, constants["b"])
        self.assertLen(layer.weights, 7)

    def test_qlinear_matmul_of_two_inputs(self):
        constants = FORMATS | {"bs": np.float32(0.02), "bz": np.int8(-3)}
        node = graphs.node("QLinearMatMul", ["x", "xs", "xz", "b", "bs", "bz", "ys", "yz"])
        inputs = {"x": codes((2, 3, 4)), "b": codes((2, 4, 5), "int8")}
        self.check([node], inputs, constants)

    @parameterized.product(trans_b=(0, 1), quantized=(False, True), alpha=(1.0, 0.37))
    def test_qgemm(self, trans_b, quantized, alpha):
        constants = FORMATS | {
            "b": codes((5, 4) if trans_b else (4, 5), "int8"),
            "bs": np.linspace(0.01, 0.05, 5, dtype=np.float32),
            "bz": np.zeros(5, np.int8),
            "c": np.arange(-2, 3, dtype=np.int32) * 1000,
        }
        outputs = ["ys", "yz"] if quantized else []
        node = microsoft(
            "QGemm",
            ["x", "xs", "xz", "b", "bs", "bz", "c", *outputs],
            transB=trans_b,
            alpha=alpha,
        )
        self.check([node], {"x": codes((3, 4))}, constants, tolerance=0 if quantized else 1e-6)

    def test_matmul_integer(self):
        constants = {"b": codes((4, 5), "int8"), "xz": np.uint8(7), "bz": codes(5, "int8", 2)}
        node = graphs.node("MatMulInteger", ["x", "b", "xz", "bz"])
        self.check([node], {"x": codes((2, 3, 4))}, constants)

    def test_matmul_integer_without_zero_points(self):
        node = graphs.node("MatMulInteger", ["x", "b"])
        self.check([node], {"x": codes((2, 4))}, {"b": codes((4, 5), "int8")})

    @parameterized.parameters(
        ({}, 3),
        ({"pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}, 3),
        ({"group": 3, "auto_pad": "SAME_UPPER"}, 1),
    )
    def test_dynamic_convolution(self, attributes, channels):
        nodes = [
            graphs.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
            graphs.node("ConvInteger", ["q", "w", "z", "wz"], ["y"], **attributes),
        ]
        constants = {"w": codes((6, channels, 2, 2)), "wz": np.uint8(128)}
        x = np.random.default_rng(3).normal(size=IMAGE).astype(np.float32)
        model = self.check(nodes, {"x": x}, constants, ["y", "s", "z", "q"])
        self.assertEqual(self.layer(model, tfq.layers.ConvInteger).w.shape, (6, channels, 2, 2))

    def test_matmul_integer_to_float(self):
        constants = FORMATS | {
            "b": codes((4, 5), "int8"),
            "bs": np.linspace(0.01, 0.05, 5, dtype=np.float32),
            "bias": np.linspace(-1, 1, 5, dtype=np.float32),
        }
        node = microsoft("MatMulIntegerToFloat", ["x", "b", "xs", "bs", "xz", "", "bias"])
        self.check([node], {"x": codes((2, 3, 4))}, constants, tolerance=1e-5)

    def test_dynamic_quantize_matmul(self):
        constants = {
            "b": codes((4, 5), "int8"),
            "bs": np.linspace(0.01, 0.05, 5, dtype=np.float32),
            "bias": np.linspace(-1, 1, 5, dtype=np.float32),
        }
        node = microsoft("DynamicQuantizeMatMul", ["x", "b", "bs", "", "bias"])
        x = np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)
        self.check([node], {"x": x}, constants, tolerance=1e-5)

    @parameterized.product(
        operator=("QLinearAdd", "QLinearMul"), shape=((), (3, 1, 1), (1, 3, 1, 1), (2, 3, 5, 5))
    )
    def test_sums_and_products_beside_an_image(self, operator, shape):
        constants = FORMATS | {"b": codes(shape, seed=4)}
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 1]),
            microsoft(operator, ["p", "xs", "xz", "b", "ys", "yz", "ys", "yz"]),
        ]
        self.check(nodes, {"x": codes(IMAGE)}, constants)

    def test_a_sum_of_two_images_stays_in_their_layout(self):
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 1]),
            microsoft("QLinearAdd", ["p", "xs", "xz", "p", "xs", "xz", "ys", "yz"], ["a"]),
            graphs.node("MaxPool", ["a"], kernel_shape=[2, 1]),
        ]
        model = self.check(nodes, {"x": codes(IMAGE)}, FORMATS)
        permutes = [layer for layer in model.layers if isinstance(layer, keras.layers.Permute)]
        self.assertLen(permutes, 2)

    @parameterized.parameters(
        ("QLinearSigmoid", {}), ("QLinearLeakyRelu", {}), ("QLinearLeakyRelu", {"alpha": 0.3})
    )
    def test_activations_of_all_codes(self, operator, attributes):
        node = microsoft(operator, ["x", "xs", "xz", "ys", "yz"], **attributes)
        self.check([node], {"x": np.arange(256, dtype=np.uint8).reshape(4, 64)}, FORMATS)

    @parameterized.parameters((1, 13), (-1, 13), (1, 11))
    def test_qlinear_softmax(self, axis, opset):
        constants = FORMATS | {"ys": np.float32(1 / 256), "yz": np.uint8(0)}
        node = microsoft("QLinearSoftmax", ["x", "xs", "xz", "ys", "yz"], axis=axis, opset=opset)
        self.check([node], {"x": codes((2, 3, 4))}, constants, opset=opset)

    @parameterized.parameters(
        {},
        {"strides": [2, 2], "ceil_mode": 1},
        {"pads": [1, 0, 0, 1], "count_include_pad": 1},
        {"auto_pad": "SAME_UPPER"},
        {"channels_last": 1},
    )
    def test_qlinear_average_pool(self, **attributes):
        node = microsoft(
            "QLinearAveragePool", ["x", "xs", "xz", "ys", "yz"], kernel_shape=[2, 2], **attributes
        )
        self.check([node], {"x": codes(IMAGE)}, FORMATS)

    @parameterized.parameters(0, 1)
    def test_qlinear_global_average_pool(self, channels_last):
        node = microsoft(
            "QLinearGlobalAveragePool",
            ["x", "xs", "xz", "ys", "yz"],
            channels_last=channels_last,
        )
        self.check([node], {"x": codes(IMAGE)}, FORMATS)

    @parameterized.product(axis=(1, 2, -1), pooled=(False, True))
    def test_qlinear_concat(self, axis, pooled):
        constants = FORMATS | {"c": codes((2, *IMAGE[1:]), seed=5)}
        pool = [graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[1, 1])] if pooled else []
        inputs = ["p" if pooled else "x", "xs", "xz", "c", "ys", "yz"]
        concat = microsoft("QLinearConcat", ["ys", "yz", *inputs], axis=axis)
        self.check([*pool, concat], {"x": codes(IMAGE)}, constants)

    def test_a_node_of_constants_is_folded(self):
        constants = FORMATS | {"c": codes((3,))}
        nodes = [
            microsoft("QLinearSigmoid", ["c", "xs", "xz", "ys", "yz"], ["s"]),
            microsoft("QLinearAdd", ["x", "xs", "xz", "s", "ys", "yz", "ys", "yz"]),
        ]
        model = self.check(nodes, {"x": codes((2, 3))}, constants)
        self.assertLen(model.layers, 2)


if __name__ == "__main__":
    absltest.main()
