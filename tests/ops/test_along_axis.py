"""QLinearConcat and QLinearSoftmax against numpy and ONNX Runtime."""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, contract_bytes, onnxruntime_node
from tests.contract_bytes import codes
from tests.modes import MODES, call, prepare

TYPES = (np.int8, np.uint8)
SCALES = (0.0371, 2.0**-5, 2.0**-7, 3.0, -0.05, 0.0, 1e-39, np.inf, np.nan)


class ConcatTest(parameterized.TestCase):
    @parameterized.product(types=list(itertools.product(TYPES, repeat=2)), mode=MODES)
    def test_every_code_of_every_input(self, types, mode):
        rng = np.random.default_rng(1)
        x = contract.all_codes(np.dtype(types[0]))
        run = prepare(mode, lambda *t: tfq.qlinear_concat(*t, axis=0))
        for y_scale in np.array(SCALES, np.float32):
            inputs = []
            for x_scale in np.array(SCALES, np.float32):
                inputs += [x, x_scale, codes(rng, types[0], ())]
            y_zero = codes(rng, types[1], ())
            got = run(y_scale, y_zero, *inputs)
            self.assertEqual(got.dtype, types[1])
            np.testing.assert_array_equal(
                got, contract_bytes.concat(y_scale, y_zero, *inputs, axis=0), str(y_scale)
            )

    @parameterized.product(rank=[1, 3], mode=MODES)
    def test_every_axis_and_any_number_of_inputs(self, rank, mode):
        rng = np.random.default_rng(2)
        for axis in range(-rank, rank):
            for count in (1, 2, 5):
                shape = rng.integers(1, 9, rank)
                inputs = []
                for i in range(count):
                    shape[axis] = rng.integers(0, 9)
                    inputs += [codes(rng, TYPES[i % 2], tuple(shape)), np.float32(0.02 + i),
                               codes(rng, TYPES[i % 2], ())]  # fmt: skip
                y = np.float32(0.021), np.uint8(77)
                got = call(mode, lambda *t, a=axis: tfq.qlinear_concat(*t, axis=a), *y, *inputs)
                want = contract_bytes.concat(*y, *inputs, axis=axis)
                np.testing.assert_array_equal(got, want)

    @parameterized.parameters(*TYPES)
    def test_as_onnx_runtime(self, dtype):
        rng = np.random.default_rng(3)
        for i in range(20):
            y = SCALES[i % 4], codes(rng, dtype, ())
            inputs = []
            for _ in range(rng.integers(1, 4)):
                shape = (2, int(rng.integers(1, 50)), 3)
                inputs += [codes(rng, dtype, shape), np.float32(SCALES[rng.integers(4)]),
                           codes(rng, dtype, ())]  # fmt: skip
            y = np.float32(y[0]), y[1]
            want = onnxruntime_node.run("QLinearConcat", [*y, *inputs], axis=1)[0]
            np.testing.assert_array_equal(tfq.qlinear_concat(*y, *inputs, axis=1), want)

    def test_inputs_in_one_list(self):
        x = tf.constant([1, 2], tf.uint8)
        y = tfq.qlinear_concat(1.0, 0, [x, 1.0, None, x, 2.0, 1], axis=0)
        np.testing.assert_array_equal(y, [1, 2, 0, 2])

    @parameterized.named_parameters(
        ("sum", [[2, 3], [2, 4]], [2, 7]),
        ("unknown_axis", [[2, None], [2, 4]], [2, None]),
        ("learns", [[None, 3], [2, 4]], [2, 7]),
        ("one_of_unknown_rank", [None, [2, 4]], [2, None]),
        ("all_of_unknown_rank", [None, None], None),
    )
    def test_shapes_as_much_as_is_known(self, shapes, want):
        traced = tf.function(
            lambda a, b: tfq.qlinear_concat(1.0, 0, a, 1.0, 0, b, 1.0, 0, axis=-1)
        ).get_concrete_function(*(tf.TensorSpec(shape, tf.int8) for shape in shapes))
        self.assertEqual(traced.output_shapes, tf.TensorShape(want))

    @parameterized.named_parameters(
        ("axis", [[2, 3], [2, 4]], 2, r"axis must be in \[-2, 1\] for inputs of .*Received: 2"),
        ("dimension", [[2, 3], [3, 3]], 1, r"inputs must have the same .*input 1 of shape \[3,3\]"),
        ("rank", [[2, 3], [2]], 1, r"inputs must have the same .*input 1 of shape \[2\], input 0"),
        ("scalar", [[], []], 0, r"axis must be in \[0, -1\] for inputs of rank 0. Received: 0"),
    )
    def test_errors_name_the_argument_and_what_was_received(self, shapes, axis, message):
        a, b = (tf.zeros(shape, tf.uint8) for shape in shapes)
        run = lambda: tfq.qlinear_concat(1.0, 0, a, 1.0, 0, b, 1.0, 0, axis=axis)  # noqa: E731
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            run()
        with self.assertRaisesRegex(ValueError, message):
            tf.function(run).get_concrete_function()

    def test_inputs_are_triples(self):
        x = tf.zeros([2], tf.uint8)
        with self.assertRaisesRegex(ValueError, "inputs must be a tensor, .* Received: 2 values"):
            tfq.qlinear_concat(1.0, 0, x, 1.0, axis=0)
        with self.assertRaisesRegex(ValueError, "inputs must be a tensor, .* Received: 0 values"):
            tfq.qlinear_concat(1.0, 0, axis=0)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "x_scale must have one scale .*1 scales for 2 tensors"
        ):
            tfq.raw_ops.QLinearConcat(y_scale=1.0, y_zero_point=x[0], x=[x, x], x_scale=[1.0],
                                      x_zero_point=[x[0], x[0]], axis=0)  # fmt: skip


