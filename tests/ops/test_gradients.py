"""Gradients of dequantize and dequantize_linear, against differences of their values."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import modes


def codes(dtype, shape=(3, 5)):
    info = np.iinfo(dtype)
    return np.random.default_rng(1).integers(info.min, info.max + 1, shape).astype(dtype)


def numerical(function, values, dy, step=2.0**-6):
    """Central differences of sum(dy * function(values)), exact for a linear function."""
    result = np.zeros(values.shape)
    for place in np.ndindex(*values.shape):
        moved = [np.array(values), np.array(values)]
        moved[0][place] += step
        moved[1][place] -= step
        above, below = (np.sum(np.float64(function(v)) * dy) for v in moved)
        result[place] = (above - below) / (2 * step)
    return result


def check(test, mode, function, values, index, dy, rtol=2e-5):
    """Compares the gradient of one of several values."""

    def run(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(tensors[index])
            y = function(*tensors)
        return tape.gradient(y, tensors[index], dy, unconnected_gradients="zero")

    got = modes.call(mode, run, *values)
    others = lambda v: function(*values[:index], v, *values[index + 1 :])  # noqa: E731
    test.assertEqual(got.shape, values[index].shape)
    np.testing.assert_allclose(
        got, numerical(others, values[index], np.float64(dy)), rtol=rtol, atol=1e-3
    )


class DequantizeLinearTest(parameterized.TestCase):
    @parameterized.product(
        dtype=("int8", "uint8", "int16", "int32"),
        shape=(((), 1, 0), ((1,), 1, 0), ((3,), 0, 0), ((5,), -1, 0), ((3, 2), 1, 3)),
        mode=modes.MODES,
    )
    def test_of_the_scale(self, dtype, shape, mode):
        shape, axis, block_size = shape
        rng = np.random.default_rng(0)
        x = codes(dtype) >> 16 if dtype == "int32" else codes(dtype)
        scale = np.asarray(rng.integers(1, 9, shape), np.float32) / np.float32(8)
        zero_point = np.full(shape, 3, dtype)
        dy = rng.integers(-3, 4, x.shape).astype(np.float32)
        check(
            self,
            mode,
            lambda s: tfq.dequantize_linear(x, s, zero_point, axis, block_size),
            [scale],
            0,
            dy,
        )

    def test_of_a_float16_scale_sums_in_float32(self):
        x = np.full(5000, 1, np.int8)
        scale = tf.constant(0.5, tf.float16)
        with tf.GradientTape() as tape:
            tape.watch(scale)
            y = tfq.dequantize_linear(x, scale)
        self.assertEqual(float(tape.gradient(y, scale)), 5000)  # 2048 if summed in float16

    def test_float8_codes(self):
        x, scale = tf.constant([0.5, -3.0, 448.0]), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(scale)
            y = tfq.dequantize_linear(tf.cast(x, "float8_e4m3fn"), scale)
        self.assertEqual(float(tape.gradient(y, scale)), 445.5)

    def test_quantizing_passes_no_gradient(self):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tfq.dequantize_linear(tfq.quantize_linear(x, 0.5), 0.5)
        self.assertIsNone(tape.gradient(y, x))

    @parameterized.parameters(*modes.MODES)
    def test_a_scale_with_the_length_unknown_before_the_run(self, mode):
        if mode == "xla":
            self.skipTest("XLA compiles for known shapes")
        signature = [tf.TensorSpec([None, None], tf.int8), tf.TensorSpec([None])]

        @tf.function(input_signature=signature)
        def run(x, scale):
            with tf.GradientTape() as tape:
                tape.watch(scale)
                y = tfq.dequantize_linear(x, scale)
            return tape.gradient(y, scale)

        x = np.int8([[1, 2], [3, 4]])
        np.testing.assert_array_equal(run(x, np.float32([1, 1])), [4, 6])
        np.testing.assert_array_equal(run(x, np.float32([1])), [10])


class DequantizeTest(parameterized.TestCase):
    @parameterized.product(
        dtype=("int8", "uint8", "int16", "int32"),
        mode=("MIN_COMBINED", "SCALED"),
        axis=(None, 0, -1),
        run_mode=modes.MODES,
    )
    def test_of_the_range(self, dtype, mode, axis, run_mode):
        narrow_range = axis == 0
        x = codes(dtype)
        shape = () if axis is None else (x.shape[axis],)
        rng = np.random.default_rng(3)
        low = np.asarray(-rng.integers(8, 80, shape), np.float32) / np.float32(8)
        high = np.asarray(rng.integers(8, 80, shape), np.float32) / np.float32(8)
        dy = rng.integers(-3, 4, x.shape).astype(np.float32)
        for index in (0, 1):
            check(
                self,
                run_mode,
                lambda a, b: tfq.dequantize(x, a, b, mode, axis=axis, narrow_range=narrow_range),
                [low, high],
                index,
                dy,
                rtol=1e-3,
            )

    def test_min_first_passes_its_rounding_straight_on(self):
        x = tf.constant([0, 51, 255], tf.uint8)
        ends = tf.constant(-1.3), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(ends)
            y = tfq.dequantize(x, *ends, "MIN_FIRST")
        of_low, of_high = tape.gradient(y, ends, tf.constant([1.0, 10.0, 100.0]))
        self.assertAlmostEqual(float(of_low), 1 + 10 * 0.8, places=4)
        self.assertAlmostEqual(float(of_high), 10 * 0.2 + 100, places=4)

    @parameterized.parameters("qint8", "quint8", "qint16", "quint16", "qint32")
    def test_quantized_types(self, dtype):
        x = tf.bitcast(tf.constant([3, 5], dtype[1:]), getattr(tf, dtype))
        high = tf.constant(float(np.iinfo(dtype[1:]).max))
        with tf.GradientTape() as tape:
            tape.watch(high)
            y = tfq.dequantize(x, -1.0, high, "SCALED")
        self.assertAlmostEqual(float(tape.gradient(y, high) * high), 8, places=4)

    def test_forward_mode(self):
        high = tf.constant(2.0)
        with tf.autodiff.ForwardAccumulator(high, tf.constant(1.0)) as accumulator:
            y = tfq.dequantize(tf.constant([0, 51, 255], tf.uint8), 0.0, high)
        np.testing.assert_allclose(accumulator.jvp(y), [0, 0.2, 1], rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
