"""QLinearAveragePool and QLinearGlobalAveragePool against numpy and ONNX Runtime."""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_bytes, onnxruntime_node
from tests.contract_bytes import codes
from tests.modes import MODES, call, prepare

TYPES = (np.int8, np.uint8)
SCALES = (  # Of x and y.
    (0.02, 0.013),
    (2.0**-5, 2.0**-6),  # Half-way cases.
    (2.0**-5, 2.0**-4),
    (1.0, 0.0),
    (np.inf, 1.0),
    (np.nan, 1.0),
    (-0.5, 0.25),
    (1e-39, 1e-3),
)


def random_case(rng, rank, scales, types=(np.uint8, np.uint8)):
    """Arguments for contract_bytes.average_pool, of a shape that exists."""
    kernel = rng.integers(1, 5, rank)
    attributes = {
        "kernel_shape": kernel.tolist(),
        "strides": rng.integers(1, 4, rank).tolist(),
        "dilations": rng.integers(1, 3, rank).tolist(),
        "pads": rng.integers(0, 4, 2 * rank).tolist(),
        "ceil_mode": bool(rng.integers(2)),
        "count_include_pad": bool(rng.integers(2)),
    }
    shape = (2, int(rng.integers(1, 40)), *rng.integers(7, 12, rank))
    args = (codes(rng, types[0], shape), np.float32(scales[0]), codes(rng, types[0], ()),
            np.float32(scales[1]), codes(rng, types[1], ()))  # fmt: skip
    return args, attributes


def channels_last(function):
    """Runs a pooling of arrays with the channels first with them last."""

    def run(x, *args, **attributes):
        rank = len(x.shape)
        x = tf.transpose(x, [0, *range(2, rank), 1])
        y = function(x, *args, **attributes, channels_last=True)
        return tf.transpose(y, [0, rank - 1, *range(1, rank - 1)])

    return run


