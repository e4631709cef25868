"""DynamicQuantizeLSTM: values, shapes and errors."""

import numpy as np
import onnxruntime
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_lstm
from tests.contract_lstm import INPUTS, case
from tests.onnx import graphs


def run(args, attributes):
    return [output.numpy() for output in tfq.dynamic_quantize_lstm(**args, **attributes)]


def onnxruntime_lstm(args, attributes):
    """On one thread, where it quantizes the hidden state of the whole batch at once."""
    attributes = {k: v for k, v in attributes.items() if v is not None}
    constants = {name: args[name] for name in INPUTS[1:] if args[name] is not None}
    names = [name if args[name] is not None else "" for name in INPUTS]
    outputs = ("y", "y_h", "y_c")
    node = graphs.node("DynamicQuantizeLSTM", names, outputs, domain="com.microsoft", **attributes)
    proto = graphs.model(
        [node], {"x": ("float32", args["x"].shape)}, outputs, constants, microsoft=True
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    return session.run(outputs, {"x": args["x"]})


class ValuesTest(parameterized.TestCase):
    def assert_as_specified(self, args, attributes):
        want = contract_lstm.dynamic_quantize_lstm(**args, **attributes)
        for got, expected in zip(run(args, attributes), want, strict=True):
            np.testing.assert_array_equal(got, expected)

    @parameterized.product(
        direction=["forward", "reverse", "bidirectional"],
        per_column=[False, True],
        optional=[False, True],
        lengths=[False, True],
    )
    def test_random_inputs(self, direction, per_column, optional, lengths):
        rng = np.random.default_rng(40)
        for batch in (1, 4):
            args, attributes = case(rng, batch=batch, direction=direction, per_column=per_column,
                                    optional=optional, lengths=lengths)  # fmt: skip
            self.assert_as_specified(args, attributes)

    @parameterized.product(w=["int8", "uint8"], r=["int8", "uint8"])
    def test_every_combination_of_types(self, w, r):
        self.assert_as_specified(*case(np.random.default_rng(41), dtypes=(w, r), per_column=True))

    @parameterized.parameters(*contract_lstm.ACTIVATIONS)
    def test_every_activation(self, name):
        args, attributes = case(np.random.default_rng(42), steps=3, direction="bidirectional")
        attributes["activations"] = ["Sigmoid", name, "Tanh", name, "Relu", name]
        self.assert_as_specified(args, attributes)
        attributes["activation_alpha"] = [0.3, 0.75]
        attributes["activation_beta"] = [0.25]
        self.assert_as_specified(args, attributes)

    @parameterized.parameters({"clip": 0.3}, {"input_forget": True})
    def test_attribute(self, **attribute):
        args, attributes = case(np.random.default_rng(43), lengths=True)
        self.assert_as_specified(args, {**attributes, **attribute})

    def test_the_input_of_every_activation_is_clipped(self):
        # A state of 2 becomes tanh(0.5) here; tanh(2) in microsoft/onnxruntime/issues/27224.
        args, attributes = case(np.random.default_rng(44), steps=1, batch=1, hidden=1)
        args.update(x=np.zeros([1, 1, 5], np.float32), initial_c=np.full([1, 1, 1], 2, np.float32),
                    initial_h=None, peepholes=None)  # fmt: skip
        args["bias"] = np.array([[0, 9, 9, 0, 0, 0, 0, 0]], np.float32)  # o = f = sigmoid(0.5)
        half = 1 / (1 + np.exp(-0.5))
        _, y_h, y_c = run(args, {**attributes, "clip": 0.5})
        np.testing.assert_allclose(y_c, [[[2 * half]]], rtol=1e-6)
        np.testing.assert_allclose(y_h, [[[half * np.tanh(0.5)]]], rtol=1e-6)
        _, peer_h, peer_c = onnxruntime_lstm(args, {**attributes, "clip": 0.5})
        np.testing.assert_allclose(peer_c, y_c, rtol=1e-6)
        np.testing.assert_allclose(peer_h, [[[half * np.tanh(2 * half)]]], rtol=1e-5)

    @parameterized.product(
        direction=["forward", "reverse", "bidirectional"], per_column=[False, True],
        dtype=["int8", "uint8"], batch=[1, 3],
    )  # fmt: skip
    def test_as_onnxruntime(self, direction, per_column, dtype, batch):
        rng = np.random.default_rng(45)
        args, attributes = case(rng, steps=9, batch=batch, inputs=20, hidden=24, lengths=True,
                                direction=direction, per_column=per_column,
                                dtypes=(dtype, dtype))  # fmt: skip
        for name in "wr":  # It takes zero points of 0 (int8), or one for all columns, only.
            shape = args[f"{name}_scale"].shape
            args[f"{name}_zero_point"] = np.full(shape, 0 if dtype == "int8" else 131, dtype)
        peer = onnxruntime_lstm(args, attributes)
        for got, want in zip(run(args, attributes), peer, strict=True):
            # A last bit of its approximate Sigmoid or Tanh may move a code of the hidden state.
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
            self.assertLess(np.mean(np.abs(got - want) > 2e-6), 0.1)

    def test_scalar_parameters(self):
        args, attributes = case(np.random.default_rng(46), direction="bidirectional")
        scalars = {"w_scale": 0.01, "w_zero_point": 3, "r_scale": 0.005, "r_zero_point": -2}
        want = run({**args, **{k: np.full([2], v, args[k].dtype) for k, v in scalars.items()}},
                   attributes)  # fmt: skip
        for got, expected in zip(run({**args, **scalars}, attributes), want, strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_a_sequence_does_not_depend_on_padding_beyond_the_longest(self):
        args, attributes = case(np.random.default_rng(47), steps=5)
        args["sequence_lens"] = np.array([3, 0, 2], np.int32)
        want = run(args, attributes)
        args["x"][3:] = 1e6
        for got, expected in zip(run(args, attributes), want, strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_no_steps_and_no_sequences(self):
        rng = np.random.default_rng(48)
        for steps, batch in ((0, 2), (3, 0)):
            args, attributes = case(rng, steps=steps, batch=batch)
            y, y_h, y_c = run(args, attributes)
            self.assertEqual(y.shape, (steps, 1, batch, 7))
            np.testing.assert_array_equal(y_h, np.zeros([1, batch, 7]))
            np.testing.assert_array_equal(y_c, y_h)

    def test_updated_weights_are_used(self):
        rng = np.random.default_rng(49)
        args, attributes = case(rng)
        r = tf.Variable(args["r"])
        function = tf.function(
            lambda: tfq.dynamic_quantize_lstm(**{**args, "r": r}, **attributes).y
        )
        for _ in range(3):
            new = case(rng)[0]["r"]
            r.assign(new)
            np.testing.assert_array_equal(function(), run({**args, "r": new}, attributes)[0])


class ShapesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("static", [6, 3, 5], None, [6, 2, 3, 7], [2, 3, 7]),
        ("batch", [6, None, 5], None, [6, 2, None, 7], [2, None, 7]),
        ("batch_from_lengths", [None, None, None], [4], [None, 2, 4, 7], [2, 4, 7]),
        ("rank", None, None, [None, 2, None, 7], [2, None, 7]),
    )
    def test_as_much_as_is_known(self, x, lengths, y, state):
        args, attributes = case(np.random.default_rng(50), direction="bidirectional",
                                optional=False)  # fmt: skip
        function = tf.function(lambda x, lengths: tfq.dynamic_quantize_lstm(
            **{**args, "x": x, "sequence_lens": lengths}, **attributes))  # fmt: skip
        lengths = None if lengths is None else tf.TensorSpec(lengths, tf.int32)
        traced = function.get_concrete_function(tf.TensorSpec(x), lengths)
        self.assertEqual([s.as_list() for s in traced.output_shapes], [y, state, state])


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("x", {"x": np.zeros([3, 5], np.float32)}, r"x must have 3 dimensions. Rec.*\[3,5\]"),
        ("w", {"w": np.zeros([1, 4, 28], np.int8)}, r"w must be of shape \[directions, inputs, 4 "
         r"\* hidden_size\]. Received: shape \[1,4,28\], hidden_size=7, directions=1, x of sh"),
        ("hidden", {"hidden_size": 6}, r"w must be of shape .* hidden_size=6"),
        ("zero_hidden", {"hidden_size": 0}, r"hidden_size must be in \[1, .*Received: 0"),
        ("direction", {"direction": "bidirectional"}, r"w must be of .*directions=2"),
        ("bias", {"bias": np.zeros([1, 28], np.float32)}, r"bias must be of shape"),
        ("lengths", {"sequence_lens": [1]}, r"sequence_lens must be of shape \[batch\]. Rec"),
        ("scale", {"w_scale": [1.0, 2.0]}, r"w_scale must be of shape \[directions\] or"),
        ("zero", {"r_zero_point": np.zeros([1, 7], np.int8)}, r"r_zero_point must be of shape"),
        ("names", {"activations": ["Tanh"]}, r"activations must name 3 functions. Received: 1"),
        ("name", {"activations": ["Tanh", "Relu", "Gelu"]}, r"activations must be.*Received: Gelu"),
    )  # fmt: skip
    def test_name_the_argument_and_what_was_received(self, change, message):
        args, attributes = case(np.random.default_rng(51))
        all_args = {**args, **attributes, **change}
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.dynamic_quantize_lstm(**all_args)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.dynamic_quantize_lstm(**all_args)).get_concrete_function()

    @parameterized.parameters(-1, 7)
    def test_a_length_out_of_range(self, length):
        args, attributes = case(np.random.default_rng(52))
        args["sequence_lens"] = [1, length, 2]
        message = rf"sequence_lens must be in \[0, 6\]. Received: {length} at 1"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.dynamic_quantize_lstm(**args, **attributes)

    @parameterized.parameters(0.0, -1.0)
    def test_a_clip_that_is_not_positive(self, clip):
        args, attributes = case(np.random.default_rng(53))
        with self.assertRaisesRegex(ValueError, f"clip must be positive. Received: {clip}"):
            tfq.dynamic_quantize_lstm(**args, **attributes, clip=clip)


if __name__ == "__main__":
    absltest.main()
