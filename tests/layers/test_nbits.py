"""MatMulNBits and GatherBlockQuantized as layers: values, weights, saving, from a float layer."""

import json
import tempfile

import keras
import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_nbits, reload


def make_matmul(rng, bits, zero_points, **options):
    inputs, attributes = contract_nbits.weights(rng, 70, 9, bits, 16, zero_points, True)
    inputs["bias"] = rng.standard_normal(9).astype(np.float32)
    return tfq.layers.MatMulNBits(**inputs, **attributes, **options), inputs, attributes


def embedding(rng, bits=4):
    data = rng.integers(0, 256, (50, 64 * bits // 8), np.uint8)
    scales = rng.uniform(0.1, 1, (50, 4)).astype(np.float32)
    zero_points = rng.integers(0, 256, (50, 4 * bits // 8), np.uint8)
    return {"data": data, "scales": scales, "zero_points": zero_points}


class MatMulNBitsTest(parameterized.TestCase):
    @parameterized.product(bits=[2, 4, 8], zero_points=[None, "packed", "float"])
    def test_the_layer_is_the_function(self, bits, zero_points):
        rng = np.random.default_rng(bits)
        layer, inputs, attributes = make_matmul(rng, bits, zero_points)
        x = rng.standard_normal((2, 3, 70)).astype(np.float32)
        self.assertEqual(layer(keras.Input((None, 70))).shape, (None, None, 9))
        np.testing.assert_array_equal(layer(x), tfq.matmul_nbits(x, **inputs, **attributes))
        self.assertEqual(layer.b.dtype, "uint8")
        self.assertEmpty(layer.trainable_weights)

    @parameterized.parameters("float16", "bfloat16", "mixed_bfloat16")
    def test_narrow_activations(self, policy):
        layer, inputs, attributes = make_matmul(np.random.default_rng(5), 4, None, dtype=policy)
        dtype = policy.removeprefix("mixed_")
        inputs["bias"] = inputs["bias"].astype(dtype)
        x = np.random.default_rng(6).standard_normal((4, 70)).astype(dtype)
        got = layer(x.astype(np.float32))
        self.assertEqual(got.dtype, dtype)
        np.testing.assert_array_equal(got, tfq.matmul_nbits(x, **inputs, **attributes))

    def test_python_numbers_take_the_types_that_the_function_wants(self):
        b = [[[0x98] + [0] * 7]]
        layer = tfq.layers.MatMulNBits(b, [[0.5]], [[8]], [0, 0], [1], k=2, n=1, block_size=16)
        np.testing.assert_array_equal(layer(tf.constant([[5.0, 3.0]])), [[2.5]])

    @parameterized.product(bits=[2, 4, 8], symmetric=[True, False], size=[16, 64])
    def test_from_float_keeps_each_weight_within_a_step(self, bits, symmetric, size):
        rng = np.random.default_rng(7)
        dense = keras.layers.Dense(11, name="projection", bias_initializer="normal")
        dense.build((None, 100))
        dense.kernel.assign(rng.standard_normal((100, 11)))
        layer = tfq.layers.MatMulNBits.from_float(dense, bits, size, symmetric)
        self.assertEqual(layer.name, "projection")
        got = layer(np.eye(100, dtype=np.float32)).numpy() - layer.bias.numpy()
        scale = np.repeat(np.abs(layer.scales.numpy()), size, axis=1)[:, :100].T
        error = np.abs(got - dense.kernel.numpy())
        # Half a step, but a symmetric block lacks the code for its largest value's negative.
        self.assertTrue(np.all(error <= (1.01 if symmetric else 0.51) * scale + 1e-6))

    def test_from_float_refuses_what_it_cannot_keep(self):
        dense = keras.layers.Dense(1, activation="relu")
        dense.build((None, 2))
        with self.assertRaisesRegex(ValueError, "must be linear. Received: activation=relu"):
            tfq.layers.MatMulNBits.from_float(dense)
        with self.assertRaisesRegex(TypeError, "Received: Embedding"):
            tfq.layers.MatMulNBits.from_float(keras.layers.Embedding(1, 1))
        dense.activation = keras.activations.linear
        with self.assertRaisesRegex(ValueError, "Received: bits=3"):
            tfq.layers.MatMulNBits.from_float(dense, bits=3)

    def test_wrong_shapes_are_refused_while_the_model_is_built(self):
        layer, *_ = make_matmul(np.random.default_rng(8), 4, None)
        with self.assertRaisesRegex(ValueError, "Received: .*71"):
            layer(keras.Input((71,)))


class GatherBlockQuantizedTest(parameterized.TestCase):
    @parameterized.parameters(2, 4, 8)
    def test_the_layer_is_the_function(self, bits):
        operands = embedding(np.random.default_rng(bits), bits)
        layer = tfq.layers.GatherBlockQuantized(**operands, block_size=16, bits=bits)
        indices = np.int64([[3, 49], [-1, 0]])
        self.assertEqual(layer(keras.Input((2,), dtype="int64")).shape, (None, 2, 64))
        want = contract_nbits.gather_block_quantized(
            **operands, indices=indices, gather_axis=0, quantize_axis=1, block_size=16, bits=bits
        )
        np.testing.assert_array_equal(layer(indices), want)

    def test_codes_of_four_bits_take_half_a_byte(self):
        data = np.arange(-8, 8).astype(ml_dtypes.int4).reshape(1, 16)
        layer = tfq.layers.GatherBlockQuantized(data, [[0.5]], block_size=16)
        np.testing.assert_array_equal(layer(np.int32(0)), np.arange(-8, 8) / 2)
        self.assertEqual(layer.data.shape, (8,))


class SavingTest(parameterized.TestCase):
    def test_configurations_make_equal_layers(self):
        rng = np.random.default_rng(9)
        layer = make_matmul(rng, 4, "packed", name="m")[0]
        gather = tfq.layers.GatherBlockQuantized(**embedding(rng), block_size=16, name="g")
        for one in (layer, gather):
            text = json.dumps(keras.saving.serialize_keras_object(one))
            again = keras.saving.deserialize_keras_object(json.loads(text))
            self.assertEqual(json.dumps(again.get_config()), json.dumps(one.get_config()))

    def test_a_fresh_process_gives_the_same_bits(self):
        rng = np.random.default_rng(10)
        operands = embedding(rng)
        tokens = keras.Input((None,), dtype="int32")
        embedded = tfq.layers.GatherBlockQuantized(**operands, block_size=16)(tokens)
        inputs, attributes = contract_nbits.weights(rng, 64, 300, 4, 32, "packed")
        y = tfq.layers.MatMulNBits(**inputs, **attributes)(embedded)
        x = np.int32([[1, 2, 49], [0, 7, 3]])
        model = keras.Model(tokens, y)
        want = model(x).numpy()
        with tempfile.TemporaryDirectory() as folder:
            for got in reload.outputs(folder, {"nbits": (model, x)}).values():
                np.testing.assert_array_equal(got, want)


if __name__ == "__main__":
    absltest.main()
