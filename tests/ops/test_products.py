"""Matrix products and convolutions of integers against numpy, written from the formulas."""

import ml_dtypes
import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized
from onnx.reference import ReferenceEvaluator

import tf_qops as tfq
from tests import onnxruntime_node

MS = "com.microsoft"

SHAPES = (
    ((3, 5), (5, 4)),
    ((5,), (5, 4)),
    ((3, 5), (5,)),
    ((5,), (5,)),
    ((2, 3, 5), (5, 4)),
    ((2, 1, 3, 5), (7, 5, 4)),
    ((4, 3, 5), (4, 5, 6)),
    ((0, 5), (5, 4)),
    ((3, 0), (0, 4)),
    ((70, 33), (33, 41)),
)
ORT_TYPES = {np.int8: onnx.TensorProto.INT8, np.uint8: onnx.TensorProto.UINT8}


def codes(rng, dtype, shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def sums(a, b, a_zero=0, b_zero=0):
    exact = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
    return np.asarray(exact).astype(np.int32)


def quantized(values, zero):
    limits = np.iinfo(zero.dtype)
    whole = np.rint(values.astype(np.float32).astype(np.float64)) + zero.astype(np.float64)
    return np.clip(whole, limits.min, limits.max).astype(zero.dtype)


class MatMulIntegerTest(parameterized.TestCase):
    @parameterized.product(shapes=SHAPES, types=[(np.uint8, np.int8), (np.int8, np.uint8)])
    def test_as_numpy(self, shapes, types):
        rng = np.random.default_rng(1)
        a, b = (codes(rng, t, s) for t, s in zip(types, shapes, strict=True))
        a_zero, b_zero = (codes(rng, t, ()) for t in types)
        got = tfq.matmul_integer(a, b, a_zero, b_zero)
        want = sums(a, b, a_zero.astype(np.int64), b_zero.astype(np.int64))
        np.testing.assert_array_equal(got, want)
        traced = tf.function(tfq.matmul_integer)
        np.testing.assert_array_equal(traced(a, b, a_zero, b_zero), want)

    @parameterized.named_parameters(
        ("rows", (4,), (), (4, 1), ()),
        ("columns", (), (6,), (), (6,)),
        ("both", (4,), (6,), (4, 1), (6,)),
        ("full", (2, 4, 1), (2, 1, 6), (2, 4, 1), (2, 1, 6)),
        ("a_batch_of_one", (1, 4, 1), (1, 1, 6), (1, 4, 1), (1, 1, 6)),
    )
    def test_zero_points_of_rows_and_columns(self, a_shape, b_shape, a_view, b_view):
        # onnx/onnx/pull/3585.
        rng = np.random.default_rng(2)
        a, b = codes(rng, np.uint8, (2, 4, 5)), codes(rng, np.int8, (2, 5, 6))
        a_zero, b_zero = codes(rng, np.uint8, a_shape), codes(rng, np.int8, b_shape)
        want = sums(a, b, a_zero.reshape(a_view).astype(int), b_zero.reshape(b_view).astype(int))
        np.testing.assert_array_equal(tfq.matmul_integer(a, b, a_zero, b_zero), want)

    def test_a_vector_of_zero_points_is_of_rows_even_for_square_matrices(self):
        a, b = np.eye(3, dtype=np.uint8), np.full((3, 1), 1, np.int8)
        zeros = np.array([0, 10, 100], np.uint8)
        np.testing.assert_array_equal(tfq.matmul_integer(a, b, zeros)[:, 0], [1, -29, -299])
        # onnx's reference broadcasts it along the columns: a peer we differ from.
        node = onnx.helper.make_node("MatMulInteger", ["a", "b", "z"], ["y"])
        theirs = ReferenceEvaluator(node).run(None, {"a": a, "b": b, "z": zeros})[0]
        self.assertFalse(np.array_equal(theirs[:, 0], [1, -29, -299]))

    def test_pairs_of_large_products_do_not_saturate(self):  # microsoft/onnxruntime/issues/6004
        y = tfq.matmul_integer(np.full((1, 2), 255, np.uint8), np.full((2, 1), 127, np.int8))
        self.assertEqual(int(y[0, 0]), 64770)

    def test_sums_wrap_as_int32(self):
        depth = 2**31 // (255 * 255) + 10
        a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 1), 255, np.uint8)
        want = np.array(depth * 255 * 255, np.int64).astype(np.int32)
        self.assertLess(want, 0)
        self.assertEqual(int(tfq.matmul_integer(a, b)[0, 0]), want)

    def test_updated_weights_are_used(self):
        b = tf.Variable(tf.ones([2, 1], tf.int8))
        a = tf.constant([[3, 4]], tf.uint8)
        function = tf.function(lambda: tfq.matmul_integer(a, b))
        for value in (1, 5, -7):
            b.assign(tf.fill([2, 1], tf.constant(value, tf.int8)))
            self.assertEqual(int(function()[0, 0]), 7 * value)

    @parameterized.named_parameters(
        ("depth", (2, 3), (4, 5), {}, r"a must have as many columns as b has rows. Received: a"),
        ("batch", (2, 2, 3), (3, 3, 4), {}, r"the batch dimensions of a and b must broadcast"),
        ("scalar", (), (3, 4), {}, r"a must have at least 1 dimension. Received: shape \[\]"),
        ("rows", (2, 3), (3, 4), {"a_zero_point": [1, 2, 3]}, r"a_zero_point must .*row of a. Re"),
        ("columns", (2, 3), (3, 4), {"b_zero_point": [1, 2]}, r"b_zero_point must .*column of b"),
    )
    def test_errors(self, a_shape, b_shape, options, message):
        a, b = np.zeros(a_shape, np.uint8), np.zeros(b_shape, np.int8)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.matmul_integer(a, b, **options)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.matmul_integer(a, b, **options)).get_concrete_function()

    def test_shapes_as_much_as_is_known(self):
        def shape(a, b):
            traced = tf.function(tfq.matmul_integer).get_concrete_function(
                tf.TensorSpec(a, tf.uint8), tf.TensorSpec(b, tf.int8)
            )
            return traced.output_shapes

        self.assertEqual(shape([None, 2, 3], [3, 4]).as_list(), [None, 2, 4])
        self.assertEqual(shape([2, None], [None, 4]).as_list(), [2, 4])
        self.assertIsNone(shape(None, [3, 4]).rank)


