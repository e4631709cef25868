"""QLinearConv: values, shapes and errors, in eager mode and in a graph."""

import concurrent.futures
import itertools

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract


def random_case(rng, *, rank=2, x_dtype=np.uint8, w_dtype=np.int8, y_dtype=np.uint8):
    """Arguments for contract.qlinear_conv, of a shape that exists."""
    group = int(rng.choice([1, 1, 2, 4]))
    per_group, filters = int(rng.integers(1, 6)), group * int(rng.integers(1, 9))
    codes = lambda dtype, shape: rng.integers(  # noqa: E731
        np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True
    ).astype(dtype)
    kernel = rng.integers(1, 4, rank)
    x = codes(x_dtype, (rng.integers(1, 3), group * per_group, *rng.integers(5, 10, rank)))
    w = codes(w_dtype, (filters, per_group, *kernel))
    scale_shape = [(), (1,), (filters,)][rng.integers(3)]
    zero_shape = [(), (1,), (filters,)][rng.integers(3)]
    return {
        "x": x,
        "x_scale": np.float32(rng.uniform(0.001, 0.1)),
        "x_zero_point": codes(x_dtype, ()),
        "w": w,
        "w_scale": rng.uniform(0.001, 0.1, scale_shape).astype(np.float32),
        "w_zero_point": codes(w_dtype, zero_shape),
        "y_scale": np.float32(rng.uniform(0.1, 5.0)),
        "y_zero_point": codes(y_dtype, ()),
        "bias": rng.integers(-9999, 9999, filters).astype(np.int32) if rng.integers(2) else None,
    }, {
        "strides": rng.integers(1, 4, rank).tolist(),
        "dilations": rng.integers(1, 3, rank).tolist(),
        "pads": rng.integers(0, 3, 2 * rank).tolist(),
        "group": group,
    }  # fmt: skip


def convolve(args, options, data_format="NCHW", graph=False):
    """The operator on NCHW arrays, whatever its data_format."""
    function = lambda x, **rest: tfq.qlinear_conv(  # noqa: E731
        x, **rest, **options, data_format=data_format
    )
    if graph:
        function = tf.function(function)
    args = {k: tf.constant(v) for k, v in args.items() if v is not None}
    rank = args["x"].shape.rank
    if data_format == "NHWC":
        args["x"] = tf.transpose(args["x"], [0, *range(2, rank), 1])
    y = function(**args)
    return tf.transpose(y, [0, rank - 1, *range(1, rank - 1)]) if data_format == "NHWC" else y


