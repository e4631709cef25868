"""DequantizeLinear and QuantizeLinear: values in eager mode, in a graph and under XLA."""

import concurrent.futures

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract
from tests.modes import MODES, call, prepare

# What XLA takes across a jit boundary; the rest is tested in the other two modes.
XLA_TYPES = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
)
CODES = {**contract.INTEGERS, **contract.FLOATS}
CASES = [(n, m) for n in CODES for m in MODES if m != "xla" or n in XLA_TYPES]


class LinearTest(parameterized.TestCase):
    def same_bits(self, got, want):
        """Equal codes or numbers, with signs of zero; every NaN is like another."""
        self.assertEqual(got.dtype, want.dtype)
        self.assertEqual(got.shape, want.shape)
        got, want = got.astype(np.float64), want.astype(np.float64)
        same = (got == want) & (np.signbit(got) == np.signbit(want))
        same |= np.isnan(got) & np.isnan(want)
        self.assertTrue(
            same.all(), f"{np.argwhere(~same)[:3]}: {got[~same][:3]}, {want[~same][:3]}"
        )

    @parameterized.product(name=["int8", "uint8"], mode=MODES)
    def test_dequantizes_every_8_bit_code_with_every_zero_point(self, name, mode):
        codes = contract.all_codes(np.dtype(name))
        x = np.tile(codes, (256, 1))
        scale = np.random.default_rng(1).uniform(1e-3, 2.0, 256).astype(np.float32)
        got = call(mode, lambda *t: tfq.dequantize_linear(*t, axis=0), x, scale, codes)
        self.same_bits(got, contract.dequantize_linear(x, scale, codes, 0))

    @parameterized.parameters(CASES)
    def test_dequantizes_every_code_of_every_type(self, name, mode):
        codes = contract.all_codes(np.dtype(name))
        scale = np.float32(0.0371)
        run = prepare(mode, tfq.dequantize_linear)
        for zero in np.random.default_rng(2).choice(codes, 4):
            got = run(codes, scale, zero)
            self.same_bits(got, contract.dequantize_linear(codes, scale, np.asarray(zero)))

    @parameterized.product(
        dtype=["float16", "bfloat16"], mode=MODES, name=["uint8", "int16", "int32"]
    )
    def test_rounds_the_product_once_to_the_output_type(self, dtype, mode, name):
        rng = np.random.default_rng(3)
        dtype = np.dtype(dtype)
        limits = np.iinfo(name)
        x = rng.integers(limits.min, limits.max, (500, 7), endpoint=True).astype(name)
        scale = rng.uniform(1e-7, 1e-3, 7).astype(dtype)
        zero = rng.integers(0, 9, 7).astype(name)
        want = contract.dequantize_linear(x, scale, zero, -1, dtype=dtype)
        function = lambda *t: tfq.dequantize_linear(*t, axis=-1)  # noqa: E731
        self.same_bits(call(mode, function, x, scale, zero), want)
        # Also where XLA sees it converted back at once and could leave both conversions out.
        wider = lambda *t: tf.cast(function(*t), tf.float32)  # noqa: E731
        self.same_bits(call(mode, wider, x, scale, zero), want.astype(np.float32))

    @parameterized.product(mode=MODES, quantize=[False, True])
    def test_every_granularity_of_random_shapes(self, mode, quantize):
        rng = np.random.default_rng(4)
        for _ in range(40 if mode != "xla" else 12):
            shape = tuple(rng.integers(1, 9, rng.integers(1, 5)))
            axis = int(rng.integers(-len(shape), len(shape)))
            block_size = int(rng.integers(0, 5))
            scale_shape = [shape[axis]]
            if block_size:
                scale_shape = list(shape)
                scale_shape[axis] = -(-shape[axis] // block_size)
            scale = rng.uniform(0.01, 1.0, scale_shape).astype(np.float32)
            zero = rng.integers(-128, 128, scale_shape).astype(np.int8)
            options = {"axis": axis, "block_size": block_size}
            if quantize:
                x = rng.normal(size=shape).astype(np.float32) * 30
                function, want = tfq.quantize_linear, contract.quantize_linear
            else:
                x = rng.integers(-128, 128, shape).astype(np.int8)
                function, want = tfq.dequantize_linear, contract.dequantize_linear
            got = call(mode, lambda *t, f=function, o=options: f(*t, **o), x, scale, zero)
            self.same_bits(got, want(x, scale, zero, **options))

    @parameterized.parameters(
        (n, m) for n, m in CASES if m != "xla" or not n.startswith(("float4", "int2"))
    )
    def test_quantizes_ties_limits_and_special_numbers(self, name, mode):
        dtype = CODES[name]
        rng = np.random.default_rng(5)
        ties = np.arange(-600, 600) / 8
        specials = [np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, -3e38, 65535.5, 448.1, 465.0, 57344.1]
        small = np.ldexp(rng.normal(size=500), rng.integers(-20, 3, 500))
        x = np.concatenate([ties, specials, small, rng.normal(size=500) * 1e4]).astype(np.float32)
        zeros = contract.all_codes(dtype)[:: max(1, 256 // 3)]
        run = prepare(mode, tfq.quantize_linear)
        for scale in (1.0, 0.0173):
            for zero in zeros if dtype in contract.INTEGERS.values() else np.zeros(1, dtype):
                got = run(x, np.float32(scale), zero)
                want = contract.quantize_linear(x, np.float32(scale), np.asarray(zero))
                if name == "float4_e2m1fn":  # It has no NaN; what stands for it is nobody's rule.
                    got, want = got[~np.isnan(x)], want[~np.isnan(x)]
                self.same_bits(got, want)

    @parameterized.product(mode=MODES, precision=["float16", "bfloat16"])
    def test_rounds_the_quotient_to_the_precision(self, mode, precision):
        rng = np.random.default_rng(6)
        x = rng.uniform(-40, 40, 20000).astype(np.float32)
        scale, zero = np.float32(0.3), np.int16(7)
        got = call(mode, lambda *t: tfq.quantize_linear(*t, precision=tf.as_dtype(precision)),
                   x, scale, zero)  # fmt: skip
        self.same_bits(
            got,
            contract.quantize_linear(
                x, scale, np.asarray(zero), precision=tf.as_dtype(precision).as_numpy_dtype
            ),
        )

    @parameterized.product(mode=MODES, name=["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"])
    def test_without_saturation_float8_overflows_to_what_it_has(self, mode, name):
        # The table of QuantizeLinear-19: NaN for the fn and fnuz kinds, infinity for E5M2.
        beyond = np.inf if name == "float8_e5m2" else np.nan
        x = np.array([1e6, -1e6, np.inf, np.nan, 1.0], np.float32)
        want = np.array([beyond, -beyond, beyond, np.nan, 1.0])
        got = call(mode, lambda v: tfq.quantize_linear(
            v, 1.0, output_dtype=tf.as_dtype(name), saturate=False), x)  # fmt: skip
        np.testing.assert_array_equal(got.astype(np.float64), want)

    @parameterized.parameters(*MODES)
    def test_int32_differences_are_exact(self, mode):
        x = np.array([2**24 + 1, -(2**31), 2**31 - 1], np.int32)
        got = call(mode, tfq.dequantize_linear, x, np.float32(1.0), np.int32(5))
        # 2^24 + 1 - 5 is a float32; 2^24 + 1 is not. From design: 16777212.
        np.testing.assert_array_equal(got, [16777212.0, -(2.0**31), 2.0**31])

    @parameterized.parameters(*MODES)
    def test_denormal_scales_count_as_zero(self, mode):
        x = np.array([1, 100, -100], np.int8)
        got = call(mode, tfq.dequantize_linear, x, np.float32(1e-39))
        self.same_bits(got, np.array([0.0, 0.0, -0.0], np.float32))

    def test_xla_divides_truly_by_constants(self):
        x = np.random.default_rng(7).uniform(-130, 130, 200000).astype(np.float32)
        x = np.concatenate([x, np.float32(0.1) * (np.arange(-260, 260) / 2).astype(np.float32)])
        compiled = tf.function(lambda v: tfq.quantize_linear(v, 0.1, 3), jit_compile=True)
        want = contract.quantize_linear(x, np.float32(0.1), np.uint8(3))
        np.testing.assert_array_equal(compiled(x).numpy(), want)

    @parameterized.named_parameters(
        ("constants", lambda x, s, p: tfq.dequantize_linear(x, 0.1371, 3) + 0.7193),
        ("constant_scale", lambda x, s, p: tfq.dequantize_linear(x, 0.1371, 3) + p),
        ("constant_sum", lambda x, s, p: tfq.dequantize_linear(x, s) - 0.7193),
        ("arguments", lambda x, s, p: tfq.dequantize_linear(x, s, axis=0) + p),
        ("float8", lambda x, s, p: p - tfq.dequantize_linear(
            tfq.quantize_linear(tf.cast(x, tf.float32), s, output_dtype="float8_e5m2"), 0.1371)),
    )  # fmt: skip
    def test_xla_does_not_contract_the_product_with_a_sum(self, function):
        rng = np.random.default_rng(8)
        x = rng.integers(0, 120, 5000).astype(np.uint8)
        plus = rng.normal(size=5000).astype(np.float32)
        args = x, np.float32(0.1371), plus
        np.testing.assert_array_equal(call("xla", function, *args), call("graph", function, *args))

    @parameterized.parameters("int4", "uint4")
    def test_4_bit_integers_leave_a_compiled_function_and_are_refused_as_arguments(self, name):
        # XLA packs two into a byte, TensorFlow does not; neither notices.
        dtype = CODES[name]
        x = np.linspace(-9, 9, 31).astype(np.float32)
        zero = np.asarray(1).astype(dtype)
        quantize = lambda v: tfq.quantize_linear(v, 0.5, zero)  # noqa: E731
        want = contract.quantize_linear(x, np.float32(0.5), zero)
        self.same_bits(call("xla", quantize, x), want)
        back = lambda v: tfq.dequantize_linear(quantize(v), 0.5, zero)  # noqa: E731
        self.same_bits(
            call("xla", back, x), contract.dequantize_linear(want, np.float32(0.5), zero)
        )
        moved = lambda v: tfq.dequantize_linear(tf.reshape(v, [-1]), 0.5)  # noqa: E731
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, f"as int8 or uint8.*: {name}"):
            call("xla", moved, contract.all_codes(dtype))

    def test_one_function_on_many_threads(self):
        rng = np.random.default_rng(9)
        inputs = [rng.integers(0, 256, (n, 64)).astype(np.uint8) for n in range(1, 200, 7)]
        scale = rng.uniform(0.1, 1, 64).astype(np.float32)
        function = tf.function(lambda v: tfq.dequantize_linear(v, scale, axis=-1))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda v: function(tf.constant(v)).numpy(), inputs * 3))
        for x, got in zip(inputs * 3, results, strict=True):
            np.testing.assert_array_equal(got, contract.dequantize_linear(x, scale, axis=-1))


