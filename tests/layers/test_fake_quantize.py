"""FakeQuantizeLinear, Parameter and the quantize-aware layers: values, training, saving."""

import json
import tempfile

import keras
import numpy as np
import pytest
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, reload


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class FakeQuantizeLinearTest(parameterized.TestCase):
    @parameterized.parameters(
        (None, "int8"), (3, "uint8"), (np.float32(2.6), "uint4"), (np.int8(-1), "int8"), (1, "int4")
    )
    def test_values_are_those_of_quantize_and_dequantize(self, zero_point, dtype):
        x = normal(4, 5)
        layer = tfq.layers.FakeQuantizeLinear(0.1, zero_point, quantized_dtype=dtype)
        code = np.rint(0 if zero_point is None else zero_point).astype(dtype)
        codes = contract.quantize_linear(x, np.float32(0.1), code)
        expected = contract.dequantize_linear(codes, np.float32(0.1), code)
        np.testing.assert_array_equal(layer(x), expected)
        again = tfq.layers.FakeQuantizeLinear.from_config(
            json.loads(json.dumps(layer.get_config()))
        )
        np.testing.assert_array_equal(again(x), expected)

    def test_real_zero_points_are_learned_and_codes_are_not(self):
        for zero_point, names in ((1.5, ["zero_point", "scale_factor"]), (1, ["scale_factor"])):
            layer = tfq.layers.FakeQuantizeLinear(0.1, zero_point)
            layer.build((2,))
            self.assertEqual([w.name for w in layer.trainable_weights], names)

    def test_the_configuration_holds_the_scale_that_was_learned(self):
        layer = tfq.layers.FakeQuantizeLinear(0.5)
        layer.build((2,))
        layer.scale_factor.assign(0.5)
        again = tfq.layers.FakeQuantizeLinear.from_config(layer.get_config())
        np.testing.assert_array_equal(again(np.float32([0.3])), [0.25])

    def test_a_large_step_leaves_the_scale_positive(self):
        layer = tfq.layers.FakeQuantizeLinear(0.5)
        x = normal(100)
        optimizer = keras.optimizers.SGD(1e3)
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x))
            weights = layer.trainable_weights
            optimizer.apply(tape.gradient(loss, weights), weights)
            self.assertGreater(float(layer.tensor("scale")), 0)

    def test_the_gradient_factor_is_lsq_s(self):
        x, slopes = normal(100), []
        for factor in (1.0, 0.125):
            layer = tfq.layers.FakeQuantizeLinear(0.5, gradient_factor=factor)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x) ** 2)
            slopes.append(float(tape.gradient(loss, layer.scale_factor.value)))
        self.assertAlmostEqual(slopes[1], slopes[0] / 8, places=5)

    def test_scale_and_zero_point_in_the_call(self):
        x = keras.Input((4,))
        scale = tfq.layers.Parameter((), is_scale=True)(x)
        zero_point = tfq.layers.Parameter(())(x)
        y = tfq.layers.FakeQuantizeLinear(None, quantized_dtype="uint8")(x, scale, zero_point)
        model = keras.Model(x, y)
        model.layers[1].assign(value=np.float32(0.5))
        model.layers[2].assign(value=np.float32(2.4))
        np.testing.assert_array_equal(model(np.float32([[0.6, -9, 1, 200]])), [[0.5, -1, 1, 126.5]])
        self.assertLen(model.trainable_weights, 2)

    @parameterized.named_parameters(
        ("zero_point_too_large", {"scale": 1.0, "zero_point": 200}, "values of int8"),
        ("zero_point_of_other_dtype", {"scale": 1.0, "zero_point": np.uint8(1)}, "uint8"),
        ("integer_scale", {"scale": np.int32(1)}, "scale must be"),
    )
    def test_wrong_arguments_are_named(self, arguments, message):
        with self.assertRaisesRegex(ValueError, message):
            tfq.layers.FakeQuantizeLinear(**arguments)


def network():
    """Every kind of quantize-aware layer."""
    layers = tfq.layers
    return keras.Sequential(
        [
            keras.Input((6, 6, 2)),
            layers.FakeQuantizeLinear(0.05, 128, quantized_dtype="uint8"),
            layers.QuantizeAwareConv2D(4, 3, activation="relu", weight_bits=4),
            layers.QuantizeAwareDepthwiseConv2D(3, depth_multiplier=2, padding="same"),
            keras.layers.Reshape((16, 8)),
            layers.QuantizeAwareDepthwiseConv1D(3),
            layers.QuantizeAwareConv1D(3, 3),
            keras.layers.Flatten(),
            layers.QuantizeAwareDense(2, weight_bits=2),
        ]
    )


