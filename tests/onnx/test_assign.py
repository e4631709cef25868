"""assign_weights: networks built in Keras compute what the file's network does."""

import json

import keras
import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs

LAYERS = keras.layers


def dequantized_weight(rng, name, shape, axis=0, dtype="int8"):
    """A DequantizeLinear node of codes with a scale along an axis, and its constants."""
    limits = np.iinfo(dtype)
    constants = {
        name: rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype),
        f"{name}_scale": rng.uniform(0.001, 0.01, shape[axis]).astype(np.float32),
        f"{name}_zero": rng.integers(0, 9, shape[axis]).astype(dtype),
    }
    return graphs.node("DequantizeLinear", list(constants), [f"{name}_float"], axis=axis), constants


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def network(nodes, constants, shape, **options):
    return graphs.model(nodes, {"x": ("float32", [None, *shape])}, "y", constants, **options)


def last(x):
    return np.moveaxis(x, 1, -1)


def first(x):
    return np.moveaxis(x, -1, 1)


class ConvolutionsTest(parameterized.TestCase):
    def check(self, layer, op_type, kernel_shape, places, **attributes):
        """One layer on images, beside ONNX Runtime; kernels dequantized, biases floats."""
        rng = np.random.default_rng(1)
        axis = 1 if op_type == "ConvTranspose" else 0
        dequantize, constants = dequantized_weight(rng, "w", kernel_shape, axis)
        constants["b"] = floats(rng, *layer.bias.shape)
        nodes = [dequantize, graphs.node(op_type, ["x", "w_float", "b"], **attributes)]
        channels = layer.input_spec.axes[-1]
        proto = network(nodes, constants, [channels, *places])
        report = tfq.onnx.assign_weights(keras.Sequential([layer]), proto)
        self.assertEqual([a.initializer for a in report.assigned], ["w", "b"])
        self.assertEqual([a.values for a in report.assigned], ["dequantized", "float"])
        self.assertEmpty((*report.left_in_model, *report.left_in_file, *report.remarks))
        x = floats(rng, 2, channels, *places)
        np.testing.assert_allclose(
            first(layer(last(x)).numpy()), graphs.run_exactly(proto, x)[0], rtol=1e-4, atol=1e-4
        )

    @parameterized.parameters(
        ("Conv1D", 1, {"strides": 2}, {"strides": [2]}),
        ("Conv2D", 2, {"dilation_rate": 2}, {"dilations": [2, 2]}),
        ("Conv2D", 2, {"groups": 2}, {"group": 2}),
        ("Conv3D", 3, {}, {}),
    )
    def test_convolutions(self, name, rank, options, attributes):
        layer = getattr(LAYERS, name)(6, (3, 2, 2)[:rank], **options)
        layer.build((None, *(None,) * rank, 4))
        kernel_shape = (6, 4 // layer.groups, *(3, 2, 2)[:rank])
        self.check(layer, "Conv", kernel_shape, (7, 6, 5)[:rank], **attributes)

    @parameterized.parameters(("DepthwiseConv1D", 1, 1), ("DepthwiseConv2D", 2, 3))
    def test_depthwise(self, name, rank, multiplier):
        layer = getattr(LAYERS, name)(3, depth_multiplier=multiplier)
        layer.build((None, *(None,) * rank, 4))
        kernel_shape = (4 * multiplier, 1, *(3,) * rank)
        self.check(layer, "Conv", kernel_shape, (7, 6)[:rank], group=4)

    @parameterized.parameters(1, 2, 3)
    def test_transposed(self, rank):
        layer = getattr(LAYERS, f"Conv{rank}DTranspose")(6, (3, 2, 4)[:rank], strides=2)
        layer.build((None, *(None,) * rank, 4))
        kernel_shape = (4, 6, *(3, 2, 4)[:rank])
        # Keras extends a kernel of 2 or 3 places by no more than it overlaps.
        self.check(layer, "ConvTranspose", kernel_shape, (5, 4, 3)[:rank], strides=[2] * rank)

    def test_a_quantized_layer_takes_codes_and_parameters(self):
        proto = graphs.quantized_conv(strides=[2, 1])
        layer = tfq.layers.QLinearConv2D(
            6, 3, strides=(2, 1), x_scale=1, w_scale=np.ones(6, np.float32),
            w_zero_point=np.zeros(6, np.int8), y_scale=1, data_format="channels_first",
        )  # fmt: skip
        x = keras.Input((4, 7, 6), dtype="uint8")
        model = keras.Model(x, layer(x))
        report = tfq.onnx.assign_weights(model, proto)
        self.assertLen(report.assigned, 8)
        self.assertEqual({a.values for a in report.assigned}, {"codes", "float"})
        value = np.random.default_rng(2).integers(0, 256, (2, 4, 7, 6)).astype(np.uint8)
        np.testing.assert_array_equal(model(value), graphs.run_exactly(proto, value)[0])

    def test_codes_of_another_type_are_left(self):
        layer = tfq.layers.QLinearConv2D(
            6, 3, x_scale=1, w_scale=np.ones(6, np.float32), w_zero_point=np.uint8(0), y_scale=1
        )
        layer.build((None, 4, 4, 4))
        report = tfq.onnx.assign_weights(keras.Sequential([layer]), graphs.quantized_conv())
        reasons = {entry.name.split("/")[-1]: entry.reason for entry in report.left_in_model}
        self.assertEqual(reasons["kernel"], "it is uint8, w is int8")
        self.assertEqual(reasons["w_zero_point"], "it is uint8, wz is int8")
        self.assertNotIn("w_scale", reasons)

    def test_half_precision_targets(self):
        layer = LAYERS.Conv2D(6, 3, dtype="float16")
        layer.build((None, None, None, 4))
        proto = graphs.quantized_conv()
        tfq.onnx.assign_weights(keras.Sequential([layer]), proto)
        wanted = tfq.onnx.load_weights(proto)["w"].dequantize().astype(np.float16)
        np.testing.assert_array_equal(layer.kernel, wanted.transpose(2, 3, 1, 0))


class ProductsTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(3)
        self.layer = LAYERS.Dense(5)
        self.layer.build((None, 4))
        self.model = keras.Sequential([self.layer])

    def check(self, proto, kernel, bias=None):
        report = tfq.onnx.assign_weights(self.model, proto)
        np.testing.assert_allclose(self.layer.kernel, kernel, rtol=1e-6)
        if bias is not None:
            np.testing.assert_allclose(self.layer.bias, bias, rtol=1e-6)
        self.assertLen(report.left_in_model, int(bias is None))
        self.assertEmpty(report.left_in_file)
        return report

    @parameterized.product(trans_b=(0, 1), transpose=(False, True))
    def test_gemm(self, trans_b, transpose):
        shape = (5, 4) if trans_b != transpose else (4, 5)
        dequantize, constants = dequantized_weight(self.rng, "w", shape)
        constants["c"] = floats(self.rng, 1, 5)
        nodes = [dequantize]
        if transpose:
            nodes.append(graphs.node("Transpose", ["w_float"], ["w_turned"], perm=[1, 0]))
        operand = "w_turned" if transpose else "w_float"
        nodes.append(graphs.node("Gemm", ["x", operand, "c"], transB=trans_b))
        proto = network(nodes, constants, [4])
        kernel = tfq.onnx.load_weights(proto)["w"].dequantize()
        self.check(proto, kernel.T if shape == (5, 4) else kernel, constants["c"][0])
        x = floats(self.rng, 2, 4)
        np.testing.assert_allclose(self.model(x), graphs.run_exactly(proto, x)[0], rtol=1e-4)

    @parameterized.parameters("first", "second", "none")
    def test_matmul_and_the_addition_of_its_bias(self, place):
        dequantize, constants = dequantized_weight(self.rng, "w", (4, 5), axis=1)
        constants |= {"b": floats(self.rng, 5), "s": np.float32(0.1)}
        nodes = [
            dequantize,
            graphs.node("MatMul", ["x", "w_float"], ["m"]),
            graphs.node("QuantizeLinear", ["m", "s"], ["q"]),
            graphs.node("DequantizeLinear", ["q", "s"], ["d"]),
        ]
        operands = ["b", "d"] if place == "first" else ["d", "b"]
        nodes.append(
            graphs.node("Relu", ["d"]) if place == "none" else graphs.node("Add", operands)
        )
        if place == "none":
            del constants["b"]
        proto = network(nodes, constants, [4])
        kernel = tfq.onnx.load_weights(proto)["w"].dequantize()
        report = self.check(proto, kernel, constants.get("b"))
        if place == "none":
            self.assertIn("MatMul 'm' has no constant bias", report.left_in_model[0].reason)

    def test_qlinear_matmul_and_qlinear_add(self):
        constants = {
            "as": np.float32(0.1),
            "az": np.uint8(3),
            "w": self.rng.integers(-9, 9, (4, 5)).astype(np.int8),
            "ws": np.float32(0.25),
            "wz": np.int8(1),
            "ms": np.float32(0.2),
            "mz": np.uint8(0),
            "b": self.rng.integers(0, 9, 5).astype(np.uint8),
            "bs": np.float32(0.5),
            "bz": np.uint8(2),
            "ys": np.float32(0.3),
            "yz": np.uint8(0),
        }
        nodes = [
            graphs.node("QLinearMatMul", ["x", "as", "az", "w", "ws", "wz", "ms", "mz"], ["m"]),
            graphs.node(
                "QLinearAdd",
                ["m", "ms", "mz", "b", "bs", "bz", "ys", "yz"],
                domain="com.microsoft",
            ),
        ]
        proto = graphs.model(nodes, {"x": ("uint8", [1, 4])}, "y", constants, microsoft=True)
        self.check(proto, (constants["w"] - 1.0) * 0.25, (constants["b"] - 2.0) * 0.5)

    def test_qgemm(self):
        constants = {
            "as": np.float32(0.1),
            "az": np.uint8(3),
            "w": self.rng.integers(-9, 9, (5, 4)).astype(np.int8),
            "ws": self.rng.uniform(0.1, 1, 5).astype(np.float32),
            "wz": np.zeros(5, np.int8),
            "b": self.rng.integers(-99, 99, 5).astype(np.int32),
        }
        product = graphs.node("QGemm", ["x", *constants], domain="com.microsoft", transB=1)
        inputs = {"x": ("uint8", [1, 4])}
        proto = graphs.model([product], inputs, "y", constants, microsoft=True)
        self.check(
            proto,
            constants["w"].T * constants["ws"],
            constants["b"] * constants["as"] * constants["ws"],
        )

    def test_a_dynamic_product_with_a_reshaped_bias(self):
        constants = {
            "w": self.rng.integers(-9, 9, (4, 5)).astype(np.int8),
            "ws": self.rng.uniform(0.1, 1, 5).astype(np.float32),
            "b": floats(self.rng, 5),
            "shape": np.array([1, -1]),
        }
        nodes = [
            graphs.node("Reshape", ["b", "shape"], ["row"]),
            graphs.node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]),
            graphs.node("MatMulInteger", ["q", "w", "qz"], ["m"]),
            graphs.node("Cast", ["m"], ["f"], to=1),
            graphs.node("Mul", ["qs", "ws"], ["s"]),
            graphs.node("Mul", ["f", "s"], ["p"]),
            graphs.node("Add", ["p", "row"]),
        ]
        proto = network(nodes, constants, [4])
        self.check(proto, constants["w"] * constants["ws"], constants["b"])

    @parameterized.parameters({"alpha": 0.5}, {"beta": 2.0}, {"transA": 1})
    def test_products_that_no_layer_computes_are_left(self, **attributes):
        constants = {"w": floats(self.rng, 4, 5), "c": floats(self.rng, 5)}
        proto = network([graphs.node("Gemm", ["x", "w", "c"], **attributes)], constants, [4])
        before = self.layer.get_weights()
        report = tfq.onnx.assign_weights(self.model, proto)
        np.testing.assert_array_equal(self.layer.kernel, before[0])
        self.assertEqual([entry.name for entry in report.left_in_file], ["w", "c"])
        (name,) = attributes
        self.assertIn(name, report.left_in_file[0].reason)

    def test_integers_without_a_scale_are_left(self):
        constants = {"w": np.ones((4, 5), np.int8)}
        proto = graphs.model(
            [graphs.node("MatMulInteger", ["x", "w"])], {"x": ("uint8", [1, 4])}, "y", constants
        )
        report = tfq.onnx.assign_weights(self.model, proto)
        self.assertEqual(report.left_in_model[0].reason, "w is int8 without a scale")


