"""fake_quantize_linear: the values of the two operators, and the gradients that are documented."""

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, modes

_DTYPES = [*contract.INTEGERS, *contract.FLOATS]
_SHAPES = (((), 1, 0), ((1,), -1, 0), ((3,), 0, 0), ((7,), -1, 0), ((3, 3), 1, 3), ((2, 7), 0, 2))


def shapes(mode):
    """Fewer for XLA, which compiles for each."""
    return _SHAPES[2:5:2] if mode == "xla" else _SHAPES


def limits(dtype):
    info = ml_dtypes.finfo if dtype in contract.FLOATS else ml_dtypes.iinfo
    return float(info(np.dtype(dtype)).min), float(info(np.dtype(dtype)).max)


def inputs(dtype, shape, seed=0):
    """x [3, 7] of which some are cut off, and a scale."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0.05, 0.2, shape).astype(np.float32)
    x = rng.uniform(*limits(dtype), (3, 7)) * 0.15
    return x.astype(np.float32), scale


def estimate(x, scale, zero, axis, block_size, dtype, dy):
    """The gradients by the docstring's table, one element at a time, in double."""
    low, high = limits(dtype)
    spread = [contract.spread(np.float64(v), x, axis, block_size) for v in (scale, zero)]
    scales, zeros = (np.broadcast_to(v, x.shape) for v in spread)
    owner = np.arange(scale.size).reshape(scale.shape)
    owners = np.broadcast_to(contract.spread(owner, x, axis, block_size), x.shape)
    dx = np.zeros(x.shape)
    dscale, dzero = np.zeros(scale.size), np.zeros(scale.size)
    for place in np.ndindex(*x.shape):
        quotient = np.float64(np.float32(x[place]) / np.float32(scales[place]))
        if dtype in contract.INTEGERS:
            code = np.rint(quotient) + zeros[place]
            step = np.clip(code, low, high) - zeros[place]
        else:
            code = quotient
            step = float(np.clip(quotient, low, high).astype(np.float32).astype(np.dtype(dtype)))
        inside = low <= code <= high
        dx[place] = dy[place] if inside else 0
        dscale[owners[place]] += dy[place] * (step - quotient if inside else step)
        dzero[owners[place]] += 0 if inside else -dy[place] * scales[place]
    return dx, dscale.reshape(scale.shape), dzero.reshape(scale.shape)


class ValuesTest(parameterized.TestCase):
    @parameterized.product(dtype=_DTYPES, mode=modes.MODES)
    def test_values_are_those_of_the_two_operators(self, dtype, mode):
        for shape, axis, block_size in shapes(mode):
            x, scale = inputs(dtype, shape)
            codes = contract.quantize_linear(x, scale, np.zeros(shape, dtype), axis, block_size)
            expected = contract.dequantize_linear(codes, scale, None, axis, block_size)
            y = modes.call(
                mode,
                lambda *a, kw=(axis, block_size): tfq.fake_quantize_linear(
                    *a, None, *kw, quantized_dtype=dtype
                ),
                x,
                scale,
            )
            np.testing.assert_array_equal(y, expected)

    @parameterized.parameters("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2")
    def test_a_real_zero_point_is_rounded_to_a_code(self, dtype):
        x, scale = inputs(dtype, (3,))
        low, high = limits(dtype)
        zero = np.float32([low - 5, 0.5, high - 0.6])
        codes = np.array([low, 0, high - 1]).astype(dtype)
        expected = contract.dequantize_linear(
            contract.quantize_linear(x, scale, codes, 0), scale, codes, 0
        )
        for zero_point in (zero, codes):
            y = tfq.fake_quantize_linear(x, scale, zero_point, 0, quantized_dtype=dtype)
            np.testing.assert_array_equal(y, expected)

    @parameterized.parameters("float16", "bfloat16")
    def test_the_result_has_the_type_of_x(self, dtype):
        x = tf.constant([0.26, -1.0, 90.0], dtype)
        y = tfq.fake_quantize_linear(x, 0.3, 1)
        self.assertEqual(y.dtype, dtype)
        steps = np.float32([1, -3, 126]) * np.float32(0.3)
        np.testing.assert_array_equal(y, tf.cast(steps, dtype))


