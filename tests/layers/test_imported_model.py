"""Models as an importer makes them: eager calls as one graph, and depth."""

import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tf_qops.layers import imported_model


def chain(length):
    x = y = keras.Input((3,))
    for _ in range(length):
        y = keras.ops.negative(y)
    with imported_model.deep_recursion(length):
        return tfq.layers.ImportedModel(x, y)


class ImportedModelTest(parameterized.TestCase):
    def test_an_eager_call_is_traced_once_for_all_batches(self):
        traced = []
        x = keras.Input((3,))

        class Traced(keras.layers.Layer):
            def call(self, x):
                traced.append(x.shape)
                return x * 2

        model = tfq.layers.ImportedModel(x, Traced()(x))
        del traced[:]
        for batch in (1, 2, 5):
            np.testing.assert_array_equal(model(np.ones((batch, 3), np.float32)), 2)
        self.assertLen(traced, 1)

    def test_gradients_go_through_an_eager_call(self):
        x = keras.Input((2,))
        dense = keras.layers.Dense(1, kernel_initializer="ones")
        model = tfq.layers.ImportedModel(x, dense(x))
        with tf.GradientTape() as tape:
            y = model(tf.constant([[3.0, 4.0]]), training=True)
        np.testing.assert_array_equal(tape.gradient(y, dense.kernel), [[3.0], [4.0]])

    def test_inputs_that_do_not_fit_are_refused_as_keras_does(self):
        with self.assertRaises(ValueError):
            chain(1)(np.ones((1, 2, 3, 4), np.float32))

    def test_a_chain_deeper_than_python_recurses_is_loaded(self):
        model = chain(1201)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.keras")
            model.save(path)
            again = keras.models.load_model(path)
        x = np.ones((1, 3), np.float32)
        np.testing.assert_array_equal(again(x), -x)


if __name__ == "__main__":
    absltest.main()
