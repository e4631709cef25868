"""Layers around one function: which operands are weights, which inputs; configuration, errors."""

import json

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq

SCALES = {"a_scale": 0.5, "b_scale": 1.0, "c_scale": 0.5}
ZEROS = {"a_zero_point": 0, "b_zero_point": 0}


class OperatorTest(parameterized.TestCase):
    def test_operands_are_weights_or_inputs(self):
        layer = tfq.layers.QLinearAdd(SCALES | ZEROS)
        y = layer([np.int8([3, -100]), np.int8([1, -90])])
        np.testing.assert_array_equal(y, [5, -128])
        self.assertEqual(
            {w.name: w.dtype for w in layer.weights},
            dict.fromkeys(SCALES, "float32") | dict.fromkeys(ZEROS, "int8"),
        )
        self.assertEmpty(layer.trainable_weights)

    def test_an_operand_may_be_left_out(self):
        layer = tfq.layers.QLinearAdd(SCALES | ZEROS | {"a_zero_point": None}, ["b", "a"])
        y = layer([tf.constant([1], tf.uint8), tf.constant([3], tf.uint8)])
        np.testing.assert_array_equal(y, [5])

    def test_optional_operands_may_be_inputs(self):
        layer = tfq.layers.MatMulInteger(inputs=["a", "b", "b_zero_point"])
        y = layer([np.uint8([[2]]), np.int8([[7]]), np.int8(4)])
        np.testing.assert_array_equal(y, [[6]])

    def test_float8_types_that_keras_lacks_are_carried(self):
        dtype = "float8_e4m3fnuz"
        one = np.array(1, "float32").astype(dtype)
        zero = np.zeros((), dtype)
        constants = {"a_scale": 1.0, "a_zero_point": zero, "b_scale": 1.0, "b_zero_point": zero}
        constants |= {"y_scale": 0.5, "y_zero_point": zero, "b": np.full((2, 1), one)}
        layer = tfq.layers.QLinearMatMul(constants)
        y = layer(np.array([[1.5, 2]], np.float32))
        self.assertEqual(y.dtype, tf.float32)
        np.testing.assert_array_equal(y, [[7]])

    def test_the_configuration_makes_an_equal_layer(self):
        layer = tfq.layers.QLinearAveragePool(
            {"x_scale": 0.5, "x_zero_point": np.int8(1), "y_scale": 0.25},
            attributes={"kernel_shape": [2], "channels_last": True},
        )
        x = keras.Input((4, 3), dtype="int8")
        self.assertEqual(layer(x).shape, (None, 3, 3))
        text = json.dumps(keras.saving.serialize_keras_object(layer))
        again = keras.saving.deserialize_keras_object(json.loads(text))
        self.assertEqual(json.dumps(again.get_config()), json.dumps(layer.get_config()))
        # (0 + 3) / 2 * (0.5 / 0.25)
        np.testing.assert_array_equal(again(np.int8([[[1], [4]]])), [[[3]]])

    def test_large_constants_are_not_written_into_the_configuration(self):
        layer = tfq.layers.MatMulInteger({"b": np.ones((40, 40), np.int8)})
        self.assertEqual(layer.get_config()["constants"]["b"]["shape"], (40, 40))
        layer.build(None)
        self.assertEqual(layer.get_config()["constants"]["b"]["shape"], (40, 40))

    @absltest.skipUnless(tfq.build_info()["xla"], "built without XLA")
    def test_xla_compiles_layers_whose_operator_it_has(self):
        layer = tfq.layers.QLinearAdd(SCALES | ZEROS)
        a, b = np.int8([3, -100]), np.int8([1, -90])
        np.testing.assert_array_equal(tf.function(layer, jit_compile=True)([a, b]), layer([a, b]))
        self.assertTrue(layer.supports_jit)
        self.assertFalse(tfq.layers.MatMulInteger({"b": np.int8([[1]])}).supports_jit)

    def test_wrong_names_are_refused(self):
        with self.assertRaisesRegex(ValueError, r"QLinearSigmoid takes.*Received: \['y'\]"):
            tfq.layers.QLinearSigmoid({"y": np.uint8(0)})
        with self.assertRaisesRegex(ValueError, r"constant or an input. Received: \['x'\]"):
            tfq.layers.QLinearSigmoid({"x": np.uint8([0]), "x_scale": 1.0}, ["x"])
        with self.assertRaisesRegex(ValueError, r"QLinearSigmoid needs.*Received: no \['x'"):
            tfq.layers.QLinearSigmoid({"x_scale": 1.0}, ["y_scale"])
        with self.assertRaisesRegex(ValueError, r"inputs must be.*Received: 1 tensors"):
            tfq.layers.QLinearAdd(SCALES | ZEROS)(np.uint8([0]))
        concat = tfq.layers.QLinearConcat(
            {"y_scale": 1.0, "y_zero_point": np.uint8(0)}, ["x0"], {"axis": 0}
        )
        with self.assertRaisesRegex(ValueError, "operands must be"):
            concat(np.uint8([0]))


if __name__ == "__main__":
    absltest.main()