class GradientsTest(parameterized.TestCase):
    @parameterized.product(dtype=_DTYPES, mode=modes.MODES)
    def test_gradients_are_the_documented_ones(self, dtype, mode):
        for seed, (shape, axis, block_size) in enumerate(shapes(mode)):
            x, scale = inputs(dtype, shape, seed)
            dy = np.random.default_rng(9).normal(size=x.shape).astype(np.float32)

            def run(x, scale, zero, dy, kw=(axis, block_size)):
                zero_point = [] if dtype in contract.FLOATS else [zero]
                with tf.GradientTape(persistent=True) as tape:
                    tape.watch([x, scale, zero])
                    y = tfq.fake_quantize_linear(
                        x, scale, *zero_point or [None], *kw, quantized_dtype=dtype
                    )
                return [tape.gradient(y, v, dy) for v in (x, scale, *zero_point)]

            zero = np.full(shape, 1, np.float32)
            got = modes.call(mode, run, x, scale, zero, dy)
            wanted = estimate(x, scale, zero, axis, block_size, dtype, dy)
            np.testing.assert_array_equal(got[0], wanted[0])
            for a, b, v in zip(got[1:], wanted[1:], (scale, zero), strict=False):
                self.assertEqual(a.shape, v.shape)
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=limits(dtype)[1] * 2e-5)

    def test_some_values_are_cut_off_in_these_tests(self):
        x, scale = inputs("int8", ())
        with tf.GradientTape() as tape:
            x = tf.constant(x)
            tape.watch(x)
            y = tfq.fake_quantize_linear(x, scale)
        self.assertBetween(int(tf.reduce_sum(tape.gradient(y, x))), 8, 20)

    def test_codes_as_zero_point_have_no_gradient(self):
        for zero_point in (tf.constant(3, tf.int8), 3):
            x, scale = tf.constant([1.0, 9.0]), tf.Variable(0.5)
            with tf.GradientTape() as tape:
                y = tfq.fake_quantize_linear(x, scale, zero_point)
            self.assertIsNotNone(tape.gradient(y, scale))

    @parameterized.product(dtype=("int8", "int4", "float8_e5m2"), mode=modes.MODES)
    def test_forward_mode_is_the_transpose_of_the_gradient(self, dtype, mode):
        x, scale = map(tf.constant, inputs(dtype, (3,)))
        rng = np.random.default_rng(2)
        dx, ds, dy = (rng.normal(size=n).astype(np.float32) for n in ((3, 7), 3, (3, 7)))

        def run(x, scale):
            return tfq.fake_quantize_linear(x, scale, axis=0, quantized_dtype=dtype)

        if mode != "eager":
            run = tf.function(run, jit_compile=mode == "xla")
        with tf.autodiff.ForwardAccumulator([x, scale], [tf.constant(dx), tf.constant(ds)]) as acc:
            y = run(x, scale)
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            z = run(x, scale)
        of_x, of_scale = tape.gradient(z, [x, scale], dy)
        backward = np.sum(of_x * dx) + np.sum(of_scale * ds)
        np.testing.assert_allclose(np.sum(acc.jvp(y) * dy), backward, rtol=1e-4)

    @parameterized.parameters(*modes.MODES)
    def test_second_derivatives_are_those_of_the_estimators(self, mode):
        x, scale = tf.constant([0.8, -3.3, 90.0]), tf.constant(0.5)

        def loss(x, scale):
            return tf.reduce_sum(tfq.fake_quantize_linear(x, scale) ** 2)

        run = loss if mode == "eager" else tf.function(loss, jit_compile=mode == "xla")
        with tf.GradientTape(persistent=True) as outer:
            outer.watch([x, scale])
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = run(x, scale)
            dx = inner.gradient(y, x)
        np.testing.assert_array_equal(dx, [2.0, -7.0, 0.0])  # 2 y where not cut off
        np.testing.assert_array_equal(outer.gradient(dx, x), [2.0, 2.0, 0.0])
        # 2 (step - x / scale) of what is inside: 2 (2 - 1.6 + -7 + 6.6)
        self.assertAlmostEqual(float(outer.gradient(dx, scale)), 0.0, places=5)

    def test_a_scale_is_learned(self):
        x = tf.constant(np.random.default_rng(0).normal(size=1000).astype(np.float32))
        scale = tf.Variable(1.0)
        error = lambda: tf.reduce_mean(  # noqa: E731
            (tfq.fake_quantize_linear(x, scale, quantized_dtype="int4") - x) ** 2
        )
        before, optimizer = float(error()), tf.keras.optimizers.Adam(0.01)
        for _ in range(200):
            with tf.GradientTape() as tape:
                value = error()
            optimizer.apply([tape.gradient(value, scale)], [scale])
        self.assertLess(float(error()), before / 4)
        self.assertBetween(float(scale), 0.3, 0.4)  # the best step of 16 for a normal law is 0.335


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("integers", {"x": np.int32([1])}, "x must hold floating-point.*int32"),
        ("zero_of_float8", {"zero_point": 0, "quantized_dtype": "float8_e5m2"}, "left out"),
        ("zero_too_large", {"zero_point": 200}, r"zero_point must be in \[-128, 127\]"),
        ("zero_of_other_dtype", {"zero_point": np.uint8(1)}, "zero_point must be int8"),
    )
    def test_wrong_arguments_are_named(self, change, message):
        with self.assertRaisesRegex(ValueError, message):
            tfq.fake_quantize_linear(**{"x": 1.0, "scale": 1.0} | change)

    def test_shapes_that_do_not_fit(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "scale"):
            tfq.fake_quantize_linear(np.zeros((2, 3), np.float32), np.ones(4, np.float32))


if __name__ == "__main__":
    absltest.main()