class QLinearMatMulTest(parameterized.TestCase):
    @parameterized.product(shapes=SHAPES, y_type=[np.int8, np.uint8])
    def test_follows_the_formula(self, shapes, y_type):
        rng = np.random.default_rng(3)
        a, b = codes(rng, np.uint8, shapes[0]), codes(rng, np.int8, shapes[1])
        zeros = codes(rng, np.uint8, ()), codes(rng, np.int8, ()), codes(rng, y_type, ())
        xs, ws, ys = (np.float32(v) for v in (0.02, 0.013, 0.07))
        acc = sums(a, b, zeros[0].astype(int), zeros[1].astype(int))
        want = quantized(acc.astype(np.float32) * (xs * ws / ys), zeros[2])
        got = tfq.qlinear_matmul(a, xs, zeros[0], b, ws, zeros[1], ys, zeros[2])
        np.testing.assert_array_equal(got, want)

    def test_parameters_of_rows_and_columns(self):  # apache/tvm/issues/9908
        rng = np.random.default_rng(4)
        a, b = codes(rng, np.uint8, (6, 5)), codes(rng, np.int8, (5, 20))
        a_scale = rng.uniform(0.01, 0.1, 6).astype(np.float32)
        b_scale = rng.uniform(0.01, 0.1, 20).astype(np.float32)
        y_scale = rng.uniform(0.1, 1, 6).astype(np.float32)
        a_zero, b_zero = codes(rng, np.uint8, 6), codes(rng, np.int8, 20)
        y_zero = codes(rng, np.uint8, 6)
        acc = sums(a, b, a_zero[:, None].astype(int), b_zero.astype(int))
        scale = a_scale[:, None] * b_scale / y_scale[:, None]
        want = quantized(acc.astype(np.float32) * scale, y_zero[:, None])
        got = tfq.qlinear_matmul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
        np.testing.assert_array_equal(got, want)

    def test_batches_of_b_with_scales_of_their_own(self):
        rng = np.random.default_rng(5)
        a, b = codes(rng, np.uint8, (3, 4, 5)), codes(rng, np.int8, (3, 5, 6))
        b_scale = rng.uniform(0.01, 0.1, (3, 1, 6)).astype(np.float32)
        zero = np.uint8(9)
        want = quantized(sums(a, b).astype(np.float32) * (np.float32(0.5) * b_scale), zero)
        got = tfq.qlinear_matmul(a, 0.5, 0, b, b_scale, np.zeros((3, 1, 6), np.int8), 1.0, zero)
        np.testing.assert_array_equal(got, want)

    @parameterized.parameters("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    def test_float8_operands(self, name):
        rng = np.random.default_rng(6)
        dtype = np.dtype(getattr(ml_dtypes, name))
        a = rng.normal(size=(4, 7)).astype(dtype)
        b = rng.normal(size=(7, 5)).astype(dtype)
        zero = np.zeros((), dtype)
        got = tfq.qlinear_matmul(a, 0.5, zero, b, 2.0, zero, 1.0, zero).numpy()
        wide = [np.zeros((4, 5), np.float32)]
        for k in range(7):
            wide.append(wide[-1] + a[:, k : k + 1].astype(np.float32) * b[k].astype(np.float32))
        np.testing.assert_array_equal(
            got.astype(np.float32), wide[-1].astype(dtype).astype(np.float32)
        )

    def test_float8_into_integers(self):
        a = np.array([[1.5, -2.0]], ml_dtypes.float8_e4m3fn)
        b = np.array([[4], [3]], np.int8)
        zero = np.zeros((), a.dtype)
        got = tfq.qlinear_matmul(a, 1.0, zero, b, 1.0, 1, 0.5, np.int8(-3))
        self.assertEqual(int(got[0, 0]), -2)  # (1.5 * 3 - 2 * 2) / 0.5 = 1

    def test_types_outside_the_family(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "a must be int8, uint8 or fl"):
            a = tf.zeros([2, 2], tf.int16)
            tfq.qlinear_matmul(a, 1.0, 0, a, 1.0, 0, 1.0, 0)


class QGemmTest(parameterized.TestCase):
    @parameterized.product(
        trans_a=[False, True], trans_b=[False, True], c=[None, (), (6,), (4, 1), (4, 6)]
    )
    def test_follows_the_formula(self, trans_a, trans_b, c):
        rng = np.random.default_rng(7)
        a, b = codes(rng, np.uint8, (4, 5)), codes(rng, np.int8, (5, 6))
        a_zero, b_zero = codes(rng, np.uint8, ()), codes(rng, np.int8, 6)
        b_scale = rng.uniform(0.01, 0.1, 6).astype(np.float32)
        term = None if c is None else rng.integers(-9999, 9999, c).astype(np.int32)
        acc = sums(a, b, a_zero.astype(int), b_zero.astype(int)) + (0 if term is None else term)
        scale = np.float32(0.7) * np.float32(0.03) * b_scale
        options = {"trans_a": trans_a, "trans_b": trans_b, "alpha": 0.7}
        operands = (a.T if trans_a else a, 0.03, a_zero, b.T if trans_b else b, b_scale, b_zero)
        got = tfq.qgemm(*operands, term, **options)
        np.testing.assert_array_equal(got, acc.astype(np.float32) * scale)
        zero = np.int8(-5)
        got = tfq.qgemm(*operands, term, 0.5, zero, **options)
        want = quantized(acc.astype(np.float32) * (scale / np.float32(0.5)), zero)
        np.testing.assert_array_equal(got, want)

    def test_errors(self):
        a, b = np.zeros((4, 5), np.uint8), np.zeros((5, 6), np.int8)
        operands = (a, 1.0, 0, b, 1.0, 0)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "c must broadcast to the prod"):
            tfq.qgemm(*operands, c=np.zeros(5, np.int32))
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, r"a must be a matrix.*\[1,4,5\]"
        ):
            tfq.qgemm(a[None], 1.0, 0, b, 1.0, 0)
        with self.assertRaisesRegex(ValueError, "y_zero_point needs a y_scale"):
            tfq.qgemm(*operands, y_zero_point=3)