class ReportedCasesTest(parameterized.TestCase):
    """Inputs of public bug reports against other implementations."""

    @parameterized.named_parameters(
        ("onnx_6132", np.array([0], np.uint8), 0.5, 255, {}, [-127.5]),
        ("tvm_9028_rank_1", np.array([5, 3, 2, 1], np.int8), [0.5], [3], {}, [1, 0, -0.5, -1]),
        ("opencv_26156", np.full(5, 9, np.int8), [2.0], [1], {"block_size": 16}, [16.0] * 5),
        (
            "openvino_32917",
            np.full((1, 8), 9, np.int8),
            [[1.0, 2.0, 3.0, 4.0]],
            [[1, 2, 3, 4]],
            {"block_size": 2},
            [[8, 8, 14, 14, 18, 18, 20, 20]],
        ),
        ("onnxruntime_32578", np.arange(16, dtype=np.uint8), 1.0, 128, {}, np.arange(16) - 128.0),
        (
            "tract_2849",
            np.array([[1, 1, 1], [4, 4, 4]], np.int8),
            [0.5, 2, 10],
            [0, 1, -1],
            {},
            [[0.5, 0, 20], [2, 6, 50]],
        ),
        ("onnx2tf_733", np.ones((2, 3), np.int8), [0.25], None, {}, np.full((2, 3), 0.25)),
    )
    def test_dequantize_linear(self, x, scale, zero_point, options, want):
        np.testing.assert_array_equal(tfq.dequantize_linear(x, scale, zero_point, **options), want)

    @parameterized.named_parameters(
        ("onnxruntime_3442", [-129.0, -128, -127, 127, 128], 1.0, tf.int8,
         [-128, -128, -127, 127, 127]),
        ("onnxruntime_25045", [3.0], 0.039215686, 23, [99]),
        ("torch_mlir_3569", [0.5, 1.5, 2.5], 1.0, 0, [0, 2, 2]),
        ("onnx_7223", [float("nan")], 1.0, tf.as_dtype("float8_e4m3fn"), [float("nan")]),
        ("onnxruntime_3820", [300.0, -1], 1.0, None, [255, 0]),
    )  # fmt: skip
    def test_quantize_linear(self, x, scale, zero_or_dtype, want):
        options = {"y_zero_point": zero_or_dtype}
        if isinstance(zero_or_dtype, tf.DType):
            options = {"output_dtype": zero_or_dtype}
        got = tfq.quantize_linear(x, scale, **options).numpy()
        np.testing.assert_array_equal(got.astype(np.float64), want)

    def test_types_of_x_scale_and_output_need_not_agree(self):  # microsoft/onnxruntime/issues/32719
        x = tf.constant([1.0, -2.5], tf.float16)
        codes = tfq.quantize_linear(x, tf.constant(0.5), output_dtype=tf.int8)
        np.testing.assert_array_equal(codes, np.array([2, -5], np.int8))
        back = tfq.dequantize_linear(codes, tf.constant(0.5), output_dtype=tf.float16)
        np.testing.assert_array_equal(back, np.array([1.0, -2.5], np.float16))

    def test_a_pair_clips_and_rounds(self):  # PINTO0309/onnx2tf/pull/820
        codes = tfq.quantize_linear([1e6, 0.3], 0.1, output_dtype=tf.int8)
        want = np.float32(0.1) * np.array([127, 3], np.float32)
        np.testing.assert_array_equal(tfq.dequantize_linear(codes, 0.1), want)


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("axis", {"axis": 2}, [0.1, 0.2, 0.3], r"axis must be in \[-2, 1\].*Received: 2"),
        ("huge_axis", {"axis": 2**31 - 1}, [0.1, 0.2, 0.3], r"axis must .*Received: 2147483647"),
        (
            "length",
            {},
            [0.1, 0.2],
            r"x_scale must have .*Received: x_scale of shape \[2\], x of shape",
        ),
        ("rank", {}, [[0.1]], r"x_scale must be a scalar or 1-D.*Received: shape \[1,1\]"),
        ("block", {"block_size": -1}, 0.1, r"block_size must be .*Received: -1"),
        ("blocks", {"block_size": 2}, [[0.1], [0.1]], r"ceil\(3 / block_size\)"),
        ("block_rank", {"block_size": 2}, [0.1, 0.2], r"rank of x with block_size. Received"),
    )
    def test_name_the_argument_and_what_was_received(self, options, scale, message):
        x = tf.zeros([2, 3], tf.int8)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.dequantize_linear(x, scale, **options)
        traced = tf.function(lambda v: tfq.dequantize_linear(v, scale, **options))
        with self.assertRaisesRegex(ValueError, message):
            traced.get_concrete_function(x)

    def test_shapes_of_scale_and_zero_point_agree(self):
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "x_zero_point must have the sh"
        ):
            tfq.dequantize_linear(tf.zeros([2, 3], tf.int8), 0.1, [0, 0, 0])

    def test_zero_points_in_range_and_of_the_type(self):
        x = tf.zeros([2], tf.int8)
        with self.assertRaisesRegex(ValueError, r"x_zero_point must be in \[-128, 127\].*: 200"):
            tfq.dequantize_linear(x, 0.1, 200)
        with self.assertRaisesRegex(ValueError, "x_zero_point must be int8.*Received: uint8"):
            tfq.dequantize_linear(x, 0.1, tf.constant(3, tf.uint8))
        with self.assertRaisesRegex(ValueError, "whole numbers. Received: 0.5"):
            tfq.dequantize_linear(x, 0.1, 0.5)

    def test_types_outside_the_family(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "x must be .*Received: string"):
            tfq.dequantize_linear(tf.constant(["a"]), 0.1)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "output_dtype .*: int32"):
            tfq.quantize_linear([1.0], 0.1, output_dtype=tf.int32)

    def test_ragged_and_sparse_tensors_are_refused_with_advice(self):
        with self.assertRaisesRegex(TypeError, "to_tensor"):
            tfq.quantize_linear(tf.ragged.constant([[1.0], [1.0, 2.0]]), 0.1)
        with self.assertRaisesRegex(TypeError, r"tf.sparse.to_dense"):
            tfq.quantize_linear(tf.sparse.from_dense([1.0]), 0.1)

    def test_lists_of_two_zero_points_are_refused(self):
        zero = tf.constant(0, tf.int8)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "x_zero_point must be given on"
        ):
            tfq.raw_ops.DequantizeLinear(x=zero, x_scale=0.1, x_zero_point=[zero, zero])


class SmallTypesTest(absltest.TestCase):
    def test_upper_bits_of_a_byte_are_ignored(self):
        # TensorFlow leaves them unspecified; ml_dtypes reads 0xf7 as the int4 7.
        x = np.array([0xF7, 0x07, 0xF8], np.uint8).view(ml_dtypes.int4)
        np.testing.assert_array_equal(tfq.dequantize_linear(x, 1.0), [7.0, 7.0, -8.0])


if __name__ == "__main__":
    absltest.main()
