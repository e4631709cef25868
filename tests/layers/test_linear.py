"""QuantizeLinear and DequantizeLinear layers: values, dtypes, shapes and configurations."""

import json

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract


class ValuesTest(parameterized.TestCase):
    @parameterized.parameters("int8", "uint8")
    def test_every_code_survives_dequantize_and_quantize(self, dtype):
        codes = contract.all_codes(np.dtype(dtype))
        floats = tfq.layers.DequantizeLinear(0.25, 7)(codes)
        np.testing.assert_array_equal(
            floats, (codes.astype(np.float32) - np.float32(7)) * np.float32(0.25)
        )
        again = tfq.layers.QuantizeLinear(0.25, 7, output_dtype=dtype)(floats)
        np.testing.assert_array_equal(again, codes)
        self.assertEqual(again.dtype, dtype)

    @parameterized.parameters(-1, 0, 1, -2)
    def test_scales_along_an_axis(self, axis):
        rng = np.random.default_rng(1)
        x = rng.integers(-128, 128, (3, 5)).astype(np.int8)
        length = x.shape[axis]
        scale = rng.uniform(0.1, 2, length).astype(np.float32)
        zero_point = rng.integers(-20, 20, length).astype(np.int8)
        layer = tfq.layers.DequantizeLinear(scale, zero_point, axis=axis)
        expected = contract.dequantize_linear(x, scale, zero_point, axis)
        np.testing.assert_array_equal(layer(x), expected)
        back = tfq.layers.QuantizeLinear(scale, zero_point, axis=axis, output_dtype="int8")
        expected = contract.quantize_linear(expected, scale, zero_point, axis)
        np.testing.assert_array_equal(back(layer(x)), expected)

    @parameterized.parameters(
        ((6, 4), 0, 2), ((6, 4), 1, 3), ((3, 7, 2), 1, 4), ((3, 7, 2), -2, 7), ((5,), -1, 2)
    )
    def test_blocks_of_neighbours_share_a_scale(self, shape, axis, block_size):
        rng = np.random.default_rng(8)
        blocks = list(shape)
        blocks[axis] = -(-shape[axis] // block_size)
        scale = rng.uniform(0.1, 2, blocks).astype(np.float32)
        zero_point = rng.integers(-20, 20, blocks).astype(np.int8)
        x = rng.integers(-128, 128, shape).astype(np.int8)
        layer = tfq.layers.DequantizeLinear(scale, zero_point, axis=axis, block_size=block_size)
        floats = contract.dequantize_linear(x, scale, zero_point, axis, block_size)
        np.testing.assert_array_equal(layer(x), floats)
        back = tfq.layers.QuantizeLinear(scale, zero_point, axis=axis, block_size=block_size)
        np.testing.assert_array_equal(
            back(floats), contract.quantize_linear(floats, scale, zero_point, axis, block_size)
        )
        again = tfq.layers.QuantizeLinear.from_config(back.get_config())
        np.testing.assert_array_equal(again(floats), back(floats))

    def test_the_quotient_may_be_rounded_to_another_precision(self):
        x = np.linspace(-3, 3, 1001).astype(np.float32)
        scale = np.float32(0.0371)
        layer = tfq.layers.QuantizeLinear(scale, 5, precision="float16")
        wanted = contract.quantize_linear(x, scale, np.int8(5), precision=np.float16)
        np.testing.assert_array_equal(layer(x), wanted)
        self.assertTrue((wanted != contract.quantize_linear(x, scale, np.int8(5))).any())

    @parameterized.parameters((True, [448.0, -448.0]), (False, [np.nan, np.nan]))
    def test_float8_saturates_or_not(self, saturate, wanted):
        layer = tfq.layers.QuantizeLinear(1.0, output_dtype="float8_e4m3fn", saturate=saturate)
        y = layer(np.array([1000, -np.inf], np.float32))
        np.testing.assert_array_equal(tf.cast(y, tf.float32), wanted)

    def test_the_last_axis_is_the_default(self):
        layer = tfq.layers.DequantizeLinear([1.0, 10.0], [0, 0])
        np.testing.assert_array_equal(layer(np.ones((1, 1, 2), np.int8)), [[[1.0, 10.0]]])

    def test_an_assigned_scale_is_used(self):
        layer = tfq.layers.DequantizeLinear(1.0, 0)
        layer(np.ones(1, np.uint8))
        layer.scale.assign(3.0)
        np.testing.assert_array_equal(layer(np.ones(1, np.uint8)), [3.0])


class DtypesTest(parameterized.TestCase):
    @parameterized.parameters("int8", "uint8", "int32")
    def test_a_python_zero_point_takes_the_dtype_of_the_input(self, dtype):
        layer = tfq.layers.DequantizeLinear(0.5, 3)
        np.testing.assert_array_equal(layer(np.array([5], dtype)), [1.0])
        self.assertEqual(layer.zero_point.dtype, dtype)

    @parameterized.parameters("float32", "float16", "bfloat16")
    def test_the_output_has_the_compute_dtype(self, compute):
        policy = "float32" if compute == "float32" else f"mixed_{compute}"
        layer = tfq.layers.DequantizeLinear(1 / 3, 0, dtype=policy)
        y = layer(np.array([1, 100], np.uint8))
        self.assertEqual(y.dtype, compute)
        product = np.array([1, 100], np.float32) * np.float32(1 / 3)  # one rounding, at the end
        np.testing.assert_array_equal(y, tf.cast(product, compute))
        self.assertEqual(layer.scale.dtype, "float32")

    def test_quantizing_under_mixed_precision_divides_in_float32(self):
        x = tf.constant([0.1, 1.0, 3.0], tf.float16)
        layer = tfq.layers.QuantizeLinear(0.003, 0, output_dtype="int8", dtype="mixed_float16")
        expected = contract.quantize_linear(x.numpy(), np.float32(0.003), np.int8(0))
        np.testing.assert_array_equal(layer(x), expected)

    def test_weights_are_exact_and_not_trainable(self):
        scale = np.array([1e-30, np.inf, -3, 0.1], np.float32)
        layer = tfq.layers.QuantizeLinear(scale, np.array([-128, 127, 0, 1], np.int8))
        layer.build((None, 4))
        self.assertEmpty(layer.trainable_weights)
        np.testing.assert_array_equal(layer.scale, scale)
        np.testing.assert_array_equal(layer.zero_point, [-128, 127, 0, 1])
        self.assertEqual([w.dtype for w in layer.weights], ["float32", "int8"])


class SymbolicTest(parameterized.TestCase):
    @parameterized.parameters([(None, 3)], [(None, None, 4)], [(2, 3, 4, 5)])
    def test_shapes_and_dtypes_of_a_symbolic_call(self, shape):
        x = keras.Input(batch_shape=shape)
        quantize = tfq.layers.QuantizeLinear(0.5, 0, output_dtype="uint8")
        q = quantize(x)
        self.assertEqual((q.shape, q.dtype), (shape, "uint8"))
        dequantize = tfq.layers.DequantizeLinear(0.5, 0)
        y = dequantize(q)
        self.assertEqual((y.shape, y.dtype), (shape, "float32"))
        self.assertEqual(quantize.compute_output_shape(shape), shape)
        self.assertEqual(dequantize.compute_output_shape(shape), shape)

    def test_a_length_known_from_the_scale_alone(self):
        x = keras.Input((None,), dtype="int8")
        self.assertEqual(tfq.layers.DequantizeLinear([0.5, 1, 2])(x).shape, (None, 3))

    def test_xla_compiles_the_layers_where_it_has_their_kernels(self):
        for layer in (tfq.layers.QuantizeLinear(0.1), tfq.layers.DequantizeLinear(0.1)):
            self.assertEqual(layer.supports_jit, tfq.build_info()["xla"])


class ScaleInTheCallTest(parameterized.TestCase):
    def quantize_and_back(self):
        """x, scale, zero point -> their quantized and dequantized values, as a Keras model."""
        x, scale = keras.Input((4,)), keras.Input(batch_shape=(4,))
        zero_point = keras.Input(batch_shape=(4,), dtype="int8")
        q = tfq.layers.QuantizeLinear(None)(x, scale, zero_point)
        y = tfq.layers.DequantizeLinear(None)(q, scale=scale, zero_point=zero_point)
        return keras.Model([x, scale, zero_point], [q, y])

    def test_values_are_those_of_a_layer_with_weights(self):
        rng = np.random.default_rng(9)
        x = rng.normal(size=(3, 4)).astype(np.float32)
        scale = rng.uniform(0.01, 0.1, 4).astype(np.float32)
        zero_point = np.arange(4, dtype=np.int8)
        model = self.quantize_and_back()
        again = keras.Model.from_config(model.get_config())
        wanted = contract.quantize_linear(x, scale, zero_point)
        for each in (model, again):
            q, y = each([x, scale, zero_point])
            np.testing.assert_array_equal(q, wanted)
            np.testing.assert_array_equal(y, contract.dequantize_linear(wanted, scale, zero_point))
        self.assertEmpty(model.weights)

    def test_the_zero_point_may_be_left_out(self):
        layer = tfq.layers.DequantizeLinear(None)
        np.testing.assert_array_equal(layer(np.int8([2]), tf.constant(0.5)), [1.0])

    def test_a_scale_is_given_once(self):
        with self.assertRaisesRegex(ValueError, "Received: neither"):
            tfq.layers.QuantizeLinear(None)(np.float32([1]))
        with self.assertRaisesRegex(ValueError, "Received: both"):
            tfq.layers.QuantizeLinear(1.0)(np.float32([1]), tf.constant(1.0))
        with self.assertRaisesRegex(ValueError, "Received: scale=None, zero_point="):
            tfq.layers.QuantizeLinear(None, 3)


class ConfigTest(parameterized.TestCase):
    @parameterized.parameters(
        (tfq.layers.QuantizeLinear(0.1, 3, output_dtype="uint8"),),
        (tfq.layers.QuantizeLinear(np.array([0.1, 7], np.float32), [1, -2], axis=0),),
        (tfq.layers.DequantizeLinear(np.float32(0.1), np.int8(-3), dtype="mixed_float16"),),
        (tfq.layers.DequantizeLinear([0.1, 0.2], name="named"),),
    )
    def test_the_configuration_alone_makes_an_equal_layer(self, layer):
        text = json.dumps(keras.saving.serialize_keras_object(layer))
        again = keras.saving.deserialize_keras_object(json.loads(text))
        layer.build((2, 2))
        again.build((2, 2))
        self.assertEqual(again.get_config(), layer.get_config())
        for one, other in zip(again.weights, layer.weights, strict=True):
            self.assertEqual(one.dtype, other.dtype)
            np.testing.assert_array_equal(one, other)

    def test_an_unbuilt_copy_still_takes_the_dtype_of_its_input(self):
        layer = tfq.layers.DequantizeLinear(0.5, 3)
        again = tfq.layers.DequantizeLinear.from_config(layer.get_config())
        np.testing.assert_array_equal(again(np.array([-1], np.int8)), [-2.0])

    def test_the_configuration_holds_current_values(self):
        layer = tfq.layers.DequantizeLinear(0.5, 3)
        layer.build((1,))
        layer.scale.assign(0.25)
        again = tfq.layers.DequantizeLinear.from_config(layer.get_config())
        again.build((1,))
        self.assertEqual(float(again.scale.numpy()), 0.25)

    def test_large_parameters_are_zeros_until_they_are_loaded(self):
        scale = np.linspace(1, 2, 1001).astype(np.float32)
        layer = tfq.layers.DequantizeLinear(scale, np.zeros(1001, "int4"))
        config = json.loads(json.dumps(layer.get_config()))
        self.assertEqual(config["scale"], {"dtype": "float32", "shape": [1001]})
        self.assertEqual(config["zero_point"], {"dtype": "int4", "shape": [1001]})
        again = tfq.layers.DequantizeLinear.from_config(config)
        again.build((1, 1001))
        np.testing.assert_array_equal(again.scale, np.zeros(1001))
        layer.build((1, 1001))
        again.set_weights(layer.get_weights())
        x = np.ones((1, 1001), np.int8)
        np.testing.assert_array_equal(again(x), [scale])


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("zero_point_too_large", {"scale": 1.0, "zero_point": 200}, "values of int8"),
        ("zero_point_not_whole", {"scale": 1.0, "zero_point": 0.5}, "values of int8"),
        ("zero_point_of_other_dtype", {"scale": 1.0, "zero_point": np.uint8(1)}, "uint8"),
        ("integer_scale", {"scale": np.int32(1)}, "scale must be"),
        ("text", {"scale": "1"}, "scale must be"),
    )
    def test_wrong_arguments_are_named(self, arguments, message):
        with self.assertRaisesRegex(ValueError, message):
            tfq.layers.QuantizeLinear(**arguments)

    def test_a_scale_of_the_wrong_length_fails_at_the_symbolic_call(self):
        with self.assertRaisesRegex(ValueError, "scale"):
            tfq.layers.QuantizeLinear([1.0, 2.0])(keras.Input((3,)))


if __name__ == "__main__":
    absltest.main()
