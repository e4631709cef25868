"""A model of quantized layers gives the same bits in another process; wrong environments."""

import os
import pathlib
import subprocess
import sys
import tempfile

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq

_RELOAD = """
import sys
import keras, numpy as np, tensorflow as tf
import tf_qops as tfq
kind, path, x, y = sys.argv[1:]
tfq.register()
model = keras.models.load_model(path) if kind == "keras" else tf.saved_model.load(path)
np.save(y, (model if kind == "keras" else model.serve)(np.load(x)))
"""


def run(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=pathlib.Path(tfq.__file__).parents[1],
    )


def make_model():
    rng = np.random.default_rng(1)
    x = keras.Input((None, None, 3), name="image")
    q = tfq.layers.QuantizeLinear(np.float32(1 / 255), 3, output_dtype="uint8")(x)
    conv = tfq.layers.QLinearConv2D(
        8,
        3,
        strides=2,
        padding=(1, 0, 0, 1),
        x_scale=1 / 255,
        x_zero_point=3,
        w_scale=rng.uniform(0.001, 0.1, 8).astype(np.float32),
        y_scale=0.3,
        y_zero_point=-7,
        output_dtype="int8",
        data_format="channels_last",
    )
    c = tfq.layers.MaxPool((2, 2), pads=(0, 0, 1, 1), data_format="channels_last")(conv(q))
    scale = rng.uniform(0.1, 1, 8).astype(np.float32)
    y = tfq.layers.DequantizeLinear(scale, np.arange(8, dtype=np.int8))(c)
    model = keras.Model(x, y)
    conv.kernel.assign(rng.integers(-128, 128, conv.kernel.shape).astype(np.int8))
    conv.bias.assign(rng.integers(-2000, 2000, 8).astype(np.int32))
    return model


class SavingTest(parameterized.TestCase):
    @parameterized.parameters("keras", "savedmodel")
    def test_a_fresh_process_gives_the_same_bits(self, kind):
        model = make_model()
        x = np.random.default_rng(2).uniform(size=(2, 10, 9, 3)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/m.keras" if kind == "keras" else f"{folder}/m"
            if kind == "keras":
                model.save(path)
            else:
                model.export(path, verbose=False)
            np.save(f"{folder}/x.npy", x)
            done = run(_RELOAD, kind, path, f"{folder}/x.npy", f"{folder}/y.npy")
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            np.testing.assert_array_equal(np.load(f"{folder}/y.npy"), model(x))

    def test_weights_load_into_a_model_made_anew(self):
        model, other = make_model(), make_model()
        for weight in model.weights:
            weight.assign(tf.ones_like(weight))
        with tempfile.TemporaryDirectory() as folder:
            model.save_weights(f"{folder}/w.weights.h5")
            other.load_weights(f"{folder}/w.weights.h5")
        for one, two in zip(model.weights, other.weights, strict=True):
            np.testing.assert_array_equal(one, two)

    def test_a_model_of_quantized_layers_predicts(self):
        model = make_model()
        x = np.random.default_rng(3).uniform(size=(5, 8, 8, 3)).astype(np.float32)
        model.compile()
        np.testing.assert_array_equal(model.predict(x, batch_size=2, verbose=0), model(x))


class EnvironmentTest(parameterized.TestCase):
    @parameterized.parameters(("KERAS_BACKEND", "numpy"), ("TF_USE_LEGACY_KERAS", "1"))
    def test_layers_say_what_they_need_and_functions_work(self, variable, value):
        code = """
import tf_qops as tfq
assert tfq.dequantize_linear([4], 0.5).numpy() == [2.0]
try:
    tfq.layers
except ImportError as error:
    print(error)
"""
        done = run(code, **{variable: value})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("needs Keras 3 on TensorFlow", done.stdout)
        self.assertIn(f"{variable}={value}", done.stdout)


if __name__ == "__main__":
    absltest.main()