class QuantizeAwareTest(parameterized.TestCase):
    @parameterized.parameters(
        (keras.layers.Conv1D(4, 3, padding="causal"), (2, 9, 3)),
        (keras.layers.Conv2D(6, 3, strides=2, groups=3, activation="relu"), (1, 7, 7, 3)),
        (keras.layers.Conv2D(4, (3, 1), use_bias=False, dilation_rate=2), (1, 7, 7, 3)),
        (keras.layers.DepthwiseConv1D(3, depth_multiplier=2), (2, 9, 3)),
        (keras.layers.DepthwiseConv2D(3, depth_multiplier=2, strides=2), (2, 9, 9, 3)),
        (keras.layers.Dense(5, activation="tanh"), (2, 3, 4)),
    )  # fmt: skip
    def test_the_layer_is_keras_s_with_another_kernel(self, layer, shape):
        x = normal(*shape)
        layer(x)
        layer.set_weights([normal(*w.shape, seed=i) for i, w in enumerate(layer.weights)])
        kind = getattr(tfq.layers, f"QuantizeAware{type(layer).__name__}")
        for bits in (2, 4, 8, 16):
            aware = kind.from_float(layer, bits)
            kernel = layer.kernel.numpy()
            columns = kernel.reshape(-1, int(aware.weight_quantizer.scale.shape[0]))
            scale = np.abs(columns).max(0) / np.float32(2 ** (bits - 1) - 1)
            zeros = np.zeros(scale.shape, f"int{bits}")
            codes = contract.quantize_linear(columns, scale, zeros)
            quantized = contract.dequantize_linear(codes, scale).reshape(kernel.shape)
            layer.kernel.assign(quantized)
            np.testing.assert_array_equal(aware(x), layer(x))
            layer.kernel.assign(kernel)

    def test_fit_learns_kernels_and_scales(self):
        keras.utils.set_random_seed(1)
        model = network()
        x = normal(64, 6, 6, 2)
        y = (x.mean((1, 2, 3)) > 0).astype(np.int32)
        before = [w.numpy() for w in model.trainable_weights]
        model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(True))
        losses = model.fit(x, y, epochs=60, verbose=0).history["loss"]
        self.assertLess(losses[-1], 0.7 * losses[0])
        for old, new in zip(before, model.trainable_weights, strict=True):
            self.assertFalse(np.array_equal(old, new.numpy()), new.path)

    @parameterized.parameters("mixed_float16", "mixed_bfloat16")
    def test_mixed_precision_quantizes_weights_in_float32(self, policy):
        exact = tfq.layers.QuantizeAwareDense(3)
        exact.build((None, 4))
        mixed = tfq.layers.QuantizeAwareDense(3, dtype=policy)
        mixed.build((None, 4))
        mixed.set_weights(exact.get_weights())
        np.testing.assert_array_equal(mixed.fake_quantized_kernel(), exact.fake_quantized_kernel())
        x = normal(5, 4)
        self.assertEqual(mixed(x).dtype, policy.removeprefix("mixed_"))
        wanted = tf.cast(exact(x), tf.float32)
        np.testing.assert_allclose(tf.cast(mixed(x), tf.float32), wanted, atol=0.03)

    def test_mixed_precision_fits(self):
        model = network()
        policy = keras.DTypePolicy("mixed_float16")
        model = keras.Sequential(
            [
                type(layer).from_config(layer.get_config() | {"dtype": policy})
                for layer in model.layers
            ]
        )
        model.build((None, 6, 6, 2))
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(True))
        history = model.fit(normal(16, 6, 6, 2), np.zeros(16), epochs=3, verbose=0).history
        self.assertLess(history["loss"][-1], history["loss"][0])

    @pytest.mark.slow
    def test_saved_models_give_the_same_bits(self):
        model, x = network(), normal(3, 6, 6, 2)
        for layer in model.layers:
            for weight in layer.trainable_weights:
                weight.assign(weight + 0.01)
        with tempfile.TemporaryDirectory() as folder:
            for output in reload.outputs(folder, {"network": (model, x)}).values():
                np.testing.assert_array_equal(output, tf.function(model)(x))

    def test_checkpoints_bring_back_weights_and_optimizer(self):
        x, y = normal(16, 6, 6, 2), np.zeros(16)
        models = [network(), network()]
        with tempfile.TemporaryDirectory() as folder:
            for i, model in enumerate(models):
                model.compile("adam", keras.losses.SparseCategoricalCrossentropy(True))
                model.fit(x, y, epochs=1 + i, verbose=0, shuffle=False)
            models[0].save_weights(f"{folder}/all.weights.h5")
            models[1].load_weights(f"{folder}/all.weights.h5")
            tf.train.Checkpoint(model=models[0]).write(f"{folder}/checkpoint")
            tf.train.Checkpoint(model=models[1]).read(f"{folder}/checkpoint")
        np.testing.assert_array_equal(models[0](x), models[1](x))

    def test_jit_compiled_training(self):
        layer = tfq.layers.QuantizeAwareDense(3, weight_bits=4)
        x = tf.constant(normal(5, 4))
        layer(x)

        def slopes():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x) ** 2)
            return tape.gradient(loss, [w.value for w in layer.trainable_weights])

        for a, b in zip(slopes(), tf.function(slopes, jit_compile=True)(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)

    def test_bits_that_no_type_has(self):
        with self.assertRaisesRegex(ValueError, "weight_bits must be one of.*Received: 3"):
            tfq.layers.QuantizeAwareDense(1, weight_bits=3)


if __name__ == "__main__":
    absltest.main()