class OthersTest(parameterized.TestCase):
    def test_batch_normalization_and_its_epsilon(self):
        rng = np.random.default_rng(4)
        constants = {name: floats(rng, 3) for name in ("gamma", "beta", "mean")}
        constants["variance"] = rng.uniform(0.5, 2, 3).astype(np.float32)
        proto = network([graphs.node("BatchNormalization", ["x", *constants])], constants, [3, 4])
        layer = LAYERS.BatchNormalization(epsilon=1e-5)
        x = floats(rng, 2, 3, 4)
        layer.build((None, 4, 3))
        report = tfq.onnx.assign_weights(keras.Sequential([layer]), proto)
        self.assertEmpty(report.remarks)
        wanted = graphs.run_exactly(proto, x)[0]
        np.testing.assert_allclose(first(layer(last(x)).numpy()), wanted, rtol=1e-4, atol=1e-5)
        other = LAYERS.BatchNormalization(name="norm")
        other.build((None, 4, 3))
        report = tfq.onnx.assign_weights(keras.Sequential([other]), proto)
        self.assertEqual(report.remarks, ("norm: epsilon is 0.001, in the file 1e-05",))

    def test_layer_normalization_and_embedding_of_codes(self):
        rng = np.random.default_rng(5)
        table = rng.integers(-128, 128, (10, 3)).astype(np.int8)
        constants = {"t": table, "s": np.float32(0.01), "g": floats(rng, 3), "b": floats(rng, 3)}
        nodes = [
            graphs.node("Gather", ["t", "x"], ["rows"]),
            graphs.node("DequantizeLinear", ["rows", "s"], ["e"]),
            graphs.node("LayerNormalization", ["e", "g", "b"], epsilon=1e-3),
        ]
        proto = graphs.model(nodes, {"x": ("int64", [None, 4])}, "y", constants)
        x = keras.Input((4,), dtype="int64")
        model = keras.Model(x, LAYERS.LayerNormalization()(LAYERS.Embedding(10, 3)(x)))
        report = tfq.onnx.assign_weights(model, proto)
        self.assertEmpty((*report.left_in_model, *report.left_in_file, *report.remarks))
        value = rng.integers(0, 10, (2, 4))
        np.testing.assert_allclose(model(value), graphs.run_exactly(proto, value)[0], rtol=1e-4)


