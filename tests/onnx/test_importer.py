"""import_model as a whole: the digits network, calling conventions, names, saving, reports."""

import json
import pathlib
import tempfile

import keras
import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import reload
from tests.onnx import graphs


def some_digits():
    return np.random.default_rng(1).uniform(size=(5, 1, 8, 8)).astype(np.float32)


def opened_digits():
    """The digits network with the results of all its integer nodes as further outputs."""
    proto = onnx.load(graphs.DIGITS)
    integers = [
        n.output[0]
        for n in proto.graph.node
        if n.op_type in ("QuantizeLinear", "QLinearConv", "MaxPool")
    ]
    proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in integers)
    return proto


class DigitsTest(parameterized.TestCase):
    def test_every_integer_of_every_layer_is_that_of_exact_onnx_runtime(self):
        proto = opened_digits()
        x = some_digits()
        probabilities, *integers = tfq.onnx.import_model(proto)(x)
        wanted_probabilities, *wanted = graphs.run_exactly(proto, x)
        self.assertLen(integers, 7)
        for ours, theirs in zip(integers, wanted, strict=True):
            self.assertEqual(ours.dtype, theirs.dtype)
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_allclose(probabilities, wanted_probabilities, rtol=1e-5, atol=1e-6)

    @parameterized.parameters("fuse", "keep")
    def test_the_batch_may_vary(self, qdq):
        imported = tfq.onnx.import_model(graphs.DIGITS, qdq=qdq)
        self.assertEqual(imported.input_shape, (None, 1, 8, 8))
        x = some_digits()
        for batch in (0, 1, 5):
            np.testing.assert_allclose(imported(x[:batch]), imported(x)[:batch], rtol=1e-5)

    def test_images_with_their_channels_last(self):
        proto = opened_digits()
        first = tfq.onnx.import_model(proto)
        last = tfq.onnx.import_model(proto, data_format="channels_last")
        x = some_digits()
        self.assertEqual(last.inputs[0].shape, (None, 8, 8, 1))
        self.assertEqual(last.outputs[2].shape, (None, 8, 8, 16))
        for a, b in zip(first(x), last(np.moveaxis(x, 1, -1)), strict=True):
            b = np.moveaxis(b, -1, 1) if len(b.shape) == 4 else b
            np.testing.assert_array_equal(a, b)
        permutes = [la for la in last.layers if isinstance(la, keras.layers.Permute)]
        self.assertLen(permutes, 1)  # before Flatten, which follows ONNX's order

    def test_a_global_policy_changes_nothing(self):
        x = some_digits()
        plain = tfq.onnx.import_model(graphs.DIGITS)(x)
        keras.config.set_dtype_policy("mixed_float16")
        try:
            mixed = tfq.onnx.import_model(graphs.DIGITS)(x)
        finally:
            keras.config.set_dtype_policy("float32")
        np.testing.assert_array_equal(mixed, plain)

    def test_graph_mode_gives_the_same_bits(self):
        imported = tfq.onnx.import_model(graphs.DIGITS)
        x = some_digits()
        np.testing.assert_array_equal(tf.function(imported)(x), imported(x))
        np.testing.assert_array_equal(imported.predict(x, verbose=0), imported(x))

    def test_a_fresh_process_gives_the_same_bits(self):
        x = some_digits()
        models = {
            "digits": (tfq.onnx.import_model(graphs.DIGITS), x),
            "int4": (tfq.onnx.import_model(graphs.weight_only("int4", 32)), x[:, 0, :, 0]),
        }
        wanted = {name: model(x) for name, (model, x) in models.items()}
        with tempfile.TemporaryDirectory() as folder:
            for (name, _), y in reload.outputs(folder, models).items():
                np.testing.assert_array_equal(y, wanted[name])

    def test_the_report(self):
        imported = tfq.onnx.import_model(graphs.DIGITS)
        report = imported.import_report
        self.assertEqual(report.kinds, ("QOperator",))
        self.assertEqual(report.operators["QLinearConv"], 3)
        self.assertEqual(report.names.inputs, {"image": "image"})
        self.assertEqual(report.names.outputs, {"probabilities": "softmax"})
        self.assertEqual(report.names.nodes["conv2_quant"], "conv2_quant")
        floats = {entry.node: entry.reason for entry in report.stayed_float}
        self.assertEqual(set(floats), {"mean", "scores", "softmax"})
        self.assertEqual(floats["softmax"], "a float operator in the file")
        relus = {f"conv{i}_relu" for i in (1, 2, 3)}
        self.assertEqual({name for entry in report.fused for name in entry.nodes}, relus)
        kept = tfq.onnx.import_model(graphs.DIGITS, qdq="keep").import_report
        self.assertEqual({entry.node for entry in kept.stayed_float}, {*floats, *relus})
        self.assertEqual(json.loads(report.to_json())["operators"], dict(report.operators))
        self.assertIn("QLinearConv", str(report))

    def test_nothing_is_trainable(self):
        self.assertEmpty(tfq.onnx.import_model(graphs.DIGITS).trainable_weights)


