"""A model of quantized layers gives the same bits in another process; wrong environments."""

import os
import pathlib
import shutil
import tempfile
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, reload
from tf_qops.layers import _requirements


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


def narrow_model(rng):
    """Constants and zero points of every packed type: x [n, 1] -> [n, sum of all codes' counts]."""
    x = keras.Input((1,))
    parts, wanted = [], []
    for dtype in (*contract.FLOATS, "int2", "uint2", "int4", "uint4"):
        codes = rng.permutation(contract.all_codes(np.dtype(dtype)))[:-1]
        if dtype in contract.FLOATS:
            codes = codes[np.isfinite(codes.astype(np.float32))]
        zero_point = codes[1]
        constant = tfq.layers.Constant(codes.shape, dtype)
        dequantize = tfq.layers.DequantizeLinear(np.float32(0.3), zero_point)
        parts.append(dequantize(constant(x)))
        constant.assign(value=codes)
        wanted.append(contract.dequantize_linear(codes, np.float32(0.3), zero_point))
    model = keras.Model(x, keras.ops.multiply(x, keras.ops.concatenate(parts)))
    return model, np.concatenate(wanted)


class SavingTest(parameterized.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(2)
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        narrow, cls.wanted_narrow = narrow_model(rng)
        large = tfq.layers.Constant((1001, 1001), "int4")
        cls.scale = rng.uniform(0.1, 1, 1001).astype(np.float32)
        x = keras.Input((1,))
        y = tfq.layers.DequantizeLinear(cls.scale)(large(x))
        models = {
            "convolution": (make_model(), rng.uniform(size=(2, 10, 9, 3)).astype(np.float32)),
            "narrow": (narrow, np.ones((1, 1), np.float32)),
            "large": (keras.Model(x, y), np.ones((1, 1), np.float32)),
        }
        cls.codes = rng.integers(-8, 8, (1001, 1001)).astype("int4")
        large.assign(value=cls.codes)
        cls.wanted = {name: model(x).numpy() for name, (model, x) in models.items()}
        cls.outputs = reload.outputs(cls.folder, models)

    @parameterized.product(name=("convolution", "narrow", "large"), kind=reload.KINDS)
    def test_a_fresh_process_gives_the_same_bits(self, name, kind):
        np.testing.assert_array_equal(self.outputs[name, kind], self.wanted[name])

    def test_narrow_constants_are_right_before_they_are_saved(self):
        np.testing.assert_array_equal(np.ravel(self.wanted["narrow"]), self.wanted_narrow)
        wanted = self.codes.astype(np.float32) * self.scale
        np.testing.assert_array_equal(self.wanted["large"], wanted)

    def test_four_bit_values_take_half_a_byte_in_a_file(self):
        folder = pathlib.Path(self.folder, "large")
        size = -(-self.codes.size // 2)
        self.assertBetween((folder / "model.keras").stat().st_size, size, size + 30_000)
        variables = folder / "model" / "variables" / "variables.data-00000-of-00001"
        copies = 2  # Keras's export writes every weight twice
        self.assertBetween(variables.stat().st_size, size, copies * size + 30_000)

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
    def test_layers_say_what_they_need_and_functions_work(self):
        code = """
import tf_qops as tfq
assert tfq.dequantize_linear([4], 0.5).numpy() == [2.0]
try:
    tfq.layers
except ImportError as error:
    print(error)
"""
        done = reload.run(code, KERAS_BACKEND="numpy")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("needs Keras 3 on TensorFlow", done.stdout)
        self.assertIn("KERAS_BACKEND=numpy", done.stdout)

    def test_the_old_keras_is_refused(self):
        message = "needs Keras 3 on TensorFlow.*Received: TF_USE_LEGACY_KERAS=1"
        with (
            mock.patch.dict(os.environ, TF_USE_LEGACY_KERAS="1"),
            self.assertRaisesRegex(ImportError, message),
        ):
            _requirements._check()


if __name__ == "__main__":
    absltest.main()