class FlatteningTest(parameterized.TestCase):
    def proto(self, rng, transpose=False):
        """x [n, 2, 5, 4] -> Conv to 3 channels -> Relu -> (Transpose) -> Flatten -> Gemm."""
        constants = {"w": floats(rng, 3, 2, 2, 2), "k": floats(rng, 36, 7), "s": np.float32(0.1)}
        nodes = [
            graphs.node("Conv", ["x", "w"], ["c"]),
            graphs.node("Relu", ["c"], ["r"]),
            graphs.node("Transpose", ["r"], ["t"], perm=[0, 2, 3, 1]),
            graphs.node("Flatten", ["t" if transpose else "r"], ["f"]),
            graphs.node("Gemm", ["f", "k"]),
        ]
        if not transpose:
            del nodes[2]
        del constants["s"]
        return network(nodes, constants, [2, 5, 4])

    def model(self, data_format, *flatten):
        shape = (5, 4, 2) if data_format == "channels_last" else (2, 5, 4)
        return keras.Sequential(
            [
                keras.Input(shape),
                LAYERS.Conv2D(3, 2, activation="relu", data_format=data_format, use_bias=False),
                *flatten,
                LAYERS.Dropout(0.5),
                LAYERS.Dense(7, use_bias=False, name="dense"),
            ]
        )

    @parameterized.parameters(
        (False, "channels_last", LAYERS.Flatten(), True),
        (False, "channels_last", LAYERS.Reshape((36,)), True),
        (True, "channels_last", LAYERS.Flatten(), False),
        (False, "channels_first", LAYERS.Flatten(data_format="channels_last"), False),
        (False, "channels_first", LAYERS.Flatten(data_format="channels_first"), True),
        (True, "channels_first", LAYERS.Flatten(data_format="channels_last"), True),
    )
    def test_rows_follow_the_order_of_the_models_images(
        self, transpose, data_format, flatten, reordered
    ):
        rng = np.random.default_rng(6)
        proto = self.proto(rng, transpose)
        flatten = type(flatten).from_config(flatten.get_config())
        model = self.model(data_format, flatten)
        report = tfq.onnx.assign_weights(model, proto)
        self.assertLen(report.remarks, int(reordered))
        if reordered:
            self.assertIn("dense: rows reordered from channels_", report.remarks[0])
        x = floats(rng, 2, 2, 5, 4)
        if data_format == "channels_last":
            np.testing.assert_allclose(
                model(last(x)), graphs.run_exactly(proto, x)[0], rtol=1e-4, atol=1e-4
            )
        else:  # Keras convolves in this order on other devices only
            twin = self.model("channels_last", LAYERS.Flatten())
            tfq.onnx.assign_weights(twin, proto)
            rows = twin.get_weights()[1].reshape(4, 3, 3, 7)
            if flatten.data_format == "channels_last":
                rows = np.moveaxis(rows, 2, 0)
            np.testing.assert_array_equal(model.get_weights()[1], rows.reshape(36, 7))

    def test_an_order_that_is_not_known_is_said(self):
        constants = {"k": np.ones((36, 7), np.float32)}
        nodes = [graphs.node("Flatten", ["x"], ["f"]), graphs.node("Gemm", ["f", "k"])]
        proto = network(nodes, constants, [3, 4, 3])
        model = self.model("channels_last", LAYERS.Flatten())
        (remark,) = tfq.onnx.assign_weights(model, proto).remarks
        self.assertIn("how the file does is not known, so rows stay", remark)
        dense = LAYERS.Dense(7, use_bias=False)
        dense.build((None, 36))
        flat = keras.Input((36,))
        inner = keras.Model(flat, LAYERS.Dense(7, use_bias=False)(flat))
        for model in (keras.Sequential([dense]), inner):
            proto = self.proto(np.random.default_rng(7))
            (remark,) = tfq.onnx.assign_weights(model, proto).remarks
            self.assertIn("how the model does is not known, so rows stay", remark)


