"""QLinearAdd, QLinearMul, QLinearLeakyRelu and QLinearSigmoid against numpy and ONNX Runtime."""

import concurrent.futures
import itertools

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, contract_bytes, onnxruntime_node
from tests.contract_bytes import codes
from tests.modes import MODES, call, prepare

TYPES = (np.int8, np.uint8)
BINARY = (
    ("QLinearAdd", tfq.qlinear_add, contract_bytes.add),
    ("QLinearMul", tfq.qlinear_mul, contract_bytes.mul),
)
# (scales of a, b and c): ties, what saturates, what IEEE has to say, denormals that count as 0.
SCALES = (
    (0.5, 0.25, 0.5),
    (0.0371, 0.0173, 0.05),
    (1.0, -0.5, 0.01),
    (0.0, 1.0, 1.0),
    (1.0, 1.0, 0.0),
    (np.inf, 1.0, 1.0),
    (1.0, np.nan, 1.0),
    (1.0, 1.0, np.inf),
    (1e-39, 0.5, 0.5),
    (1e-25, 1e-25, 1e-39),
)
UNARY_SCALES = (
    (0.5, 0.5),
    (0.25, 2.0**-8),
    (0.0371, 0.0043),
    (-0.1, 0.02),
    (0.0, 0.01),
    (3.0, 0.0),
    (np.inf, 0.01),
    (np.nan, 0.01),
    (1.0, np.nan),
    (1e-39, 1e-3),
    (1e-4, 1e-39),
)
SHAPES = (
    ((), ()),
    ((5,), ()),
    ((2, 3, 4), (4,)),
    ((2, 3, 1), (3, 7)),
    ((4, 1, 3, 1), (5, 1, 6)),
    ((1, 16, 1, 1), (2, 16, 5, 5)),
    ((2, 5, 5, 16), (16,)),
    ((0, 3), (3,)),
    ((2, 0), (1, 1)),
    ((1,), (1, 1, 1)),
)