class ConvIntegerTest(parameterized.TestCase):
    @parameterized.product(data_format=["NCHW", "NHWC"], group=[1, 2])
    def test_is_a_convolution_of_wide_integers(self, data_format, group):
        rng = np.random.default_rng(8)
        x, w = codes(rng, np.uint8, (2, 4, 9, 8)), codes(rng, np.int8, (6, 4 // group, 3, 2))
        x_zero, w_zero = codes(rng, np.uint8, ()), codes(rng, np.int8, 6)
        options = {"strides": [2, 1], "pads": [1, 0, 1, 2], "group": group}
        data = x if data_format == "NCHW" else x.transpose(0, 2, 3, 1)
        got = tfq.conv_integer(data, w, x_zero, w_zero, **options, data_format=data_format).numpy()
        got = got if data_format == "NCHW" else got.transpose(0, 3, 1, 2)
        centred = np.pad(x.astype(np.float64) - x_zero, [(0, 0), (0, 0), (1, 1), (0, 2)])
        kernel = (w.astype(np.float64) - w_zero[:, None, None, None]).transpose(2, 3, 1, 0)
        want = tf.concat(
            [
                tf.nn.conv2d(part, k, [2, 1], "VALID")
                for part, k in zip(
                    np.split(centred.transpose(0, 2, 3, 1), group, -1),
                    np.split(kernel, group, -1),
                    strict=True,
                )
            ],
            -1,
        )
        np.testing.assert_array_equal(got, want.numpy().transpose(0, 3, 1, 2))
        self.assertEqual(got.dtype, np.int32)

    def test_without_zero_points(self):
        y = tfq.conv_integer(np.ones((1, 1, 3), np.uint8), np.full((1, 1, 2), 3, np.int8))
        np.testing.assert_array_equal(y, [[[6, 6]]])


class MatMulIntegerToFloatTest(parameterized.TestCase):
    @parameterized.parameters(*[s for s in SHAPES if len(s[0]) > 1 and len(s[1]) > 1])
    def test_follows_the_formula(self, a_shape, b_shape):
        rng = np.random.default_rng(9)
        a, b = codes(rng, np.uint8, a_shape), codes(rng, np.int8, b_shape)
        columns = b_shape[-1]
        a_zero, b_zero = np.uint8(113), codes(rng, np.int8, columns)
        b_scale, bias = rng.uniform(0.01, 0.1, (2, columns)).astype(np.float32)
        acc = sums(a, b, int(a_zero), b_zero.astype(int)).astype(np.float32)
        want = acc * (np.float32(0.02) * b_scale) + bias
        got = tfq.matmul_integer_to_float(a, b, 0.02, b_scale, a_zero, b_zero, bias)
        np.testing.assert_array_equal(got, want)


class DynamicQuantizeMatMulTest(parameterized.TestCase):
    def test_quantizes_then_multiplies(self):
        rng = np.random.default_rng(10)
        a = rng.normal(size=(2, 7, 9)).astype(np.float32)
        b, zero = codes(rng, np.int8, (9, 5)), codes(rng, np.int8, 5)
        scale, bias = rng.uniform(0.01, 0.1, (2, 5)).astype(np.float32)
        a_codes, a_scale, a_zero = tfq.dynamic_quantize_linear(a)
        want = tfq.matmul_integer_to_float(a_codes, b, a_scale, scale, a_zero, zero, bias)
        np.testing.assert_array_equal(tfq.dynamic_quantize_matmul(a, b, scale, zero, bias), want)

    def test_zeros_give_the_bias(self):
        got = tfq.dynamic_quantize_matmul(
            tf.zeros([2, 3]), tf.ones([3, 4], tf.int8), 1.0, bias=[5.0]
        )
        np.testing.assert_array_equal(got, np.full((2, 4), 5.0))


class OnnxRuntimeTest(parameterized.TestCase):
    """Every bit is the same where ONNX Runtime is told to be exact."""

    @parameterized.product(
        types=[("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")],
        per_column=[False, True],
        name=["QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"],
    )
    def test_as_onnx_runtime(self, types, per_column, name):
        rng = np.random.default_rng(11)
        a_type, b_type = types
        columns = 50 if per_column else ()
        a, b = codes(rng, a_type, (37, 70)), codes(rng, b_type, (70, 50))
        a_zero, b_zero, y_zero = codes(rng, a_type, ()), codes(rng, b_type, columns), 3
        a_scale, b_scale = np.float32(0.02), rng.uniform(0.001, 0.01, columns).astype(np.float32)
        bias, term = rng.normal(size=50).astype(np.float32), codes(rng, np.int16, 50)
        operands = (a, a_scale, a_zero, b, b_scale, b_zero)
        quantized_output = (np.float32(0.8), np.array(y_zero, a_type))
        inputs, domain, dtype = {
            "QLinearMatMul": ((*operands, *quantized_output), "", a_type),
            "QGemm": ((*operands, term.astype(np.int32), *quantized_output), MS, a_type),
            "MatMulIntegerToFloat": (
                (a, b, a_scale, b_scale, a_zero, b_zero, bias), MS, "float32"),
            "DynamicQuantizeMatMul": (
                (a.astype(np.float32) * a_scale, b, b_scale, b_zero, bias), MS, "float32"),
        }[name]  # fmt: skip
        function = {
            "QLinearMatMul": tfq.qlinear_matmul,
            "QGemm": tfq.qgemm,
            "MatMulIntegerToFloat": tfq.matmul_integer_to_float,
            "DynamicQuantizeMatMul": tfq.dynamic_quantize_matmul,
        }[name]
        want = onnxruntime_node.run(name, inputs, domain=domain, output_types=[dtype])[0]
        np.testing.assert_array_equal(function(*inputs), want)


if __name__ == "__main__":
    absltest.main()