def three_products(rng):
    """x [n, 4] -> Gemm to 4 -> Gemm to 4 -> Gemm to 5."""
    constants = {"a": floats(rng, 4, 4), "b": floats(rng, 4, 4), "c": floats(rng, 4, 5)}
    nodes = [
        graphs.node("Gemm", ["x", "a"], ["p"]),
        graphs.node("Gemm", ["p", "b"], ["q"]),
        graphs.node("Gemm", ["q", "c"]),
    ]
    return network(nodes, constants, [4]), constants


def dense_model(*units):
    layers = [LAYERS.Dense(n, use_bias=False, name=f"dense{i}") for i, n in enumerate(units)]
    return keras.Sequential([keras.Input((4,)), *layers], name="model")


class PairingTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.proto, self.constants = three_products(np.random.default_rng(8))

    def test_equal_shapes_are_paired_in_order(self):
        model = dense_model(4, 4, 5)
        report = tfq.onnx.assign_weights(model, self.proto)
        self.assertEqual([a.found_by for a in report.assigned], ["order", "order", "shape"])
        for weight, constant in zip(model.get_weights(), self.constants.values(), strict=True):
            np.testing.assert_array_equal(weight, constant)

    def test_ambiguities_are_left_and_said(self):
        model = dense_model(4, 5)
        before = model.get_weights()[0]
        report = tfq.onnx.assign_weights(model, self.proto)
        self.assertEqual([a.initializer for a in report.assigned], ["c"])
        np.testing.assert_array_equal(model.get_weights()[0], before)
        self.assertEqual([entry.name for entry in report.left_in_file], ["a", "b"])
        self.assertEqual([entry.name for entry in report.left_in_model], ["model/dense0/kernel"])
        for entry in (*report.left_in_file, *report.left_in_model):
            self.assertIn("ambiguous without a mapping: dense of (4, 4), 1 in", entry.reason)

    def test_what_one_side_lacks_is_said(self):
        model = keras.Sequential([keras.Input((3, 4)), LAYERS.GRU(2, name="gru")])
        report = tfq.onnx.assign_weights(model, self.proto)
        self.assertEmpty(report.assigned)
        self.assertLen(report.left_in_model, 3)
        self.assertEqual(report.left_in_model[0].reason, "no operator corresponds to its layer")
        self.assertIn("no such layer: dense of (4, 4)", report.left_in_file[0].reason)

    def test_models_in_models(self):
        inner = dense_model(4)
        x = keras.Input((4,))
        model = keras.Model(x, LAYERS.Dense(5, use_bias=False)(inner(x)))
        del self.proto.graph.node[1]
        self.proto.graph.node[1].input[0] = "p"
        report = tfq.onnx.assign_weights(model, self.proto)
        self.assertEqual([a.initializer for a in report.assigned], ["a", "c"])

    def test_weights_shared_by_nodes_and_layers_count_once(self):
        self.proto.graph.node[1].input[1] = "a"
        shared = LAYERS.Dense(4, use_bias=False)
        x = keras.Input((4,))
        model = keras.Model(x, LAYERS.Dense(5, use_bias=False)(shared(shared(x))))
        report = tfq.onnx.assign_weights(model, self.proto)
        self.assertEqual([a.initializer for a in report.assigned], ["a", "c"])

    def test_a_model_without_weights(self):
        with self.assertRaisesRegex(ValueError, "must be built, .* Received: 'empty'"):
            tfq.onnx.assign_weights(keras.Sequential(name="empty"), self.proto)


class MappingTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.proto, self.constants = three_products(np.random.default_rng(9))
        self.model = dense_model(4, 4, 5)

    def test_layers_and_weights(self):
        mapping = {"dense0": "b", "model/dense1/kernel": "a"}
        report = tfq.onnx.assign_weights(self.model, self.proto, mapping)
        np.testing.assert_array_equal(self.model.get_weights()[0], self.constants["b"])
        np.testing.assert_array_equal(self.model.get_weights()[1], self.constants["a"])
        self.assertEqual({a.found_by for a in report.assigned}, {"mapping"})
        self.assertEqual([entry.reason for entry in report.left_in_file], ["not mapped"])
        self.assertEqual([entry.name for entry in report.left_in_model], ["model/dense2/kernel"])

    def test_a_layer_brings_its_bias_and_a_weight_overrides_it(self):
        proto = graphs.quantized_conv()
        extra = graphs.numpy_helper.from_array(np.arange(6, dtype=np.float32), "other")
        proto.graph.initializer.append(extra)
        layer = LAYERS.Conv2D(6, 3, name="conv")
        layer.build((None, None, None, 4))
        model = keras.Sequential([layer])
        report = tfq.onnx.assign_weights(model, proto, {"conv": "w"})
        self.assertEqual([a.initializer for a in report.assigned], ["w", "b"])
        np.testing.assert_array_equal(layer.bias, tfq.onnx.load_weights(proto)["b"].dequantize())
        report = tfq.onnx.assign_weights(model, proto, {"bias": "other", "conv": "w"})
        self.assertEqual([a.initializer for a in report.assigned], ["w", "other"])
        np.testing.assert_array_equal(layer.bias, np.arange(6))

    def test_any_weight_takes_any_constant_of_its_shape(self):
        model = keras.Sequential([keras.Input((3, 4)), LAYERS.GRU(2)])
        values = np.random.default_rng(10).normal(size=(4, 6)).astype(np.float32)
        proto = network([graphs.node("Relu", ["x"])], {"values": values}, [1])
        tfq.onnx.assign_weights(model, proto, {"gru_cell/kernel": "values"})
        np.testing.assert_array_equal(model.get_weights()[0], values)

    @parameterized.parameters(
        ({"dense0": "nothing"}, "Received: 'dense0': 'nothing'"),
        ({"dense9": "a"}, r"Received: 'dense9', near to \['dense2'"),
        ({"kernel": "a"}, "Received: 'kernel', which ends .*dense0.*dense2"),
        ({"dense2": "a"}, r"dense of \(4, 5\), the operator dense of \(4, 4\). .*'dense2': 'a'"),
        ({"dense2/kernel": "a"}, r"'model/dense2/kernel' cannot take 'a': .*\(4, 4\) does not"),
        (
            {"dense0": "b", "dense2/kernel": "z"},
            r"'model/dense2/kernel' cannot take 'z': z of shape",
        ),
        ({"dense0": "z"}, "'z' is not the main one of an operator"),
    )
    def test_what_does_not_fit_is_named_and_nothing_is_assigned(self, mapping, message):
        unused = graphs.numpy_helper.from_array(np.zeros((5, 4), np.float32), "z")
        self.proto.graph.initializer.append(unused)
        before = self.model.get_weights()
        with self.assertRaisesRegex(ValueError, message):
            tfq.onnx.assign_weights(self.model, self.proto, mapping)
        for weight, old in zip(self.model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(weight, old)


class ReportTest(parameterized.TestCase):
    def test_it_prints_tables_and_goes_into_json(self):
        proto, _ = three_products(np.random.default_rng(11))
        report = tfq.onnx.assign_weights(dense_model(4, 5), proto)
        text = str(report)
        for part in ("Assigned: 1 weights", "Left in the file: 2", "model/dense1/kernel", "(4, 4)"):
            self.assertIn(part, text)
        entries = json.loads(report.to_json())
        self.assertEqual(entries["assigned"][0]["initializer"], "c")
        self.assertEqual(entries["left_in_model"][0]["name"], "model/dense0/kernel")

    def test_the_digits_network(self):
        names = ("conv1", "conv2", "conv3")
        shapes = ((16, 1), (32, 16), (48, 32))
        layers = []
        for name, (filters, channels) in zip(names, shapes, strict=True):
            layers.append(LAYERS.Conv2D(filters, 3, name=name))
            layers[-1].build((None, None, None, channels))
        dense = LAYERS.Dense(10, name="scores")
        dense.build((None, 48))
        report = tfq.onnx.assign_weights(keras.Sequential([*layers, dense]), graphs.DIGITS)
        self.assertLen(report.assigned, 8)
        self.assertEmpty((*report.left_in_model, *report.left_in_file, *report.remarks))


if __name__ == "__main__":
    absltest.main()
