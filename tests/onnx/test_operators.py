"""Every operator that can be imported, one node at a time, beside ONNX Runtime."""

import keras
import numpy as np
from absl.testing import absltest, parameterized
from onnx import TensorProto

import tf_qops as tfq
from tests import contract
from tests.onnx import graphs


class OperatorsTest(parameterized.TestCase):
    def check(self, proto, *arrays, exact=True):
        imported = tfq.onnx.import_model(proto)
        results = imported(list(arrays) if len(arrays) > 1 else arrays[0])
        results = results if isinstance(results, list) else [results]
        for result, wanted in zip(results, graphs.run_exactly(proto, *arrays), strict=True):
            self.assertEqual(result.dtype, wanted.dtype)
            self.assertEqual(result.shape, wanted.shape)
            if exact:
                np.testing.assert_array_equal(result, wanted)
            else:
                np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)
        return imported

    @parameterized.parameters(
        {},
        {"pads": [1, 2, 0, 1], "strides": [2, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID", "dilations": [2, 1]},
        {"group": 2, "kernel_shape": [3, 3]},
    )
    def test_qlinear_conv(self, **attributes):
        x = np.random.default_rng(1).integers(0, 256, (2, 4, 7, 6)).astype(np.uint8)
        self.check(graphs.quantized_conv(**attributes), x)

    @parameterized.parameters(
        ((7,), {"pads": [2, 1], "strides": [2]}),
        ((4, 3, 5), {"auto_pad": "SAME_LOWER", "strides": [2, 1, 2]}),
    )
    def test_qlinear_conv_in_one_and_three_dimensions(self, places, attributes):
        rng = np.random.default_rng(1)
        constants = {
            "xs": np.float32(0.02),
            "xz": np.uint8(128),
            "w": rng.integers(-128, 128, (6, 4, *(2,) * len(places))).astype(np.int8),
            "ws": rng.uniform(0.01, 0.05, 6).astype(np.float32),
            "wz": np.zeros(6, np.int8),
            "ys": np.float32(0.3),
            "yz": np.uint8(100),
        }
        conv = graphs.node("QLinearConv", ["x", *constants], **attributes)
        proto = graphs.model([conv], {"x": ("uint8", ["n", 4, *places])}, "y", constants)
        self.check(proto, rng.integers(0, 256, (2, 4, *places)).astype(np.uint8))

    @parameterized.parameters(0, 1, 3, -1)
    def test_quantize_and_dequantize_along_an_axis(self, axis):
        rng = np.random.default_rng(2)
        x = rng.normal(size=(2, 3, 4, 5)).astype(np.float32)
        length = x.shape[axis]
        constants = {
            "s": rng.uniform(0.01, 0.1, length).astype(np.float32),
            "z": rng.integers(-9, 9, length).astype(np.int8),
        }
        nodes = [
            graphs.node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
            graphs.node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis),
        ]
        proto = graphs.model(nodes, {"x": ("float32", x.shape)}, ["q", "y"], constants)
        self.check(proto, x)

    @parameterized.product(computed=("s", "z", "sz"), axis=(1, 3, None))
    def test_scales_and_zero_points_may_be_computed(self, computed, axis):
        rng = np.random.default_rng(2)
        x = rng.normal(size=(2, 3, 4, 5)).astype(np.float32)
        shape = () if axis is None else (x.shape[axis],)
        parameters = {
            "s": rng.uniform(0.01, 0.1, shape).astype(np.float32),
            "z": rng.integers(-9, 9, shape).astype(np.int8),
        }
        attributes = {} if axis is None else {"axis": axis}
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 1]),  # leaves the channels last
            graphs.node("QuantizeLinear", ["p", "s", "z"], ["q"], **attributes),
            graphs.node("DequantizeLinear", ["q", "s", "z"], ["d"], **attributes),
            graphs.node("MaxPool", ["d"], ["y"], kernel_shape=[1, 1]),
        ]
        given = [name for name in "sz" if name in computed]
        inputs = {"x": ("float32", x.shape)}
        inputs |= {name: (parameters[name].dtype, shape) for name in given}
        constants = {n: v for n, v in parameters.items() if n not in given}
        proto = graphs.model(nodes, inputs, ["q", "y"], constants)
        self.check(proto, x, *(parameters[name] for name in given))

    def test_blocks_along_the_channels_of_an_image(self):
        rng = np.random.default_rng(3)
        x = rng.integers(-128, 128, (2, 5, 3, 4)).astype(np.int8)
        scale = rng.uniform(0.01, 0.1, (2, 3, 3, 4)).astype(np.float32)
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[1, 1]),
            graphs.node("DequantizeLinear", ["p", "s"], ["d"], axis=1, block_size=2),
            graphs.node("MaxPool", ["d"], ["y"], kernel_shape=[1, 1]),
        ]
        proto = graphs.model(nodes, {"x": ("int8", x.shape)}, "y", {"s": scale})
        y = tfq.onnx.import_model(proto)(x)
        np.testing.assert_array_equal(y, x * np.repeat(scale, 2, axis=1)[:, :5])

    def test_float8_that_does_not_saturate(self):
        quantize = graphs.node("QuantizeLinear", ["x", "s", "z"], ["q"], saturate=0)
        dequantize = graphs.node("DequantizeLinear", ["q", "s", "z"], ["y"])
        constants = {"s": np.float32(0.5), "z": np.zeros((), "float8_e4m3fn")}
        nodes, inputs = [quantize, dequantize], {"x": ("float32", [3])}
        x = np.array([1.5, 1000, -1000], np.float32)
        y = tfq.onnx.import_model(graphs.model(nodes, inputs, "y", constants))(x)
        np.testing.assert_array_equal(y, [1.5, np.nan, np.nan])

    def test_a_quotient_of_another_precision(self):
        x = np.linspace(-3, 3, 1001).astype(np.float32)
        precision = TensorProto.FLOAT16
        quantize = graphs.node("QuantizeLinear", ["x", "s", "z"], precision=precision)
        constants = {"s": np.float32(0.0371), "z": np.int8(5)}
        proto = graphs.model([quantize], {"x": ("float32", x.shape)}, "y", constants, opset=23)
        wanted = contract.quantize_linear(x, *constants.values(), precision=np.float16)
        np.testing.assert_array_equal(tfq.onnx.import_model(proto)(x), wanted)

    def test_quantize_without_a_zero_point_gives_uint8(self):
        quantize = graphs.node("QuantizeLinear", ["x", "s"])
        proto = graphs.model(
            [quantize], {"x": ("float32", [3])}, constants={"s": np.float32(0.5)}, opset=13
        )
        self.check(proto, np.array([-1, 0.75, 300], np.float32))

    def test_the_channel_axis_is_kept_between_image_operators(self):
        """Between two image operators the channels are last, and the axis is moved there."""
        rng = np.random.default_rng(3)
        constants = {
            "s": rng.uniform(0.01, 0.1, 3).astype(np.float32),
            "z": rng.integers(-9, 9, 3).astype(np.int8),
        }
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2]),
            graphs.node("DequantizeLinear", ["p", "s", "z"], ["d"], axis=1),
            graphs.node("Relu", ["d"], ["r"]),
            graphs.node("QuantizeLinear", ["r", "s", "z"], ["q"], axis=1),
            graphs.node("MaxPool", ["q"], ["y"], kernel_shape=[2, 2]),
        ]
        x = rng.integers(-128, 128, (2, 3, 6, 5)).astype(np.int8)
        imported = self.check(graphs.model(nodes, {"x": ("int8", x.shape)}, "y", constants), x)
        permutes = [layer for layer in imported.layers if isinstance(layer, keras.layers.Permute)]
        self.assertLen(permutes, 2)

    @parameterized.parameters(
        ("int8", {"kernel_shape": [2, 2], "ceil_mode": 1, "strides": [2, 2]}),
        ("uint8", {"kernel_shape": [3, 2], "pads": [0, 1, 2, 0]}),
        ("float32", {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"}),
        ("float32", {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    )
    def test_max_pool(self, dtype, attributes):
        x = np.random.default_rng(4).integers(0, 100, (2, 3, 7, 6)).astype(dtype)
        pool = graphs.node("MaxPool", ["x"], **attributes)
        self.check(graphs.model([pool], {"x": (dtype, [None, 3, 7, 6])}), x)

    @parameterized.parameters(1, 2, 3, 4)
    def test_global_average_pool(self, spatial):
        shape = (2, 3, 5, 4, 6, 2)[: spatial + 2]
        x = np.random.default_rng(5).normal(size=shape).astype(np.float32)
        pool = graphs.node("GlobalAveragePool", ["x"])
        y = tfq.onnx.import_model(graphs.model([pool], {"x": ("float32", shape)}))(x)
        wanted = x.mean(axis=tuple(range(2, spatial + 2)), keepdims=True, dtype=np.float64)
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)

    @parameterized.parameters("float32", "int8")
    def test_relu(self, dtype):
        x = np.arange(-3, 3).reshape(2, 3).astype(dtype)
        self.check(graphs.model([graphs.node("Relu", ["x"])], {"x": (dtype, [None, 3])}), x)

    @parameterized.parameters(0, 1, 2, 3, -1)
    def test_flatten(self, axis):
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        flatten = graphs.node("Flatten", ["x"], axis=axis)
        self.check(graphs.model([flatten], {"x": ("float32", [None, 3, 4])}), x)

    @parameterized.parameters(
        ([0, -1], 0), ([2, 2, 3, 2], 0), ([-1], 0), ([0, 0, 2, 2], 0), ([4, -1, 2], 1)
    )
    def test_reshape(self, target, allow_zero):
        x = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
        reshape = graphs.node("Reshape", ["x", "target"], allowzero=allow_zero)
        constants = {"target": np.array(target, np.int64)}
        self.check(graphs.model([reshape], {"x": ("uint8", [None, 3, 4])}, "y", constants), x)

    def test_reshape_of_version_1_takes_an_attribute(self):
        reshape = graphs.node("Reshape", ["x"], shape=[0, 6])
        imported = tfq.onnx.import_model(
            graphs.model([reshape], {"x": ("float32", [None, 2, 3])}, opset=1)
        )
        self.assertEqual(imported(np.zeros((4, 2, 3), np.float32)).shape, (4, 6))

    @parameterized.parameters((13, -1), (13, 1), (13, 0), (11, 1), (11, 2), (11, -2))
    def test_softmax_flattens_before_version_13(self, opset, axis):
        x = np.random.default_rng(6).normal(size=(2, 3, 4)).astype(np.float32)
        softmax = graphs.node("Softmax", ["x"], axis=axis)
        self.check(
            graphs.model([softmax], {"x": ("float32", x.shape)}, opset=opset), x, exact=False
        )

    @parameterized.parameters((13, (2, 3, 4)), (12, (2, 3, 4)))
    def test_softmax_takes_the_default_axis_of_its_version(self, opset, shape):
        x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
        proto = graphs.model(
            [graphs.node("Softmax", ["x"])], {"x": ("float32", shape)}, opset=opset
        )
        self.check(proto, x, exact=False)

    @parameterized.parameters(
        ({}, (4, 5), (5,)),
        ({}, (4, 5), None),
        ({}, (4, 5), (1,)),
        ({}, (4, 5), (1, 5)),
        ({"transB": 1}, (5, 4), (5,)),
        ({"alpha": 0.5, "beta": 2.0}, (4, 5), (3, 1)),
        ({"transA": 1, "transB": 1}, (5, 4), (3, 5)),
    )
    def test_gemm(self, attributes, b_shape, c_shape):
        rng = np.random.default_rng(8)
        shape = (4, 3) if attributes.get("transA") else (3, 4)
        a = rng.normal(size=shape).astype(np.float32)
        constants = {"b": rng.normal(size=b_shape).astype(np.float32)}
        if c_shape:
            constants["c"] = rng.normal(size=c_shape).astype(np.float32)
        gemm = graphs.node("Gemm", ["a", *constants], **attributes)
        proto = graphs.model([gemm], {"a": ("float32", shape)}, constants=constants)
        imported = self.check(proto, a, exact=False)
        plain = not {"alpha", "transA"} & set(attributes)
        self.assertEqual(isinstance(imported.layers[-1], keras.layers.Dense), plain)

    def test_gemm_of_computed_operands(self):
        rng = np.random.default_rng(9)
        a, b, c = (rng.normal(size=s).astype(np.float32) for s in ((2, 3), (3, 4), (4,)))
        inputs = {n: ("float32", v.shape) for n, v in (("a", a), ("b", b), ("c", c))}
        self.check(graphs.model([graphs.node("Gemm", "abc")], inputs), a, b, c, exact=False)

    def test_identity_makes_no_layer(self):
        nodes = [
            graphs.node("Identity", ["x"], ["i"]),
            graphs.node("Relu", ["i"], ["r"], name="relu"),
            graphs.node("Identity", ["r"], ["y"]),
        ]
        x = np.array([-1, 2], np.float32)
        imported = self.check(graphs.model(nodes, {"x": ("float32", [2])}), x)
        self.assertEqual([layer.name for layer in imported.layers], ["x", "relu"])

    @parameterized.parameters(
        {"value": np.array([0, 6])}, {"value_ints": [0, 6]}, {"value_ints": [-1, 6]}
    )
    def test_constants_are_known_to_the_nodes_that_need_them(self, **value):
        if "value" in value:
            value = {"value": graphs.numpy_helper.from_array(value["value"])}
        nodes = [
            graphs.node("Constant", [], ["c"], **value),
            graphs.node("Identity", ["c"], ["target"]),
            graphs.node("Reshape", ["x", "target"]),
        ]
        x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
        self.check(graphs.model(nodes, {"x": ("float32", [None, 2, 3])}), x)


if __name__ == "__main__":
    absltest.main()
