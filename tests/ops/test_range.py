"""TensorFlow's Dequantize and Quantize: against the built-in operators where those are right."""

import concurrent.futures

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq

TYPES = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16}
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
RANGES = ((0.0, 6.0), (-1.25, 2.1), (-3e-3, 1e-3), (2.0, 2.0), (1.0, -1.0), (-np.inf, 5.0))


def quantized(codes, name):
    return tf.bitcast(tf.constant(codes), getattr(tf, name))


def all_codes(name):
    limits = np.iinfo(TYPES[name])
    return np.arange(limits.min, limits.max + 1).astype(TYPES[name])


def same_bits(got, want):
    """Equal with signs of zero; one NaN is like another."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    equal = (got == want) & (np.signbit(got) == np.signbit(want))
    equal |= np.isnan(got) & np.isnan(want)
    return bool(equal.all())


class DequantizeTest(parameterized.TestCase):
    @parameterized.product(name=list(TYPES), mode=MODES, narrow_range=[False, True])
    def test_every_code_as_the_built_in(self, name, mode, narrow_range):
        x = quantized(all_codes(name), name)
        for low, high in RANGES:
            options = {"mode": mode, "narrow_range": narrow_range}
            want = tf.raw_ops.Dequantize(input=x, min_range=low, max_range=high, **options)
            self.assertTrue(same_bits(tfq.dequantize(x, low, high, **options), want), (low, high))

    @parameterized.product(mode=MODES, name=["qint8", "quint16", "qint32"])
    def test_ten_million_values_as_the_built_in(self, mode, name):
        rng = np.random.default_rng(1)
        limits = np.iinfo(TYPES.get(name, np.int32))
        # From 2147483584 the built-in operator has the wrong sign in mode SCALED.
        high = min(limits.max, 2147483583)
        for _ in range(12):
            codes = rng.integers(limits.min, high, 100_000, endpoint=True)
            x = quantized(codes.astype(limits.dtype), name)
            low, high_end = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-4, 4))
            want = tf.raw_ops.Dequantize(
                input=x, min_range=low, max_range=high_end, mode=mode, narrow_range=True
            )
            got = tfq.dequantize(x, low, high_end, mode=mode, narrow_range=True)
            self.assertTrue(same_bits(got, want), (low, high_end))

    @parameterized.product(mode=("MIN_COMBINED", "SCALED"), axis=[0, 1, 2])
    def test_axes_as_the_built_in(self, mode, axis):
        rng = np.random.default_rng(2)
        codes = rng.integers(-128, 128, (3, 5, 4)).astype(np.int8)
        x, slices = quantized(codes, "qint8"), codes.shape[axis]
        low, high = -rng.uniform(0, 2, slices), rng.uniform(0, 2, slices)
        want = tf.raw_ops.Dequantize(input=x, min_range=low, max_range=high, mode=mode, axis=axis)
        for way in (axis, axis - 3):
            self.assertTrue(same_bits(tfq.dequantize(x, low, high, mode, axis=way), want))
            traced = tf.function(
                lambda v, w=way: tfq.dequantize(v, low, high, mode, axis=w),
                input_signature=[tf.TensorSpec(None, tf.qint8)],
            )
            self.assertTrue(same_bits(traced(x), want))

    @parameterized.product(mode=MODES, dtype=["float32", "float16", "bfloat16"], jit=[False, True])
    def test_an_axis_is_its_slices(self, mode, dtype, jit):
        rng = np.random.default_rng(3)
        codes = rng.integers(0, 256, (7, 6)).astype(np.uint8)
        low, high = -rng.uniform(0, 2, 6), rng.uniform(0, 2, 6)
        function = tf.function(
            lambda v, a, b: tfq.dequantize(v, a, b, mode, axis=-1, dtype=tf.as_dtype(dtype)),
            jit_compile=jit,
        )
        got = function(codes, low.astype(np.float32), high.astype(np.float32)).numpy()
        for i in range(6):
            x = quantized(codes[:, i], "quint8")
            one = tf.raw_ops.Dequantize(input=x, min_range=low[i], max_range=high[i], mode=mode)
            np.testing.assert_array_equal(got[:, i], tf.cast(one, dtype).numpy())

    @parameterized.product(name=["int8", "uint8", "int16", "uint16"], mode=MODES)
    def test_xla_has_the_same_bits(self, name, mode):
        x = tf.constant(all_codes("q" + name))
        compiled = tf.function(lambda v, a, b: tfq.dequantize(v, a, b, mode), jit_compile=True)
        for low, high in RANGES:
            low, high = np.float32(low), np.float32(high)
            self.assertTrue(same_bits(compiled(x, low, high), tfq.dequantize(x, low, high, mode)))

    @parameterized.parameters(*MODES)
    def test_xla_with_a_constant_range_and_a_following_sum(self, mode):
        x = tf.constant(all_codes("quint16"))
        function = lambda v: tfq.dequantize(v, -1.37, 4.41, mode) + 0.7193  # noqa: E731
        compiled = tf.function(function, jit_compile=True)
        np.testing.assert_array_equal(compiled(x), tf.function(function)(x))

    def test_the_documentation_example(self):
        # quint8 codes of QuantizedRelu6 are 6 / 255 apart; qint8 codes have 128 added first.
        codes = np.arange(256)
        want = (codes.astype(np.float32) * np.float32(6 / 255)).astype(np.float32)
        got = tfq.dequantize(quantized(codes.astype(np.uint8), "quint8"), 0.0, 6.0)
        np.testing.assert_allclose(got, want, rtol=2e-7)
        signed = tfq.dequantize(quantized((codes - 128).astype(np.int8), "qint8"), 0.0, 6.0)
        np.testing.assert_array_equal(signed, got)

    def test_qint32_keeps_its_sign_where_the_built_in_loses_it(self):
        x = quantized(np.array([2147483584, 2147483647], np.int32), "qint32")
        np.testing.assert_array_equal(tfq.dequantize(x, -1.0, 1.0, "SCALED"), [1.0, 1.0])
        builtin = tf.raw_ops.Dequantize(input=x, min_range=-1.0, max_range=1.0, mode="SCALED")
        self.assertLess(builtin.numpy().max(), 0.0)

    def test_one_operator_on_inputs_of_many_ranks_at_once(self):
        rng = np.random.default_rng(4)
        inputs = [rng.integers(0, 256, [2] * rank + [3]).astype(np.uint8) for rank in range(6)]
        low, high = [0.0, -1.0, 1.0], [6.0, 1.0, 3.0]
        want = [tfq.dequantize(x, low, high, axis=-1).numpy() for x in inputs]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            got = list(
                pool.map(lambda x: tfq.dequantize(x, low, high, axis=-1).numpy(), inputs * 9)
            )
        for a, b in zip(got, want * 9, strict=True):
            np.testing.assert_array_equal(a, b)


class QuantizeTest(parameterized.TestCase):
    @parameterized.product(name=[*TYPES, "qint32"], mode=MODES, narrow_range=[False, True])
    def test_as_the_built_in(self, name, mode, narrow_range):
        rng = np.random.default_rng(5)
        for low, high in ((0.0, 6.0), (-1.3, 2.2), (-9.0, -1.0), (1e-3, 2e-3), (0.0, 0.0)):
            x = np.concatenate([rng.normal(size=5000) * 4, np.linspace(low, high, 511), [0, 1e9]])
            if name == "qint32":  # The built-in wraps at the maximum.
                x = np.clip(x, low, low + (high - low) * 0.9)
            options = {"T": getattr(tf, name), "mode": mode, "narrow_range": narrow_range}
            want = tf.raw_ops.QuantizeV2(
                input=x.astype(np.float32), min_range=low, max_range=high, **options
            )
            got = tfq.quantize(x.astype(np.float32), low, high, **options)
            plain = tf.as_dtype(name[1:])
            np.testing.assert_array_equal(
                tf.bitcast(got.output, plain), tf.bitcast(want.output, plain), str((low, high))
            )
            np.testing.assert_array_equal(got.output_min, want.output_min)
            np.testing.assert_array_equal(got.output_max, want.output_max)

    def test_half_to_even_as_the_built_in(self):
        x = np.arange(-260, 260).astype(np.float32) / 4
        options = {"T": tf.qint8, "mode": "SCALED", "round_mode": "HALF_TO_EVEN"}
        want = tf.raw_ops.QuantizeV2(input=x, min_range=-64.0, max_range=63.5, **options)
        got = tfq.quantize(x, -64.0, 63.5, **options)
        np.testing.assert_array_equal(
            tf.bitcast(got.output, tf.int8), tf.bitcast(want.output, tf.int8)
        )

    def test_axis_as_the_built_in(self):
        x = np.random.default_rng(6).normal(size=(4, 3, 5)).astype(np.float32)
        low, high = np.float32([-1, -2, 0]), np.float32([1, 3, 2])
        for mode in ("MIN_COMBINED", "SCALED"):
            want = tf.raw_ops.QuantizeV2(
                input=x, min_range=low, max_range=high, T=tf.qint8, mode=mode, axis=1
            )
            got = tfq.quantize(x, low, high, tf.qint8, mode, axis=-2)
            np.testing.assert_array_equal(
                tf.bitcast(got.output, tf.int8), tf.bitcast(want.output, tf.int8)
            )
            np.testing.assert_array_equal(got.output_min, want.output_min)
            np.testing.assert_array_equal(got.output_max, want.output_max)

    @parameterized.product(name=list(TYPES), mode=MODES)
    def test_every_code_comes_back(self, name, mode):
        # Of a range that holds 0 and that no mode changes.
        codes = all_codes(name)
        low, high = (-1.0, 1.0 - 2.0 ** (1 - 8 * codes.itemsize)) if codes.min() < 0 else (0.0, 1.0)
        if mode != "SCALED":
            low, high = 0.0, 1.0
        values = tfq.dequantize(quantized(codes, name), low, high, mode)
        back = tfq.quantize(values, low, high, getattr(tf, name), mode)
        np.testing.assert_array_equal(tf.bitcast(back.output, tf.as_dtype(name[1:])), codes)

    @parameterized.product(mode=MODES, name=["int8", "uint8", "int16", "int32"])
    def test_xla_has_the_same_bits(self, mode, name):
        rng = np.random.default_rng(7)
        x = np.concatenate([rng.normal(size=20000) * 4, [np.nan, np.inf, -np.inf, 1e30]])
        x = x.astype(np.float32)
        dtype = tf.as_dtype(name)
        for way in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
            function = lambda v, w=way: tfq.quantize(  # noqa: E731
                v, -1.7, 3.3, dtype, mode, round_mode=w
            )
            for a, b in zip(tf.function(function, jit_compile=True)(x), function(x), strict=True):
                np.testing.assert_array_equal(a, b)

    def test_extremes_saturate_and_nan_is_the_lowest_code(self):
        x = tf.constant([np.nan, np.inf, -np.inf, 1e30])
        for mode in MODES:
            codes = tfq.quantize(x, -1.0, 1.0, tf.int32, mode).output.numpy()
            self.assertEqual(codes[0], -(2**31), mode)
            self.assertGreater(codes[1], 2**31 - 200, mode)
            self.assertEqual(codes[3], codes[1], mode)
            self.assertLess(codes[2], 200 - 2**31, mode)

    def test_reversed_ranges_are_refused(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "max_range must not be less"):
            tfq.quantize([1.0], 1.0, -1.0)


class ShapesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("per_tensor", [None, 3], [], None, [None, 3], []),
        ("axis", [2, None], [7], 1, [2, 7], [7]),
        ("from_end", [2, None, 4], [7], -2, [2, 7, 4], [7]),
        ("unknown_rank", None, [7], 1, None, [None]),
    )
    def test_as_much_as_is_known(self, shape, ends, axis, want, range_shape):
        spec = tf.TensorSpec(ends, tf.float32)
        traced = tf.function(lambda x, a, b: tfq.dequantize(x, a, b, axis=axis))
        concrete = traced.get_concrete_function(tf.TensorSpec(shape, tf.int8), spec, spec)
        self.assertEqual(concrete.output_shapes, tf.TensorShape(want))
        traced = tf.function(lambda x, a, b: tfq.quantize(x, a, b, axis=axis))
        concrete = traced.get_concrete_function(tf.TensorSpec(shape, tf.float32), spec, spec)
        output, low, high = concrete.output_shapes
        self.assertEqual(output.as_list() if output.rank else None, want)
        self.assertEqual((low.as_list(), high.as_list()), (range_shape, range_shape))

    @parameterized.named_parameters(
        ("axis", [2, 3], 0.0, 6.0, 2, r"axis must be in \[-2, 1\].*Received: 2"),
        ("from_end", [2, 3], 0.0, 6.0, -3, r"axis must be in .*Received: -3"),
        # tensorflow/tensorflow/pull/53885 (CVE-2022-21727).
        ("huge", [2, 3], [0.0], [6.0], 2**31 - 1, r"axis must be in .*Received: 2147483647"),
        ("empty", [2, 3], [], 6.0, None, r"min_range must be a scalar.*Received: shape \[0\]"),
        ("scalars", [2, 3], 0.0, 6.0, 1, r"min_range must be 1-D with an axis. Received: .*\[\]"),
        ("max", [2, 3], [0.0] * 3, [6.0] * 2, 1, r"max_range must have the length of .*\[2\]"),
        ("rank_0", [], 0.0, 6.0, 0, r"axis must be in"),
    )
    def test_errors(self, shape, low, high, axis, message):
        x = tf.zeros(shape, tf.uint8)
        low, high = np.float32(low), np.float32(high)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.dequantize(x, low, high, axis=axis)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.dequantize(x, low, high, axis=axis)).get_concrete_function()

    def test_raw_axes_below_minus_one(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "axis must be -1.*: -4"):
            tfq.raw_ops.Dequantize(
                input=tf.zeros([2], tf.qint8), min_range=0.0, max_range=1.0, axis=-4
            )


if __name__ == "__main__":
    absltest.main()