class AveragePoolTest(parameterized.TestCase):
    @parameterized.product(rank=[1, 2, 3], last=[False, True], mode=MODES)
    def test_random_shapes(self, rank, last, mode):
        rng = np.random.default_rng(rank)
        function = channels_last(tfq.qlinear_average_pool) if last else tfq.qlinear_average_pool
        for i in range(4 if mode == "xla" else 12):
            args, attributes = random_case(rng, rank, SCALES[i % 3])
            got = call(mode, lambda *t, a=attributes: function(*t, **a), *args)
            want = contract_bytes.average_pool(*args, **attributes)
            np.testing.assert_array_equal(got, want, str(attributes))

    @parameterized.product(types=list(itertools.product(TYPES, repeat=2)), mode=MODES)
    def test_every_type_and_scale(self, types, mode):
        args, attributes = random_case(np.random.default_rng(4), 2, SCALES[0], types)
        run = prepare(mode, lambda *t: tfq.qlinear_average_pool(*t, **attributes))
        for scales in np.array(SCALES, np.float32):
            args = (args[0], scales[0], args[2], scales[1], args[4])
            got = run(*args)
            self.assertEqual(got.dtype, types[1])
            want = contract_bytes.average_pool(*args, **attributes)
            np.testing.assert_array_equal(got, want, str(scales))

    @parameterized.product(dtype=TYPES, last=[False, True])
    def test_as_onnx_runtime(self, dtype, last):
        rng = np.random.default_rng(5)
        for i in range(30):
            args, attributes = random_case(rng, 1 + i % 3, SCALES[i % 3], (dtype, dtype))
            del attributes["dilations"]
            kernel = attributes["kernel_shape"] * 2  # Greater pads it refuses.
            pads = zip(attributes["pads"], kernel, strict=True)
            attributes["pads"] = [min(pad, k - 1) for pad, k in pads]
            got = tfq.qlinear_average_pool(*args, **attributes)
            x = np.moveaxis(args[0], 1, -1) if last else args[0]
            want = onnxruntime_node.run(
                "QLinearAveragePool", (x, *args[1:]), channels_last=int(last), **attributes
            )[0]
            np.testing.assert_array_equal(
                got, np.moveaxis(want, -1, 1) if last else want, str(attributes)
            )

    @parameterized.product(auto_pad=["SAME_UPPER", "SAME_LOWER", "VALID"], include=[False, True])
    def test_automatic_pads_as_onnx_runtime(self, auto_pad, include):
        rng = np.random.default_rng(6)
        for _ in range(8):
            args, attributes = random_case(rng, 2, SCALES[1])
            attributes = {
                "kernel_shape": attributes["kernel_shape"],
                "strides": attributes["strides"],
                "ceil_mode": attributes["ceil_mode"],
                "auto_pad": auto_pad,
                "count_include_pad": include,
            }
            want = onnxruntime_node.run("QLinearAveragePool", args, **attributes)[0]
            np.testing.assert_array_equal(tfq.qlinear_average_pool(*args, **attributes), want)

    def test_more_than_three_spatial_dimensions(self):
        args, attributes = random_case(np.random.default_rng(7), 2, SCALES[0])
        wide = {
            **attributes,
            "pads": [0, 0, *attributes["pads"][:2], 0, 0, *attributes["pads"][2:]],
        }
        for name in ("kernel_shape", "strides", "dilations"):
            wide[name] = [1, 1, *attributes[name]]
        got = tfq.qlinear_average_pool(args[0][:, :, None, None], *args[1:], **wide)
        want = contract_bytes.average_pool(*args, **attributes)
        np.testing.assert_array_equal(got[:, :, 0, 0], want)

    def test_a_tie_is_even_after_the_zero_point_was_added(self):
        x = tf.constant([[[0, 1]]], tf.uint8)
        y = tfq.qlinear_average_pool(x, 1.0, 0, 1.0, 1, kernel_shape=[2])
        self.assertEqual(int(y[0, 0, 0]), 2)  # .5 + 1 -> 2; before it, .5 -> 0, and 1 + 0.

    def test_a_window_of_padding_alone_gives_the_zero_point(self):
        x = tf.fill([1, 1, 1], tf.constant(50, tf.uint8))
        for include in (False, True):
            y = tfq.qlinear_average_pool(x, 1.0, 7, 1.0, 9, kernel_shape=[1], pads=[1, 1],
                                         count_include_pad=include)  # fmt: skip
            np.testing.assert_array_equal(y[0, 0], [9, 52, 9])

    def test_where_a_window_overhangs_the_padding(self):
        # The last of ceil_mode holds 4 and 5 alone; onnx's AveragePool divides by 2 either way,
        # ONNX Runtime's quantized one by the window's 3 with count_include_pad.
        x = tf.constant([[[1, 2, 3, 4, 5]]], tf.uint8)
        for include, last in ((False, 4.5), (True, 3.0)):
            y = tfq.qlinear_average_pool(x, 1.0, 0, 0.5, kernel_shape=[3], strides=[3],
                                         ceil_mode=True, count_include_pad=include)  # fmt: skip
            np.testing.assert_array_equal(y[0, 0] / 2, [2, last])

    def test_huge_windows_and_pads(self):
        x = tf.fill([1, 1, 3, 4], tf.constant(10, tf.uint8))
        far = 2**30
        for last in (False, True):
            y = tfq.qlinear_average_pool(
                tf.reshape(x, [1, 3, 4, 1]) if last else x, 1.0, 0, 1.0, channels_last=last,
                kernel_shape=[far, 1], pads=[far - 3, 0, far - 3, 0], strides=[far, 1])  # fmt: skip
            self.assertEqual(set(y.numpy().ravel()), {10})

    def test_empty_batches_and_channels(self):
        for shape, want in (([0, 3, 4, 4], [0, 3, 2, 2]), ([2, 0, 4, 4], [2, 0, 2, 2])):
            y = tfq.qlinear_average_pool(
                tf.zeros(shape, tf.int8), 1.0, 0, 1.0, kernel_shape=[2, 2], strides=[2, 2]
            )
            self.assertEqual(y.shape, want)