class BinaryTest(parameterized.TestCase):
    @parameterized.product(
        operator=BINARY, types=list(itertools.product(TYPES, repeat=3)), mode=MODES
    )
    def test_every_pair_of_codes(self, operator, types, mode):
        _, function, contract_function = operator
        rng = np.random.default_rng(1)
        a, b = (contract.all_codes(np.dtype(t)) for t in types[:2])
        a = a[:, None]
        run = prepare(mode, function)
        for a_scale, b_scale, c_scale in SCALES:
            zeros = [codes(rng, t, ()) for t in types]
            args = (a, np.float32(a_scale), zeros[0], b, np.float32(b_scale), zeros[1],
                    np.float32(c_scale), zeros[2])  # fmt: skip
            got = run(*args)
            self.assertEqual(got.dtype, types[2])
            np.testing.assert_array_equal(got, contract_function(*args), str((args[1::3], zeros)))

    @parameterized.product(operator=BINARY, mode=MODES)
    def test_broadcasts_as_numpy(self, operator, mode):
        _, function, contract_function = operator
        rng = np.random.default_rng(2)
        for shapes in SHAPES:
            for a_shape, b_shape in (shapes, shapes[::-1]):
                args = (codes(rng, np.uint8, a_shape), np.float32(0.02), np.uint8(120),
                        codes(rng, np.int8, b_shape), np.float32(0.03), np.int8(-3),
                        np.float32(0.04), np.uint8(99))  # fmt: skip
                got = call(mode, function, *args)
                np.testing.assert_array_equal(got, contract_function(*args))

    @parameterized.product(operator=BINARY, dtype=TYPES)
    def test_as_onnx_runtime_but_for_single_steps(self, operator, dtype):
        name, function, _ = operator
        rng = np.random.default_rng(3)
        differences = []
        for _ in range(20):
            shape = (int(rng.integers(1, 2000)),)
            scales = rng.uniform(0.001, 0.1, 3).astype(np.float32)
            if rng.integers(2):  # Half-way cases.
                scales = np.float32(2.0) ** rng.integers(-7, -3, 3).astype(np.float32)
            zeros = codes(rng, dtype, 3)
            args = [codes(rng, dtype, shape), scales[0], zeros[0], codes(rng, dtype, shape),
                    scales[1], zeros[1], scales[2], zeros[2]]  # fmt: skip
            want = onnxruntime_node.run(name, args)[0]
            differences.append(np.abs(function(*args).numpy().astype(int) - want))
        differences = np.concatenate(differences)
        self.assertLessEqual(differences.max(), 1)
        self.assertLess((differences > 0).mean(), 0.005)

    def test_a_tie_is_even_after_the_zero_point_was_added(self):
        # (1 * .5 + 0) / 1 + 1 = 1.5 -> 2; before it, .5 -> 0, and 1 were the result.
        one, zero = tf.constant(1, tf.uint8), tf.constant(0, tf.uint8)
        self.assertEqual(int(tfq.qlinear_add(one, 0.5, 0, zero, 1.0, 0, 1.0, 1)), 2)
        self.assertEqual(int(tfq.qlinear_mul(one, 0.5, 0, one, 1.0, 0, 1.0, 1)), 2)

    @parameterized.parameters(1, 7, 64)
    def test_exact_where_onnx_runtime_depends_on_the_length(self, length):
        # microsoft/onnxruntime/issues/25512: -112.5000079 in exact arithmetic; ONNX Runtime 1.31
        # gives -112 for one element and -113 for more.
        a, b = np.full(length, -114, np.int8), np.full(length, -122, np.int8)
        c = tfq.qlinear_add(a, 0.02534690499305725, -106, b, 0.035809919238090515, -120,
                            0.0365859717130661, -105)  # fmt: skip
        np.testing.assert_array_equal(c, np.full(length, -113))

    def test_the_same_whatever_the_length(self):
        rng = np.random.default_rng(4)
        a, b = codes(rng, np.int8, 4096), codes(rng, np.int8, 4096)
        add = lambda a, b: tfq.qlinear_add(a, 0.0371, 3, b, 0.0173, -7, 0.05, 11)  # noqa: E731
        whole = add(a, b).numpy()
        for length in (1, 7, 64, 100):
            parts = [add(a[i : i + length], b[i : i + length]) for i in range(0, 4096, length)]
            np.testing.assert_array_equal(np.concatenate(parts), whole)

    def test_zero_points_left_out_are_zero(self):
        a = tf.constant([-3, 5], tf.int8)
        np.testing.assert_array_equal(tfq.qlinear_add(a, 1.0, None, a, 1.0, None, 1.0), [-6, 10])
        np.testing.assert_array_equal(tfq.qlinear_mul(a, 1.0, None, a, 1.0, None, 1.0), [9, 25])

    def test_one_function_on_many_threads(self):
        rng = np.random.default_rng(5)
        inputs = [codes(rng, np.uint8, (n, 700)) for n in range(1, 200, 13)]
        row = codes(rng, np.uint8, (700,))
        function = tf.function(lambda a: tfq.qlinear_add(a, 0.02, 3, row, 0.03, 200, 0.04, 9))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda a: function(tf.constant(a)).numpy(), inputs * 2))
        for a, got in zip(inputs * 2, results, strict=True):
            want = contract_bytes.add(a, 0.02, 3, row, 0.03, 200, 0.04, np.uint8(9))
            np.testing.assert_array_equal(got, want)