class ConventionsTest(parameterized.TestCase):
    def test_lists_in_onnx_order(self):
        nodes = [
            graphs.node("Relu", ["b"], ["rb"]),
            graphs.node("Relu", ["a"], ["ra"]),
        ]
        inputs = {"b": ("float32", [2]), "a": ("int8", [None, 3])}
        imported = tfq.onnx.import_model(graphs.model(nodes, inputs, ["ra", "rb"]))
        b, a = np.array([-1, 1], np.float32), np.array([[-5, 5, 0]], np.int8)
        result = imported([b, a])
        self.assertIsInstance(result, list)
        np.testing.assert_array_equal(result[0], [[0, 5, 0]])
        np.testing.assert_array_equal(result[1], [0, 1])
        self.assertEqual(result[0].dtype, tf.int8)

    def test_an_output_may_be_an_input_or_a_constant(self):
        nodes = [graphs.node("Relu", ["x"], ["y"])]
        inputs = {"x": ("float32", [None, 1])}
        proto = graphs.model(nodes, inputs, ["y", "x", "c"], {"c": np.arange(3)})
        y, x, c = tfq.onnx.import_model(proto)(np.array([[-1.5]], np.float32))
        self.assertEqual((y.numpy(), x.numpy()), (0.0, -1.5))
        np.testing.assert_array_equal(c, [0, 1, 2])

    def test_symbolic_and_missing_dimensions_are_none(self):
        inputs = {"x": ("uint8", ["n", None, 7, 3])}
        imported = tfq.onnx.import_model(
            graphs.model([graphs.node("Relu", ["x"])], inputs, opset=14)
        )
        self.assertEqual(imported.input_shape, (None, None, 7, 3))
        self.assertEqual(imported.inputs[0].dtype, "uint8")

    def test_scalars_unused_inputs_and_an_output_named_twice(self):
        inputs = {"x": ("float32", []), "unused": ("int64", [None])}
        proto = graphs.model([graphs.node("Relu", ["x"])], inputs, ["y", "y"])
        a, b = tfq.onnx.import_model(proto)([np.float32(-2), np.zeros(3, np.int64)])
        self.assertEqual((a.shape, float(a), float(b)), ((), 0.0, 0.0))

    def test_initializers_listed_as_inputs_are_no_inputs(self):
        inputs = {"a": ("float32", [1, 2]), "b": ("float32", [2, 2])}
        constants = {"b": np.eye(2, dtype=np.float32)}
        proto = graphs.model([graphs.node("Gemm", "ab")], inputs, "y", constants)
        imported = tfq.onnx.import_model(proto)
        np.testing.assert_array_equal(imported(np.ones((1, 2), np.float32)), [[1, 1]])

    @parameterized.named_parameters(
        ("data_format", {"data_format": "NHWC"}),
        ("qdq", {"qdq": "drop"}),
        ("trainable", {"trainable": True}),
    )
    def test_wrong_arguments_are_named(self, arguments):
        (name,) = arguments
        with self.assertRaisesRegex(ValueError, f"{name} must be .* Received: {name}="):
            tfq.onnx.import_model(graphs.DIGITS, **arguments)

    def test_a_layout_is_not_changed_where_there_is_no_image(self):
        """A rank-4 input that no image operator reads keeps its order."""
        inputs = {"x": ("float32", [None, 2, 3, 4])}
        proto = graphs.model([graphs.node("Flatten", ["x"])], inputs)
        imported = tfq.onnx.import_model(proto, data_format="channels_last")
        self.assertEqual(imported.input_shape, (None, 2, 3, 4))


