"""Reshape, Flatten and Constant."""

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq


class ReshapeTest(parameterized.TestCase):
    @parameterized.parameters(
        ((2, 3, 4), (0, -1), False, (2, 12)),
        ((2, 3, 4), (4, 3, 2), False, (4, 3, 2)),
        ((2, 3, 4), (-1,), False, (24,)),
        ((2, 3, 4), (6, 1, 0), False, (6, 1, 4)),
        ((0, 3), (3, 0), True, (3, 0)),
        ((5,), (), False, None),
    )
    def test_targets(self, shape, target, allow_zero, wanted):
        x = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        layer = tfq.layers.Reshape(target, allow_zero)
        if wanted is None:
            with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
                layer(x)
        else:
            np.testing.assert_array_equal(layer(x), x.reshape(wanted))

    def test_kept_dimensions_may_be_unknown(self):
        layer = tfq.layers.Reshape((0, 0, -1))
        self.assertEqual(layer(keras.Input((None, 2, 3))).shape, (None, None, 6))
        x = np.zeros((4, 5, 2, 3), np.int8)
        traced = tf.function(layer, input_signature=[tf.TensorSpec([None, None, 2, 3], tf.int8)])
        self.assertEqual(traced(x).shape, (4, 5, 6))

    @parameterized.parameters([(-1, -1)], [(-2,)])
    def test_wrong_targets_are_refused(self, target):
        with self.assertRaisesRegex(ValueError, "target_shape"):
            tfq.layers.Reshape(target)

    def test_a_kept_dimension_must_exist(self):
        with self.assertRaisesRegex(ValueError, "target_shape keeps a dimension"):
            tfq.layers.Reshape((6, 1, 0))(np.zeros((2, 3)))


class FlattenTest(parameterized.TestCase):
    @parameterized.parameters(
        (0, (1, 120)), (1, (2, 60)), (2, (6, 20)), (4, (120, 1)), (-1, (24, 5)), (-4, (1, 120))
    )
    def test_axis(self, axis, wanted):
        x = np.arange(120).reshape(2, 3, 4, 5)
        layer = tfq.layers.Flatten(axis)
        np.testing.assert_array_equal(layer(x), x.reshape(wanted))
        self.assertEqual(layer.compute_output_shape(x.shape), wanted)

    def test_a_zero_length_dimension(self):
        self.assertEqual(tfq.layers.Flatten(1)(np.zeros((0, 3, 4))).shape, (0, 12))

    @parameterized.parameters(3, -3)
    def test_axis_out_of_range(self, axis):
        with self.assertRaisesRegex(ValueError, "axis must be in"):
            tfq.layers.Flatten(axis)(np.zeros((2, 3)))


class ConstantTest(parameterized.TestCase):
    @parameterized.parameters("int8", "int64", "float32", "float16", "bool")
    def test_a_constant_keeps_its_dtype_in_a_model(self, dtype):
        layer = tfq.layers.Constant((2,), dtype)
        x = keras.Input((3,))
        y = layer(x)
        self.assertEqual((y.shape, y.dtype), ((2,), dtype))
        layer.value.assign(np.array([1, 0], dtype))
        model = keras.Model(x, y)
        np.testing.assert_array_equal(model(np.zeros((1, 3))), np.array([1, 0], dtype))


if __name__ == "__main__":
    absltest.main()