class TableTest(parameterized.TestCase):
    @parameterized.product(types=list(itertools.product(TYPES, repeat=2)), mode=MODES)
    def test_every_code(self, types, mode):
        rng = np.random.default_rng(6)
        x = contract.all_codes(np.dtype(types[0]))
        leaky_relu = prepare(mode, lambda *t: tfq.qlinear_leaky_relu(*t, alpha=0.37))
        sigmoid = prepare(mode, tfq.qlinear_sigmoid)
        for x_scale, y_scale in UNARY_SCALES:
            for zeros in zip(*(codes(rng, t, 3) for t in types), strict=True):
                args = x, np.float32(x_scale), zeros[0], np.float32(y_scale), zeros[1]
                want = contract_bytes.leaky_relu(*args, 0.37)
                np.testing.assert_array_equal(leaky_relu(*args), want, str(args[1:]))
                want = contract_bytes.sigmoid(*args)
                np.testing.assert_array_equal(sigmoid(*args), want, str(args[1:]))

    @parameterized.parameters(*TYPES)
    def test_as_onnx_runtime(self, dtype):
        rng = np.random.default_rng(7)
        x = contract.all_codes(np.dtype(dtype))
        wrong = []
        for _ in range(30):
            scales = rng.uniform(0.002, 0.2, 2).astype(np.float32)
            zeros = codes(rng, dtype, 2)
            args = x, scales[0], zeros[0], scales[1], zeros[1]
            alpha = float(rng.uniform(-0.1, 1.1))
            want = onnxruntime_node.run("QLinearLeakyRelu", args, alpha=alpha)[0]
            np.testing.assert_array_equal(tfq.qlinear_leaky_relu(*args, alpha=alpha), want)
            args = x, scales[0], zeros[0], np.float32(scales[1] / 20), zeros[1]
            want = onnxruntime_node.run("QLinearSigmoid", args)[0]
            wrong.append(np.abs(tfq.qlinear_sigmoid(*args).numpy().astype(int) - want))
        self.assertLessEqual(np.max(wrong), 1)
        self.assertLess(np.mean(wrong), 0.005)  # Its exp() is not that of the C library.

    @parameterized.parameters(*MODES)
    def test_any_shape(self, mode):
        rng = np.random.default_rng(8)
        for shape in ((), (0, 3), (2, 3, 4), (300, 400)):
            args = (codes(rng, np.uint8, shape), np.float32(0.04), np.uint8(99),
                    np.float32(1 / 256), np.uint8(0))  # fmt: skip
            got = call(mode, tfq.qlinear_sigmoid, *args)
            np.testing.assert_array_equal(got, contract_bytes.sigmoid(*args))


class ShapesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("static", [2, 3], [3], [2, 3]),
        ("one_unknown", [None, 3], [1, 3], [None, 3]),
        ("unknown_meets_another", [None, 3], [4, 1], [4, 3]),
        ("both_unknown", [None, 1], [None, 5], [None, 5]),
        ("ranks", [7], [2, 1, 1], [2, 1, 7]),
        ("rank", None, [3], None),
    )
    def test_of_a_sum_as_much_as_is_known(self, a, b, want):
        traced = tf.function(
            lambda a, b: tfq.qlinear_add(a, 1.0, 0, b, 1.0, 0, 1.0, 0)
        ).get_concrete_function(tf.TensorSpec(a, tf.uint8), tf.TensorSpec(b, tf.uint8))
        self.assertEqual(traced.output_shapes, tf.TensorShape(want))

    def test_of_a_table(self):
        traced = tf.function(lambda x: tfq.qlinear_sigmoid(x, 1.0, 0, 1.0)).get_concrete_function(
            tf.TensorSpec([None, 3], tf.int8)
        )
        self.assertEqual(traced.output_shapes.as_list(), [None, 3])


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("shapes", {"b": np.zeros([4, 2], np.int8)},
         r"a and b must broadcast. Received: a of shape \[2,3\], b of shape \[4,2\]"),
        ("a_scale", {"a_scale": [1.0, 2.0]}, r"a_scale must be a scalar or of shape \[1\]. Rec"),
        ("b_zero", {"b_zero_point": [[0]]}, r"b_zero_point must be a scalar .*: shape \[1,1\]"),
        ("c_scale", {"c_scale": [1.0, 2.0]}, r"c_scale must be a scalar .*: shape \[2\]"),
    )  # fmt: skip
    def test_name_the_argument_and_what_was_received(self, change, message):
        a = np.zeros([2, 3], np.uint8)
        args = {"a": a, "a_scale": 1.0, "a_zero_point": 0, "b": a.astype(np.int8), "b_scale": 1.0,
                "b_zero_point": 0, "c_scale": 1.0, "c_zero_point": 0, **change}  # fmt: skip
        for function in (tfq.qlinear_add, tfq.qlinear_mul):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                function(**args)
            with self.assertRaisesRegex(ValueError, message):
                tf.function(lambda f=function: f(**args)).get_concrete_function()

    def test_unary_operators_check_their_scales(self):
        x = tf.zeros([2], tf.int8)
        for function in (tfq.qlinear_leaky_relu, tfq.qlinear_sigmoid):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"x_scale must be a sca"):
                function(x, [1.0, 2.0], 0, 1.0)
            with self.assertRaisesRegex(ValueError, r"y_zero_point must be in \[-128, 127\].*200"):
                function(x, 1.0, 0, 1.0, 200)
            with self.assertRaisesRegex(ValueError, "x_zero_point must be int8.*Received: uint8"):
                function(x, 1.0, tf.constant(0, tf.uint8), 1.0)


if __name__ == "__main__":
    absltest.main()