class GlobalAveragePoolTest(parameterized.TestCase):
    @parameterized.product(types=list(itertools.product(TYPES, repeat=2)), last=[False, True],
                           mode=MODES)  # fmt: skip
    def test_random_shapes(self, types, last, mode):
        rng = np.random.default_rng(8)
        function = tfq.qlinear_global_average_pool
        run = prepare(mode, channels_last(function) if last else function)
        for rank in (1, 2, 3):
            args, _ = random_case(rng, rank, SCALES[0], types)
            for scales in np.array(SCALES, np.float32):
                args = (args[0], scales[0], args[2], scales[1], args[4])
                got = run(*args)
                self.assertEqual(got.dtype, types[1])
                want = contract_bytes.global_average_pool(*args)
                np.testing.assert_array_equal(got, want, str(scales))

    @parameterized.product(dtype=TYPES, last=[False, True])
    def test_as_onnx_runtime(self, dtype, last):
        rng = np.random.default_rng(9)
        for i in range(40):
            args, _ = random_case(rng, 1 + i % 3, SCALES[i % 3], (dtype, dtype))
            x = np.moveaxis(args[0], 1, -1) if last else args[0]
            want = onnxruntime_node.run(
                "QLinearGlobalAveragePool", (x, *args[1:]), channels_last=int(last)
            )[0]
            got = tfq.qlinear_global_average_pool(x, *args[1:], channels_last=last)
            np.testing.assert_array_equal(got, want)

    def test_a_tie_is_even_before_the_zero_point_is_added(self):
        x = tf.constant([[[0, 1]]], tf.uint8)
        y = tfq.qlinear_global_average_pool(x, 1.0, 0, 1.0, 1)
        self.assertEqual(int(y[0, 0, 0]), 1)

    def test_sums_beyond_int32_are_exact(self):
        x = np.full([1, 2**23 + 9, 1], 255, np.uint8)
        y = tfq.qlinear_global_average_pool(x, 1.0, 0, 1.0, channels_last=True)
        self.assertEqual(int(y[0, 0, 0]), 255)

    @parameterized.parameters(*MODES)
    def test_an_image_without_pixels_gives_the_zero_point(self, mode):
        y = call(mode, lambda x: tfq.qlinear_global_average_pool(x, 1.0, 0, 1.0, 9),
                 np.zeros([1, 2, 0, 3], np.int8))  # fmt: skip
        np.testing.assert_array_equal(y, np.full([1, 2, 1, 1], 9))


class ShapesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("static", [2, 6, 9, 9], False, [2, 6, 4, 4]),
        ("batch", [None, 6, 9, 9], False, [None, 6, 4, 4]),
        ("space", [2, 6, None, 9], False, [2, 6, None, 4]),
        ("last", [2, 9, None, 6], True, [2, 4, None, 6]),
        ("rank", None, False, None),
    )
    def test_as_much_as_is_known(self, x, last, want):
        options = {"kernel_shape": [3, 3], "strides": [2, 2], "channels_last": last}
        traced = tf.function(
            lambda x: tfq.qlinear_average_pool(x, 1.0, 0, 1.0, **options)
        ).get_concrete_function(tf.TensorSpec(x, tf.uint8))
        self.assertEqual(traced.output_shapes, tf.TensorShape(want))

    @parameterized.named_parameters(
        ("first", [None, 6, None, 9], False, [None, 6, 1, 1]),
        ("last", [2, 9, None, 6], True, [2, 1, 1, 6]),
        ("rank", None, False, None),
    )
    def test_of_a_global_pooling(self, x, last, want):
        traced = tf.function(
            lambda x: tfq.qlinear_global_average_pool(x, 1.0, 0, 1.0, channels_last=last)
        ).get_concrete_function(tf.TensorSpec(x, tf.uint8))
        self.assertEqual(traced.output_shapes, tf.TensorShape(want))


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("no_kernel", {"kernel_shape": []}, r"kernel_shape must have 2 elements. Received: \[\]"),
        ("kernel_0", {"kernel_shape": [0, 1]}, r"kernel_shape must be in \[1, .*: \[0,1\]"),
        ("strides", {"strides": [1]}, r"strides must have 2 elements. Received: \[1\]"),
        ("pads", {"pads": [0, -1, 0, 0]}, r"pads must be in \[0, .*Received: \[0,-1,0,0\]"),
        ("auto", {"pads": [1] * 4, "auto_pad": "VALID"}, r"pads must be 0 where auto_pad is not"),
        ("large", {"kernel_shape": [9, 1]}, r"the kernel must fit .*dilated kernel of 9 on 4"),
        ("product", {"kernel_shape": [2**20] * 2, "pads": [2**20] * 4},
         r"kernel_shape must have a product of at most .*: \[1048576,1048576\]"),
        ("rank", {"x": np.zeros([3, 4], np.int8)}, r"x must have at least 3 dimensions. Received"),
        ("x_scale", {"x_scale": [1.0, 2.0]}, r"x_scale must be a scalar or of shape \[1\]. Rec"),
    )  # fmt: skip
    def test_name_the_argument_and_what_was_received(self, change, message):
        args = {"x": np.zeros([1, 2, 4, 4], np.int8), "x_scale": 1.0, "x_zero_point": 0,
                "y_scale": 1.0, "kernel_shape": [2, 2], **change}  # fmt: skip
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.qlinear_average_pool(**args)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.qlinear_average_pool(**args)).get_concrete_function()

    def test_a_global_pooling_needs_pixels(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "x must have at least 3 dim"):
            tfq.qlinear_global_average_pool(tf.zeros([2, 3], tf.int8), 1.0, 0, 1.0)


if __name__ == "__main__":
    absltest.main()
