"""Dequantize layer: the three modes, as TensorFlow's own operator has them."""

import json

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq

TYPES = ("int8", "uint8", "int16", "uint16")
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def all_codes(dtype):
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1).astype(dtype)


class DequantizeTest(parameterized.TestCase):
    @parameterized.product(dtype=TYPES, mode=MODES, narrow_range=(False, True))
    def test_every_code_is_as_tensorflow_has_it(self, dtype, mode, narrow_range):
        x = all_codes(dtype)
        quantized = tf.bitcast(x, f"q{dtype}")
        layer = tfq.layers.Dequantize(-1.3, 2.7, mode, narrow_range=narrow_range)
        wanted = tf.quantization.dequantize(quantized, -1.3, 2.7, mode, narrow_range=narrow_range)
        np.testing.assert_array_equal(layer(x), wanted)
        np.testing.assert_array_equal(layer(quantized), wanted)

    def test_the_example_of_tensorflows_documentation(self):
        """quint8 of QuantizedRelu6: value * 6 / 255; qint8 adds 128 first."""
        layer = tfq.layers.Dequantize(0.0, 6.0)
        x = all_codes("uint8")
        np.testing.assert_allclose(layer(x), x * (6 / 255), rtol=1e-6)
        x = all_codes("int8")
        np.testing.assert_allclose(layer(x), (x + 128.0) * (6 / 255), rtol=1e-6)

    @parameterized.product(axis=(0, 1, -1), mode=("MIN_COMBINED", "SCALED"))
    def test_a_range_for_each_slice(self, axis, mode):
        rng = np.random.default_rng(1)
        x = rng.integers(0, 256, (3, 4)).astype(np.uint8)
        low = rng.uniform(-2, -1, x.shape[axis]).astype(np.float32)
        high = rng.uniform(1, 2, x.shape[axis]).astype(np.float32)
        wanted = tf.quantization.dequantize(
            tf.bitcast(x, tf.quint8), low, high, mode, axis=axis % 2
        )
        layer = tfq.layers.Dequantize(low, high, mode, axis=axis)
        np.testing.assert_array_equal(layer(x), wanted)
        self.assertEqual([w.shape for w in layer.weights], [low.shape, high.shape])
        self.assertEmpty(layer.trainable_weights)

    @parameterized.parameters("mixed_float16", "bfloat16")
    def test_the_output_has_the_compute_dtype(self, policy):
        layer = tfq.layers.Dequantize(-1.0, 1.0, dtype=policy)
        x = all_codes("uint8")
        wanted = tf.cast(tfq.dequantize(x, -1.0, 1.0), layer.compute_dtype)
        np.testing.assert_array_equal(layer(x), wanted)

    def test_a_symbolic_call_and_a_model_compiled_by_xla(self):
        x = keras.Input((None, 3), dtype="uint8")
        layer = tfq.layers.Dequantize([0, 0, 0.0], [1, 2, 6.0], "SCALED", axis=-1)
        model = keras.Model(x, layer(x))
        self.assertEqual((model.output.shape, model.output.dtype), ((None, None, 3), "float32"))
        self.assertEqual(layer.supports_jit, tfq.build_info()["xla"])
        value = np.arange(12, dtype=np.uint8).reshape(1, 4, 3)
        model.compile(jit_compile="auto")
        np.testing.assert_array_equal(model.predict(value, verbose=0), model(value))
        self.assertEqual(layer.compute_output_shape((5, 3)), (5, 3))

    @parameterized.parameters(
        (tfq.layers.Dequantize(-1.0, 1.0),),
        (tfq.layers.Dequantize([0, 1.0], [1, 2.0], "SCALED", -2, True, name="named"),),
    )
    def test_the_configuration_alone_makes_an_equal_layer(self, layer):
        text = json.dumps(keras.saving.serialize_keras_object(layer))
        again = keras.saving.deserialize_keras_object(json.loads(text))
        x = np.arange(6, dtype=np.int8).reshape(2, 3)
        np.testing.assert_array_equal(again(x), layer(x))
        self.assertEqual(again.get_config(), layer.get_config())

    def test_wrong_arguments_are_named(self):
        with self.assertRaisesRegex(ValueError, "mode must be .* Received: mode='MAX'"):
            tfq.layers.Dequantize(0.0, 1.0, "MAX")
        with self.assertRaisesRegex(ValueError, "max_range must be .* Received: max_range=None"):
            tfq.layers.Dequantize(0.0, None)
        with self.assertRaisesRegex(ValueError, "min_range must have the length of"):
            tfq.layers.Dequantize([0.0, 0.0], [1.0, 1.0], axis=1)(keras.Input((3,), dtype="int8"))


if __name__ == "__main__":
    absltest.main()