class SoftmaxTest(parameterized.TestCase):
    @parameterized.product(types=list(itertools.product(TYPES, repeat=2)), mode=MODES)
    def test_every_code(self, types, mode):
        rng = np.random.default_rng(4)
        # Every code against every other in rows of two, then rows of all and of more.
        all_codes = contract.all_codes(np.dtype(types[0]))
        pairs = np.stack(np.broadcast_arrays(all_codes[:, None], all_codes), -1)
        for x in (pairs, all_codes[None], codes(rng, types[0], (3, 700))):
            run = prepare(mode, tfq.qlinear_softmax)
            for x_scale in SCALES[:5]:
                for y_scale in (2.0**-8, 0.0031, 0.0):
                    args = (x, np.float32(x_scale), codes(rng, types[0], ()), np.float32(y_scale),
                            codes(rng, types[1], ()))  # fmt: skip
                    got = run(*args)
                    self.assertEqual(got.dtype, types[1])
                    want = contract_bytes.softmax(*args)
                    np.testing.assert_array_equal(got, want, str((x_scale, y_scale)))

    @parameterized.product(opset=[11, 13], mode=MODES)
    def test_every_axis(self, opset, mode):
        rng = np.random.default_rng(5)
        for shape in ((4,), (2, 3, 4), (0, 3), (2, 0)):
            x = codes(rng, np.uint8, shape)
            for axis in range(-x.ndim, x.ndim):
                if x.size == 0 and mode != "xla":
                    y = tfq.qlinear_softmax(x, 0.05, 0, 2.0**-8, 0, axis=axis, opset=opset)
                    self.assertEqual(y.shape, shape)
                elif x.size:
                    args = x, np.float32(0.05), np.uint8(3), np.float32(2.0**-8), np.uint8(9)
                    options = {"axis": axis, "opset": opset}
                    got = call(mode, lambda *t, o=options: tfq.qlinear_softmax(*t, **o), *args)
                    np.testing.assert_array_equal(got, contract_bytes.softmax(*args, **options))

    @parameterized.product(dtype=TYPES, opset=[12, 13])
    def test_as_onnx_runtime_where_its_scale_is_exact(self, dtype, opset):
        rng = np.random.default_rng(6)
        wrong = []
        for i in range(40):
            shape = (2, int(rng.integers(1, 400)), int(rng.integers(1, 4)))
            zero = np.iinfo(dtype).min + 50 * (i % 2)
            args = (codes(rng, dtype, shape), np.float32(rng.uniform(0.005, 0.3)),
                    codes(rng, dtype, ()), np.float32(2.0**-8), dtype(zero))  # fmt: skip
            options = {"axis": int(rng.integers(-3, 3)), "opset": opset}
            if args[0].shape[options["axis"]] == 1:
                continue  # test_a_class_alone_does_not_wrap
            want = onnxruntime_node.run("QLinearSoftmax", args, **options)[0]
            wrong.append(np.abs(tfq.qlinear_softmax(*args, **options).numpy().astype(int) - want))
        wrong = np.concatenate([w.ravel() for w in wrong])
        self.assertLessEqual(wrong.max(), 1)
        self.assertLess((wrong > 0).mean(), 0.005)

    def test_the_quotient_by_the_scale_is_a_true_one(self):
        # ONNX Runtime 1.31.1 multiplies with floor(1 / y_scale): here 1 / 4 * 2, not / 0.4.
        x = np.zeros((1, 4), np.uint8)
        args = (x, np.float32(1), np.uint8(0), np.float32(0.4), np.uint8(0))
        got = tfq.qlinear_softmax(*args, axis=1, opset=13)
        np.testing.assert_array_equal(got, [[1, 1, 1, 1]])  # 0.625
        theirs = onnxruntime_node.run("QLinearSoftmax", args, axis=1, opset=13)[0]
        np.testing.assert_array_equal(theirs, [[0, 0, 0, 0]])  # 0.5

    @parameterized.parameters(0, 50)
    def test_a_class_alone_does_not_wrap(self, zero):
        # 256 + zero: ONNX Runtime 1.31.1 gives `zero` on some CPUs, 255 on others.
        x, zero_point = np.full((2, 31, 1), 7, np.uint8), np.uint8(zero)
        args = (x, np.float32(0.25), np.uint8(3), np.float32(2.0**-8), zero_point)
        np.testing.assert_array_equal(tfq.qlinear_softmax(*args, axis=-1, opset=13), x * 0 + 255)
        theirs = onnxruntime_node.run("QLinearSoftmax", args, axis=-1, opset=13)[0]
        self.assertIn(set(theirs.ravel()), ({255}, {zero}))

    def test_a_certain_class_does_not_wrap(self):  # microsoft/onnxruntime/issues/29727
        x = tf.constant([[127, -128, -128, -128]], tf.int8)
        y = tfq.qlinear_softmax(x, 0.5, 0, 1 / 256, tf.constant(-128, tf.int8))
        np.testing.assert_array_equal(y, [[127, -128, -128, -128]])

    @parameterized.parameters(([None, 5],), ([2, None],), (None,))
    def test_the_shape_is_that_of_x(self, shape):
        traced = tf.function(lambda x: tfq.qlinear_softmax(x, 1.0, 0, 1.0)).get_concrete_function(
            tf.TensorSpec(shape, tf.int8)
        )
        self.assertEqual(traced.output_shapes, tf.TensorShape(shape))

    def test_errors_name_the_argument_and_what_was_received(self):
        x = tf.zeros([2, 3], tf.int8)
        message = r"axis must be in \[-2, 1\] for x of shape \[2,3\]. Received: 2"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.qlinear_softmax(x, 1.0, 0, 1.0, axis=2)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.qlinear_softmax(x, 1.0, 0, 1.0, axis=2)).get_concrete_function()
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"y_scale must be a scalar"):
            tfq.qlinear_softmax(x, 1.0, 0, [1.0, 2.0])


if __name__ == "__main__":
    absltest.main()
