"""load_weights: each kind of quantized file, beside numpy."""

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract
from tests.onnx import graphs


def codes(rng, *shape, dtype=np.int8):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype)


class LoadWeightsTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(1)

    def scales(self, *shape):
        return self.rng.uniform(0.01, 0.1, shape).astype(np.float32)

    def test_qlinear_conv(self):
        proto = graphs.quantized_conv()
        constants = {t.name: graphs.numpy_helper.to_array(t) for t in proto.graph.initializer}
        found = tfq.onnx.load_weights(proto)
        self.assertEqual(set(found), {"w", "b"})
        weight, bias = found["w"], found["b"]
        self.assertEqual((weight.axis, weight.block_size, bias.axis), (0, 0, 0))
        np.testing.assert_array_equal(weight.values, constants["w"])
        np.testing.assert_array_equal(weight.scale, constants["ws"])
        scale = constants["ws"].reshape(-1, 1, 1, 1)
        np.testing.assert_array_equal(weight.dequantize(), constants["w"] * scale)
        np.testing.assert_allclose(
            bias.dequantize(), constants["b"] * constants["xs"].astype(np.float64) * constants["ws"]
        )

    def test_the_digits_network(self):
        found = tfq.onnx.load_weights(graphs.DIGITS)
        self.assertEqual(
            {name: tensor.values.shape for name, tensor in found.items()},
            {
                "conv1.weight_quantized": (16, 1, 3, 3),
                "conv1.bias_quantized": (16,),
                "conv2.weight_quantized": (32, 16, 3, 3),
                "conv2.bias_quantized": (32,),
                "conv3.weight_quantized": (48, 32, 3, 3),
                "conv3.bias_quantized": (48,),
            },
        )

    @parameterized.parameters(
        ((), (), None), ((1,), (), None), ((5,), (5,), 1), ((5,), (), 1), ((1, 5), (1, 5), 1)
    )
    def test_qlinear_matmul(self, scale_shape, zero_shape, axis):
        constants = {
            "as": np.float32(0.1),
            "az": np.uint8(3),
            "b": codes(self.rng, 4, 5),
            "bs": self.scales(*scale_shape),
            "bz": codes(self.rng, *zero_shape),
            "ys": np.float32(0.2),
            "yz": np.uint8(0),
        }
        product = graphs.node("QLinearMatMul", ["a", *constants])
        proto = graphs.model([product], {"a": ("uint8", [2, 4])}, "y", constants)
        (weight,) = tfq.onnx.load_weights(proto).values()
        self.assertEqual((weight.axis, weight.scale.shape), (axis, weight.zero_point.shape))
        difference = constants["b"].astype(np.int32) - constants["bz"].astype(np.int32)
        np.testing.assert_array_equal(
            weight.dequantize(), difference.astype(np.float32) * constants["bs"]
        )

    def test_stacked_matrices_with_columns_of_their_own(self):
        constants = {
            "as": np.float32(0.1),
            "az": np.uint8(3),
            "b": codes(self.rng, 2, 4, 5),
            "bs": self.scales(2, 1, 5),
            "bz": codes(self.rng, 2, 1, 5),
            "ys": np.float32(0.2),
            "yz": np.uint8(0),
        }
        product = graphs.node("QLinearMatMul", ["a", *constants])
        proto = graphs.model([product], {"a": ("uint8", [2, 3, 4])}, "y", constants)
        weight = tfq.onnx.load_weights(proto)["b"]
        self.assertEqual((weight.axis, weight.block_size), (1, 4))
        np.testing.assert_array_equal(weight.scale, constants["bs"])

    @parameterized.parameters((0, 1), (1, 0))
    def test_qgemm(self, trans_b, axis):
        constants = {
            "as": np.float32(0.1),
            "az": np.uint8(3),
            "b": codes(self.rng, 5, 4) if trans_b else codes(self.rng, 4, 5),
            "bs": self.scales(5),
            "bz": np.zeros(5, np.int8),
            "c": codes(self.rng, 5, dtype=np.int32),
        }
        product = graphs.node(
            "QGemm", ["a", *constants], domain="com.microsoft", transB=trans_b, alpha=2.0
        )
        inputs = {"a": ("uint8", [2, 4])}
        found = tfq.onnx.load_weights(
            graphs.model([product], inputs, "y", constants, microsoft=True)
        )
        self.assertEqual(found["b"].axis, axis)
        np.testing.assert_allclose(found["c"].scale, 0.2 * constants["bs"], rtol=1e-6)

    @parameterized.parameters(0, 1, -1)
    def test_dequantize_linear_of_an_initializer(self, axis):
        w = codes(self.rng, 3, 4, 5)
        length = w.shape[axis]
        constants = {"w": w, "s": self.scales(length), "z": codes(self.rng, length)}
        nodes = [
            graphs.node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=axis),
            graphs.node("Add", ["x", "f"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        weight = tfq.onnx.load_weights(proto)["w"]
        self.assertEqual(weight.axis, axis % 3)
        wanted = np.moveaxis(
            (np.moveaxis(w, axis, -1).astype(np.int32) - constants["z"]).astype(np.float32)
            * constants["s"],
            -1,
            axis,
        )
        np.testing.assert_array_equal(weight.dequantize(), wanted)

    @parameterized.parameters((0, 2, (3, 4)), (1, 3, (5, 2)), (-1, 4, (5, 1)))
    def test_scales_of_blocks(self, axis, block_size, blocks):
        constants = {
            "w": codes(self.rng, 5, 4),
            "s": self.scales(*blocks),
            "z": codes(self.rng, *blocks),
        }
        nodes = [
            graphs.node("DequantizeLinear", list(constants), ["f"], axis=axis,
                        block_size=block_size),
            graphs.node("Add", ["x", "f"]),
        ]  # fmt: skip
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        weight = tfq.onnx.load_weights(proto)["w"]
        self.assertEqual((weight.axis, weight.block_size), (axis % 2, block_size))
        np.testing.assert_array_equal(weight.scale, constants["s"])
        wanted = contract.dequantize_linear(*constants.values(), axis, block_size)
        np.testing.assert_array_equal(weight.dequantize(), wanted)

    @parameterized.parameters("Transpose", "Reshape")
    def test_values_stay_as_the_file_has_them(self, op_type):
        constants = {"w": codes(self.rng, 3, 4), "s": self.scales(4), "shape": np.array([4, 3])}
        operands = ["f", "shape"] if op_type == "Reshape" else ["f"]
        nodes = [
            graphs.node("DequantizeLinear", ["w", "s"], ["f"], axis=1),
            graphs.node(op_type, operands, ["t"]),
            graphs.node("Add", ["x", "t"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        weight = tfq.onnx.load_weights(proto)["w"]
        self.assertEqual((weight.values.shape, weight.axis), ((3, 4), 1))
        np.testing.assert_array_equal(weight.values, constants["w"])

    def test_tables_of_which_a_gather_picks_rows(self):
        constants = {"t": codes(self.rng, 7, 3), "s": np.float32(0.5), "z": np.int8(3)}
        nodes = [
            graphs.node("Gather", ["t", "x"], ["rows"]),
            graphs.node("DequantizeLinear", ["rows", "s", "z"]),
        ]
        proto = graphs.model(nodes, {"x": ("int64", [None])}, "y", constants)
        table = tfq.onnx.load_weights(proto)["t"]
        np.testing.assert_array_equal(table.dequantize(), (constants["t"] - 3.0) * 0.5)

    def test_graphs_inside_nodes(self):
        """A branch reads a constant of its own and one of the graph around it."""
        own, around = codes(self.rng, 3), codes(self.rng, 3)
        branches = {}
        for name, operand in (("then_branch", "w"), ("else_branch", "v")):
            initializers = {"w": [graphs.numpy_helper.from_array(own, "w")]}.get(operand, [])
            branches[name] = graphs.helper.make_graph(
                [graphs.node("DequantizeLinear", [operand, "s"], [name])],
                name,
                [],
                [graphs.helper.make_empty_tensor_value_info(name)],
                initializers,
            )
        nodes = [graphs.node("If", ["x"], **branches)]
        constants = {"v": around, "s": np.float32(0.25)}
        proto = graphs.model(nodes, {"x": ("bool", [])}, "y", constants)
        found = tfq.onnx.load_weights(proto)
        self.assertEqual(set(found), {"v", "w"})
        np.testing.assert_array_equal(found["w"].dequantize(), own * np.float32(0.25))
        np.testing.assert_array_equal(found["v"].dequantize(), around * np.float32(0.25))
        self.assertEmpty(tfq.onnx.unsupported_operators(proto))

    @parameterized.parameters(
        ({"s": (3,)}, {"axis": 1}, "is needed"),
        ({"s": (4,)}, {"axis": 5}, "axis 5 of values of rank 2"),
        ({"s": (3,), "z": (2,)}, {"axis": 0}, "must fit their values"),
        ({"s": (1, 4)}, {"axis": 0, "block_size": 2}, "is needed"),
        ({"s": (2,)}, {"axis": 0, "block_size": 2}, "is needed"),
    )
    def test_scales_that_do_not_fit_name_the_node(self, shapes, attributes, message):
        constants = {"w": codes(self.rng, 3, 4), "s": self.scales(*shapes["s"])}
        if "z" in shapes:
            constants["z"] = codes(self.rng, *shapes["z"])
        node = graphs.node("DequantizeLinear", list(constants), ["w_float"], **attributes)
        nodes = [node, graphs.node("Add", ["x", "w_float"])]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, f"{message}.*node 'w_float'"):
            tfq.onnx.load_weights(proto)

    def test_constants_shared_through_identity_nodes(self):
        constants = {"w": codes(self.rng, 4), "s0": np.float32([0.5]), "b0": codes(self.rng, 2)}
        nodes = [
            graphs.node("Identity", ["s0"], ["s1"]),
            graphs.node("Identity", ["s1"], ["s2"]),
            graphs.node("Identity", ["b0"], ["b1"]),
            graphs.node("DequantizeLinear", ["w", "s2"], ["a"]),  # rank 1, default axis 1
            graphs.node("DequantizeLinear", ["b1", "s1"], ["b"]),
            graphs.node("Add", ["x", "a"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        found = tfq.onnx.load_weights(proto)
        self.assertEqual(set(found), {"w", "b0"})
        self.assertIsNone(found["w"].axis)
        self.assertEqual(found["w"].zero_point.dtype, np.int8)
        np.testing.assert_array_equal(found["w"].dequantize(), constants["w"] * np.float32(0.5))

    @parameterized.product(
        op_type=("MatMulInteger", "ConvInteger"),
        order=("scales first", "one after the other", "without Cast"),
    )
    def test_dynamic_weights_take_the_scale_of_the_mul_that_follows(self, op_type, order):
        conv = op_type == "ConvInteger"
        constants = {"w": codes(self.rng, 5, 3, 2) if conv else codes(self.rng, 3, 5)}
        constants |= {"s": self.scales() if conv else self.scales(5), "z": np.int8(2)}
        nodes = [
            graphs.node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]),
            graphs.node(op_type, ["q", "w", "qz", "z"], ["acc"]),
        ]
        summed = "acc"
        if order != "without Cast":
            nodes.append(graphs.node("Cast", ["acc"], ["f"], to=1))
            summed = "f"
        if order == "one after the other":
            nodes.append(graphs.node("Mul", ["s", summed], ["half"]))
            nodes.append(graphs.node("Mul", ["half", "qs"], ["y"]))
        else:
            nodes.append(graphs.node("Mul", ["qs", "s"], ["both"]))
            nodes.append(graphs.node("Mul", ["both", summed], ["y"]))
        inputs = {"x": ("float32", [1, 3, 4] if conv else [2, 3])}
        (weight,) = tfq.onnx.load_weights(graphs.model(nodes, inputs, "y", constants)).values()
        np.testing.assert_array_equal(
            weight.dequantize(),
            (constants["w"].astype(np.int32) - 2).astype(np.float32) * constants["s"],
        )

    def test_a_product_without_a_scale_is_left_out(self):
        constants = {"w": codes(self.rng, 3, 5)}
        nodes = [graphs.node("MatMulInteger", ["x", "w"])]
        proto = graphs.model(nodes, {"x": ("uint8", [2, 3])}, "y", constants)
        with self.assertLogs(level="WARNING") as logs:
            self.assertEmpty(tfq.onnx.load_weights(proto))
        self.assertIn("no scale found for its weight w", logs.output[0])

    @parameterized.parameters(((1,), None, 0, ()), ((2,), 0, 0, (2,)), ((2, 12), 1, 4, (2, 1, 12)))
    def test_dynamic_quantize_lstm(self, scale_shape, axis, block_size, wanted_shape):
        directions = scale_shape[0]
        constants = {
            "w": codes(self.rng, directions, 4, 12),
            "r": codes(self.rng, directions, 3, 12),
            "ws": self.scales(*scale_shape),
            "wz": codes(self.rng, *scale_shape),
            "rs": self.scales(*scale_shape),
            "rz": codes(self.rng, *scale_shape),
        }
        lstm = graphs.node(
            "DynamicQuantizeLSTM",
            ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"],
            domain="com.microsoft",
            hidden_size=3,
        )
        inputs = {"x": ("float32", [5, 1, 4])}
        found = tfq.onnx.load_weights(graphs.model([lstm], inputs, "y", constants, microsoft=True))
        self.assertEqual(set(found), {"w", "r"})
        weight = found["w"]
        self.assertEqual((weight.axis, weight.block_size), (axis, block_size))
        self.assertEqual(weight.scale.shape, wanted_shape)
        self.assertEqual(weight.zero_point.shape, wanted_shape)
        if not block_size:
            wanted = constants["w"].astype(np.int32) - constants["wz"].reshape(-1, 1, 1)
            np.testing.assert_array_equal(
                weight.dequantize(),
                wanted.astype(np.float32) * constants["ws"].reshape(-1, 1, 1),
            )


if __name__ == "__main__":
    absltest.main()