class NamesTest(parameterized.TestCase):
    def test_names_that_keras_does_not_take(self):
        nodes = [
            graphs.node("Relu", ["serving_default_input:0"], ["a/b:0"], name="a/b"),
            graphs.node("Relu", ["a/b:0"], ["c"], name="a_b"),
            graphs.node("Relu", ["c"], ["größe"], name=""),
            graphs.node("Gemm", ["größe", "k/x"], ["y"], name="matmul", alpha=2.0),
        ]
        inputs = {"serving_default_input:0": ("float32", [None, 2])}
        constants = {"k/x": np.ones((2, 1), np.float32)}
        imported = tfq.onnx.import_model(graphs.model(nodes, inputs, "y", constants))
        names = imported.import_report.names
        self.assertEqual(names.inputs, {"serving_default_input:0": "serving_default_input_0"})
        self.assertEqual(names.nodes["a_b"], "a_b")
        self.assertEqual(names.nodes["a/b"], "a_b_1")
        self.assertEqual(names.to_onnx("a_b_1"), "a/b")
        self.assertEqual(names.to_onnx("serving_default_input_0"), "serving_default_input:0")
        with self.assertRaisesRegex(KeyError, "Received: 'nothing'"):
            names.to_onnx("nothing")
        x = np.ones((1, 2), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            imported.save(f"{folder}/m.keras")
            np.testing.assert_array_equal(keras.models.load_model(f"{folder}/m.keras")(x), [[4]])
            imported.export(f"{folder}/m", verbose=False)
            reloaded = tf.saved_model.load(f"{folder}/m")
            np.testing.assert_array_equal(reloaded.serve(x), [[4]])

    def test_a_node_may_be_called_as_an_input(self):
        proto = graphs.model([graphs.node("Relu", ["x"], name="x")], {"x": ("float32", [None, 1])})
        names = tfq.onnx.import_model(proto).import_report.names
        self.assertEqual((names.inputs, names.nodes), ({"x": "x"}, {"x": "x_1"}))


class ConstantsTest(parameterized.TestCase):
    def test_quantized_weights_stay_small_and_exact_in_a_keras_file(self):
        rng = np.random.default_rng(2)
        constants = {
            "w": rng.integers(-128, 128, (64, 512)).astype(np.int8),
            "s": rng.uniform(0.01, 0.1, 512).astype(np.float32),
            "z": np.zeros(512, np.int8),
        }
        nodes = [
            graphs.node("DequantizeLinear", ["w", "s", "z"], ["wd"], axis=1),
            graphs.node("Gemm", ["x", "wd"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [None, 64])}, "y", constants)
        imported = tfq.onnx.import_model(proto)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.keras"
            imported.save(path)
            self.assertLess(path.stat().st_size, 2 * proto.ByteSize() + 20_000)
            reloaded = keras.models.load_model(path)
        x = rng.normal(size=(3, 64)).astype(np.float32)
        np.testing.assert_array_equal(reloaded(x), imported(x))
        expected = x.astype(np.float64) @ (constants["w"].astype(np.float64) * constants["s"])
        np.testing.assert_allclose(imported(x), expected, rtol=1e-4, atol=1e-4)
        weight = next(w for w in reloaded.weights if w.shape == (64, 512))
        np.testing.assert_array_equal(weight, constants["w"])

    def test_a_constant_read_twice_is_kept_once(self):
        nodes = [
            graphs.node("Gemm", ["x", "k"], ["a"], transA=1),
            graphs.node("Gemm", ["a", "k"], ["y"], alpha=2.0),
        ]
        constants = {"k": np.ones((2, 2), np.float32)}
        proto = graphs.model(nodes, {"x": ("float32", [2, 2])}, "y", constants)
        imported = tfq.onnx.import_model(proto)
        self.assertLen(imported.weights, 1)


class RefusalsTest(parameterized.TestCase):
    def test_all_unsupported_operators_are_named_at_once(self):
        nodes = [
            graphs.node("Det", ["x"], ["a"], name="first"),
            graphs.node("Det", ["a"], ["b"], name="second"),
            graphs.node("FusedThing", ["b"], ["c"], domain="com.microsoft"),
            graphs.node("MaxPool", ["c"], ["y", "i"], name="pool", kernel_shape=[2]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [1, 1, 4])}, microsoft=True)
        det, fused, pool = tfq.onnx.unsupported_operators(proto)
        self.assertEqual(
            (det.domain, det.op_type, det.since_version, det.nodes),
            ("", "Det", 11, ("first", "second")),
        )
        self.assertEqual((fused.domain, fused.op_type), ("com.microsoft", "FusedThing"))
        self.assertEqual(fused.nodes, ("c",))
        self.assertIn("Indices", pool.reason)
        with self.assertRaises(tfq.onnx.UnsupportedOperatorsError) as caught:
            tfq.onnx.import_model(proto)
        self.assertLen(caught.exception.operators, 3)
        message = str(caught.exception)
        for part in ("2 x Det", "first, second", "1 x com.microsoft.FusedThing", "1 x MaxPool"):
            self.assertIn(part, message)

    def test_other_precisions_are_refused(self):
        nodes = [graphs.node("QuantizeLinear", ["x", "s"], precision=onnx.TensorProto.DOUBLE)]
        inputs, constants = {"x": ("float32", [2])}, {"s": np.float32(1)}
        proto = graphs.model(nodes, inputs, "y", constants, opset=23)
        (found,) = tfq.onnx.unsupported_operators(proto)
        self.assertIn("float32, float16 or bfloat16", found.reason)

    def test_what_can_be_imported_has_nothing_unsupported(self):
        self.assertEmpty(tfq.onnx.unsupported_operators(graphs.DIGITS))

    def test_shapes_that_do_not_fit_name_the_node(self):
        constants = {"k": np.ones((3, 1), np.float32)}
        proto = graphs.model(
            [graphs.node("Gemm", ["x", "k"], name="dense")],
            {"x": ("float32", [1, 2])},
            "y",
            constants,
        )
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "Received: node 'dense'"):
            tfq.onnx.import_model(proto)


class RegisterHandlerTest(parameterized.TestCase):
    def test_a_users_operator_and_its_versions(self):
        @tfq.onnx.register_handler("Scale", domain="example.com")
        def scale(call):
            return keras.ops.multiply(call.tensor(0), call.attribute("by", 2.0))

        @tfq.onnx.register_handler("Scale", domain="example.com", since_version=3)
        def scale_more(call):
            return keras.ops.multiply(call.tensor(0), 100.0)

        for version, wanted in ((1, 2.0), (2, 2.0), (3, 100.0), (4, 100.0)):
            proto = graphs.model(
                [graphs.node("Scale", ["x"], name="my/scale", domain="example.com")],
                {"x": ("float32", [None, 1])},
            )
            proto.opset_import.append(onnx.helper.make_opsetid("example.com", version))
            imported = tfq.onnx.import_model(proto)
            np.testing.assert_array_equal(imported(np.ones((1, 1), np.float32)), [[wanted]])
            self.assertEqual(imported.import_report.names.nodes["my/scale"], "my_scale")


if __name__ == "__main__":
    absltest.main()
