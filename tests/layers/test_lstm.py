"""DynamicQuantizeLSTM as a layer: operands as weights and inputs, configuration, saving."""

import json
import tempfile

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_lstm, reload

STATES = ("sequence_lens", "initial_h", "initial_c")


def make(inputs=(), **options):
    """A layer, the values of its call and what the function gives for them."""
    args, attributes = contract_lstm.case(np.random.default_rng(0), **options)
    wanted = {n: v for n, v in args.items() if n not in STATES or n in inputs}
    wanted |= {n: None for n in STATES if n not in inputs}
    y = tfq.dynamic_quantize_lstm(**wanted, **attributes)
    operands = {n: v for n, v in args.items() if n not in ("x", *STATES)}
    layer = tfq.layers.DynamicQuantizeLSTM(**operands, **attributes, inputs=inputs)
    return layer, [args["x"], *(args[n] for n in inputs)], y


class DynamicQuantizeLSTMTest(parameterized.TestCase):
    @parameterized.parameters("forward", "reverse", "bidirectional")
    def test_the_layer_is_the_function(self, direction):
        layer, (x,), want = make(direction=direction)
        for got, wanted in zip(layer(x), want, strict=True):
            np.testing.assert_array_equal(got, wanted)
        self.assertEqual({layer.w.dtype, layer.r.dtype}, {"int8"})
        self.assertEmpty(layer.trainable_weights)

    def test_states_may_be_inputs(self):
        layer, values, want = make(inputs=STATES, lengths=True, dtypes=["uint8", "int8"])
        for got, wanted in zip(layer([tf.constant(v) for v in values]), want, strict=True):
            np.testing.assert_array_equal(got, wanted)

    def test_shapes_are_known_before_a_run(self):
        layer, (x,), _ = make(direction="bidirectional")
        y, y_h, y_c = layer(keras.Input(batch_shape=(None, None, x.shape[2])))
        self.assertEqual(y.shape, (None, 2, None, 7))
        self.assertEqual((y_h.shape, y_c.shape), ((2, None, 7),) * 2)

    def test_the_configuration_makes_an_equal_layer(self):
        layer, *_ = make(inputs=("initial_h",))
        text = json.dumps(keras.saving.serialize_keras_object(layer))
        again = keras.saving.deserialize_keras_object(json.loads(text))
        self.assertEqual(json.dumps(again.get_config()), json.dumps(layer.get_config()))
        self.assertEqual(again.inputs, ["x", "initial_h"])

    def test_unknown_inputs_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"inputs must be of.*Received: \['c'\]"):
            make(inputs=("initial_h",))[0].__class__(
                np.zeros((1, 1, 4), np.int8), np.zeros((1, 1, 4), np.int8),
                w_scale=1.0, r_scale=1.0, hidden_size=1, inputs=("c",))  # fmt: skip

    def test_a_fresh_process_gives_the_same_bits(self):
        layer, (x,), want = make(direction="bidirectional", hidden=80, per_column=True)
        tensor = keras.Input(batch_shape=(None, None, x.shape[2]))
        model = keras.Model(tensor, layer(tensor)[0])
        with tempfile.TemporaryDirectory() as folder:
            for got in reload.outputs(folder, {"lstm": (model, x)}).values():
                np.testing.assert_array_equal(got, want.y)


if __name__ == "__main__":
    absltest.main()