class ValuesTest(parameterized.TestCase):
    @parameterized.product(data_format=["NCHW", "NHWC"], graph=[False, True], rank=[1, 2, 3])
    def test_random_shapes(self, data_format, graph, rank):
        rng = np.random.default_rng(rank)
        for _ in range(12 if rank < 3 else 4):
            args, options = random_case(rng, rank=rank)
            got = convolve(args, options, data_format, graph)
            np.testing.assert_array_equal(got, contract.qlinear_conv(**args, **options))

    @parameterized.parameters(itertools.product([np.int8, np.uint8], repeat=3))
    def test_every_combination_of_types(self, x_dtype, w_dtype, y_dtype):
        rng = np.random.default_rng(11)
        for _ in range(6):
            args, options = random_case(rng, x_dtype=x_dtype, w_dtype=w_dtype, y_dtype=y_dtype)
            want = contract.qlinear_conv(**args, **options)
            np.testing.assert_array_equal(convolve(args, options), want)

    def test_more_than_three_spatial_dimensions(self):
        args, options = random_case(np.random.default_rng(12), rank=2)
        rank_4 = {**options, "pads": [0, 0, *options["pads"][:2], 0, 0, *options["pads"][2:]]}
        for name in ("strides", "dilations"):
            rank_4[name] = [1, 1, *options[name]]
        args_4 = {**args, "x": args["x"][:, :, None, None], "w": args["w"][:, :, None, None]}
        want = contract.qlinear_conv(**args, **options)
        np.testing.assert_array_equal(convolve(args_4, rank_4), want[:, :, None, None])

    def test_every_pair_of_8_bit_codes(self):
        # 1x1 kernels with one input channel: pixel i of filter j is the product of two codes.
        x = contract.all_codes(np.dtype(np.uint8)).reshape(1, 1, 256, 1)
        w = contract.all_codes(np.dtype(np.int8)).reshape(256, 1, 1, 1)
        args = {"x": x, "x_scale": np.float32(1), "x_zero_point": np.uint8(131), "w": w,
                "w_scale": np.float32(1), "w_zero_point": np.int8(-7),
                "y_scale": np.float32(97), "y_zero_point": np.int8(5), "bias": None}  # fmt: skip
        options = {"strides": [1, 1], "dilations": [1, 1], "pads": [0] * 4, "group": 1}
        want = contract.qlinear_conv(**args, **options)
        np.testing.assert_array_equal(convolve(args, options), want)

    @parameterized.named_parameters(
        # xs 2^-5, ws .5, ys 2, zp 73: acc 576 / 128 = 4.5 rounds to even before 73 is added.
        ("tie_to_even", 576, 2.0**-5, 0.5, 2.0, 73, 77),
        ("nan_is_the_minimum", 0, 1.0, 1.0, 0.0, 7, 0),
        ("infinity_saturates", -3, 1.0, 1.0, 0.0, 7, 0),
        ("bias_wraps", 2**31, 1.0, 1.0, 2.0**24, 200, 72),
    )
    def test_requantization(self, acc, xs, ws, ys, zero, want):
        x = np.zeros([1, 1, 1, 1], np.uint8)
        bias, x_zero = acc, 0
        if acc == 2**31:  # One more than fits: 2^31 - 1 from the bias, 1 from the product.
            bias, x = acc - 1, x + 1
        y = tfq.qlinear_conv(x, xs, x_zero, np.ones([1, 1, 1, 1], np.int8), ws, 0, ys,
                             tf.constant(zero, tf.uint8), [bias])  # fmt: skip
        self.assertEqual(int(y[0, 0, 0, 0]), want)

    def test_distinct_weight_zero_points(self):  # microsoft/onnxruntime/issues/28447
        w = np.full((2, 1, 2, 2), 100, np.uint8)
        x = np.full((1, 1, 2, 2), 130, np.uint8)
        y = tfq.qlinear_conv(x, 0.05, 128, w, 0.02, np.array([5, 90], np.uint8), 0.1, 128)
        np.testing.assert_array_equal(y[0, :, 0, 0], [136, 129])

    def test_saturating_peers_differ_here(self):  # microsoft/onnxruntime/issues/16105
        x = np.array([210, 198, 234], np.uint8).reshape(1, 3, 1, 1)
        w = np.array([-81, -80, 127], np.int8).reshape(1, 3, 1, 1)
        y = tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 36.0, 128)
        self.assertEqual(int(y[0, 0, 0, 0]), 128 - 87)  # acc = -3132 = -87 * 36

    def test_empty_batch_and_zero_size_output(self):
        w = tf.zeros([4, 3, 3, 3], tf.int8)
        y = tfq.qlinear_conv(tf.zeros([0, 3, 6, 6], tf.uint8), 1.0, 0, w, 1.0, 0, 1.0, 0)
        self.assertEqual(y.shape, [0, 4, 4, 4])
        x = tf.zeros([1, 3, 0, 6], tf.uint8)
        y = tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0, auto_pad="SAME_UPPER")
        self.assertEqual(y.shape, [1, 4, 0, 6])

    def test_updated_weights_are_used(self):
        w = tf.Variable(tf.ones([1, 1, 1, 1], tf.int8))
        x = tf.fill([1, 1, 1, 1], tf.constant(10, tf.uint8))
        function = tf.function(lambda: tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0))
        for value in (1, 5, 7, 5):
            w.assign(tf.fill([1, 1, 1, 1], tf.constant(value, tf.int8)))
            self.assertEqual(int(function()[0, 0, 0, 0]), 10 * value)

    def test_numpy_weights_changed_in_place_are_used(self):
        w = np.ones([1, 1, 1, 1], np.int8)
        x = np.full([1, 1, 1, 1], 10, np.uint8)
        for value in range(1, 9):
            w[...] = value
            y = tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0)
            self.assertEqual(int(y[0, 0, 0, 0]), 10 * value)

    def test_many_threads_and_layers_at_once(self):
        rng = np.random.default_rng(13)
        cases = [random_case(rng) for _ in range(10)]
        want = [contract.qlinear_conv(**args, **options) for args, options in cases]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            got = list(pool.map(lambda case: convolve(*case).numpy(), cases * 8))
        for result, expected in zip(got, want * 8, strict=True):
            np.testing.assert_array_equal(result, expected)


class ShapesTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("static", [2, 6, 9, 9], [4, 3, 3, 3], [2, 4, 4, 4]),
        ("batch", [None, 6, 9, 9], [4, 3, 3, 3], [None, 4, 4, 4]),
        ("space", [2, 6, None, 9], [4, 3, 3, 3], [2, 4, None, 4]),
        ("channels", [2, None, 9, 9], [4, 3, 3, 3], [2, 4, 4, 4]),
        ("filters", [2, 6, 9, 9], [None, 3, 3, 3], [2, None, 4, 4]),
        ("kernel", [2, 6, 9, 9], [4, 3, None, None], [2, 4, 4, 4]),
        ("weights", [2, 6, 9, 9], None, [2, None, 4, 4]),
        ("rank", None, [4, 3, 3, 3], [None, 4, None, None]),
    )
    def test_as_much_as_is_known(self, x, w, want):
        function = tf.function(
            lambda x, w: tfq.qlinear_conv(
                x, 1.0, 0, w, 1.0, 0, 1.0, 0, strides=[2, 2], group=2, kernel_shape=[3, 3]
            )
        )
        traced = function.get_concrete_function(
            tf.TensorSpec(x, tf.uint8), tf.TensorSpec(w, tf.int8)
        )
        self.assertEqual(traced.output_shapes.as_list(), want)

    def test_filters_known_from_the_bias(self):
        function = tf.function(
            lambda x, w, b: tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0, b, data_format="NHWC")
        )
        traced = function.get_concrete_function(
            tf.TensorSpec([1, 9, 9, 6], tf.uint8), tf.TensorSpec(None, tf.int8),
            tf.TensorSpec([5], tf.int32))  # fmt: skip
        self.assertEqual(traced.output_shapes.as_list(), [1, None, None, 5])


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("strides_0", {"strides": [0, 1]}, r"strides must be in \[1, .*Received: \[0,1\]"),
        ("strides_3", {"strides": [1, 1, 1]}, r"strides must have 2 elements.*\[1,1,1\]"),
        ("pads", {"pads": [0, -3, 0, 0]}, r"pads must be in \[0, .*Received: \[0,-3,0,0\]"),
        ("pads_huge", {"pads": [2**40, 0, 0, 0]}, r"pads must be in \[0, "),
        ("dilations", {"dilations": [1, 0]}, r"dilations must be in \[1, "),
        ("group_0", {"group": 0}, r"group must be in \[1, .*Received: 0"),
        ("group_4", {"group": 4}, r"group must divide the filters of w. Received: group=4"),
        ("channels", {"group": 3}, r"x must have group times w's dimension 1 as channels"),
        ("kernel", {"kernel_shape": [3, 2]}, r"kernel_shape must agree with w. Received: kernel"),
        ("auto", {"pads": [1] * 4, "auto_pad": "VALID"}, r"pads must be 0 where auto_pad is not"),
        ("too_large", {"dilations": [9, 9]}, r"the kernel must fit .* kernel of 19 on 6"),
        ("bias", {"bias": [1, 2]}, r"bias must have one element .* shape \[2\], w of shape \[3"),
        ("w_scale", {"w_scale": [0.1, 0.2]}, r"w_scale must be a scalar or have one element"),
        ("w_zero", {"w_zero_point": [[0]]}, r"w_zero_point must be a scalar or have one el"),
        ("x_scale", {"x_scale": [0.1, 0.2]}, r"x_scale must be a scalar or of shape \[1\]. Re"),
        ("w_rank", {"w": np.zeros([3, 2, 3], np.int8)}, r"w must have the rank of x. Received: w"),
        ("x_rank", {"x": np.zeros([3, 2], np.int8)}, r"x must have at least 3 dimensions. Rec"),
        ("empty_kernel", {"w": np.zeros([3, 2, 0, 3], np.int8)}, r"w must have a kernel of at le"),
    )  # fmt: skip
    def test_name_the_argument_and_what_was_received(self, change, message):
        args = {"x": np.zeros([1, 2, 6, 6], np.uint8), "x_scale": 1.0, "x_zero_point": 0,
                "w": np.zeros([3, 2, 3, 3], np.int8), "w_scale": 1.0, "w_zero_point": 0,
                "y_scale": 1.0, "y_zero_point": 0, **change}  # fmt: skip
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.qlinear_conv(**args)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.qlinear_conv(**args)).get_concrete_function()

    def test_outputs_too_large_to_address(self):
        x, w = tf.zeros([1, 1, 1, 1], tf.uint8), tf.zeros([1, 1, 1, 1], tf.int8)
        pads = [2**31 - 1] * 4
        with self.assertRaises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
            tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0, pads=pads)

    def test_large_pads_with_large_strides(self):
        x, w = tf.ones([1, 1, 1, 1], tf.uint8), tf.ones([1, 1, 1, 1], tf.int8)
        y = tfq.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0, pads=[2**30] * 4, strides=[2**30] * 2)
        np.testing.assert_array_equal(y[0, 0], np.diag([0, 1, 0]))


if __name__ == "__main__":
    absltest.main()
