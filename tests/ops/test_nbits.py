"""MatMulNBits and GatherBlockQuantized: values, shapes and errors."""

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, contract_nbits
from tests.contract_nbits import weights
from tests.onnx import graphs


def onnxruntime_matmul(a, inputs, attributes, bias=None):
    names = ["b", "scales", "zero_points", "g_idx", "bias"]
    constants = inputs if bias is None else {**inputs, "bias": bias}
    names = [name if name in constants else "" for name in names]
    upper = {"K": attributes["k"], "N": attributes["n"]}
    node = graphs.node(
        "MatMulNBits", ["a", *names], domain="com.microsoft", **upper,
        bits=attributes["bits"], block_size=attributes["block_size"])  # fmt: skip
    proto = graphs.model([node], {"a": (a.dtype, a.shape)}, "y", constants, microsoft=True)
    return graphs.run_exactly(proto, a)[0]


class MatMulNBitsTest(parameterized.TestCase):
    def assert_near(self, got, a, w, bias=0.0, steps=4.0):
        """Within some float32 roundings of the sum of magnitudes, and one of the output type."""
        want = a.astype(np.float64) @ w.T + bias
        magnitude = np.abs(a.astype(np.float64)) @ np.abs(w.T) + np.abs(bias)
        tolerance = steps * 2.0**-24 * magnitude
        if got.dtype != tf.float32:
            tolerance += float(ml_dtypes.finfo(got.dtype.as_numpy_dtype).eps) / 2 * np.abs(want)
        self.assertTrue(np.all(np.abs(got.numpy().astype(np.float64) - want) <= tolerance))

    @parameterized.product(
        bits=[2, 4, 8], zero_points=[None, "packed", "float"], g_idx=[False, True]
    )
    def test_random_shapes(self, bits, zero_points, g_idx):
        rng = np.random.default_rng(bits)
        for rows in (1, 2, 3, 7, 60):
            k, n, block = int(rng.integers(1, 300)), int(rng.integers(1, 60)), 16 << rng.integers(5)
            inputs, attributes = weights(rng, k, n, bits, int(block), zero_points, g_idx)
            a = rng.standard_normal((rows, k)).astype(np.float32)
            bias = rng.standard_normal(n).astype(np.float32)
            for function in (tfq.matmul_nbits, tf.function(tfq.matmul_nbits)):
                got = function(a, **inputs, bias=bias, **attributes)
                w = contract_nbits.nbits_weights(**inputs, **attributes)
                self.assert_near(got, a, w, bias)

    @parameterized.parameters(2, 4, 8)
    def test_whole_numbers_are_exact(self, bits):
        rng = np.random.default_rng(20)
        inputs, attributes = weights(rng, 150, 37, bits, 32, "packed")
        inputs["scales"] = np.exp2(rng.integers(-3, 3, (37, 5))).astype(np.float32)
        a = rng.integers(-9, 10, (5, 150)).astype(np.float32)
        want = a @ contract_nbits.nbits_weights(**inputs, **attributes).T
        np.testing.assert_array_equal(tfq.matmul_nbits(a, **inputs, **attributes), want)

    @parameterized.parameters(np.float16, ml_dtypes.bfloat16)
    def test_narrow_activations_and_scales(self, dtype):
        rng = np.random.default_rng(21)
        for zero_points in (None, "packed", "float"):
            inputs, attributes = weights(rng, 100, 33, 4, 32, zero_points, dtype=dtype)
            a = rng.standard_normal((4, 100)).astype(dtype)
            bias = rng.standard_normal(33).astype(dtype)
            got = tfq.matmul_nbits(a, **inputs, bias=bias, **attributes)
            self.assertEqual(got.dtype, dtype)
            w = contract_nbits.nbits_weights(**inputs, **attributes)
            self.assert_near(got, a, w, bias.astype(np.float64))

    @parameterized.product(bits=[2, 4, 8], block_size=[16, 32, 128, 256])
    def test_as_onnxruntime(self, bits, block_size):
        rng = np.random.default_rng(22)
        cases = [(None, False), ("packed", False)]
        if bits < 8:
            cases.append(("float", bits == 4))
        for zero_points, g_idx in cases:
            inputs, attributes = weights(rng, 520, 48, bits, block_size, zero_points, g_idx)
            bias = rng.standard_normal(48).astype(np.float32)
            for rows in (1, 17):
                a = rng.standard_normal((rows, 520)).astype(np.float32)
                want = onnxruntime_matmul(a, inputs, attributes, bias)
                got = tfq.matmul_nbits(a, **inputs, bias=bias, **attributes)
                np.testing.assert_allclose(got, want, rtol=0, atol=3e-6 * np.abs(want).max())

    def test_a_row_does_not_depend_on_the_others(self):
        rng = np.random.default_rng(23)
        inputs, attributes = weights(rng, 333, 50, 4, 32, "packed")
        a = rng.standard_normal((9, 11, 333)).astype(np.float32)
        all_rows = tfq.matmul_nbits(a, **inputs, **attributes)
        self.assertEqual(all_rows.shape, [9, 11, 50])
        for i, j in ((0, 0), (3, 7), (8, 10)):
            one = tfq.matmul_nbits(a[i, j], **inputs, **attributes)
            np.testing.assert_array_equal(one, all_rows[i, j])

    def test_codes_beyond_k_do_not_matter(self):
        rng = np.random.default_rng(24)
        inputs, attributes = weights(rng, 35, 20, 4, 32)
        a = rng.standard_normal((2, 35)).astype(np.float32)
        want = tfq.matmul_nbits(a, **inputs, **attributes)
        inputs["b"][:, 1, 2:] ^= 0x5A
        inputs["b"][:, 1, 1] ^= 0xF0
        np.testing.assert_array_equal(tfq.matmul_nbits(a, **inputs, **attributes), want)

    def test_tiny_and_infinite_activations(self):
        # Not lost by scaling within the product, as x * 2^-28 would be.
        b = np.full([1, 1, 8], 0xF9, np.uint8)  # 1, 7, 1, 7, ...
        a = np.full([1, 16], 3e-37, np.float32)
        args = {"b": b, "scales": [[1e30]], "k": 16, "n": 1, "block_size": 16}
        np.testing.assert_allclose(tfq.matmul_nbits(a, **args), [[64 * 3e-7]], rtol=1e-6)
        a[0, 5] = np.inf
        np.testing.assert_array_equal(tfq.matmul_nbits(a, **args), [[np.inf]])

    def test_parameters_may_be_flat(self):
        rng = np.random.default_rng(25)
        inputs, attributes = weights(rng, 70, 5, 4, 32, "packed")
        a = rng.standard_normal((2, 70)).astype(np.float32)
        want = tfq.matmul_nbits(a, **inputs, **attributes)
        for name in ("scales", "zero_points"):
            inputs[name] = inputs[name].reshape(-1)
        np.testing.assert_array_equal(tfq.matmul_nbits(a, **inputs, **attributes), want)

    def test_zero_points_of_either_kind_with_g_idx(self):
        # ONNX Runtime 1.31.1 has other weights for packed ones, and for 2 bits altogether.
        rng = np.random.default_rng(33)
        a = rng.standard_normal((2, 90)).astype(np.float32)
        for bits in (2, 4, 8):
            inputs, attributes = weights(rng, 90, 5, bits, 16, "packed", g_idx=True)
            packed = tfq.matmul_nbits(a, **inputs, **attributes)
            unpacked = contract_nbits.unpack(inputs["zero_points"], bits)[:, :6]
            inputs["zero_points"] = unpacked.astype(np.float32)
            np.testing.assert_array_equal(tfq.matmul_nbits(a, **inputs, **attributes), packed)

    def test_g_idx_in_order_changes_nothing(self):
        rng = np.random.default_rng(26)
        inputs, attributes = weights(rng, 70, 5, 4, 32, "float")
        a = rng.standard_normal((2, 70)).astype(np.float32)
        want = tfq.matmul_nbits(a, **inputs, **attributes)
        g_idx = np.arange(96, dtype=np.int32) // 32
        got = tfq.matmul_nbits(a, **inputs, g_idx=g_idx, **attributes)
        np.testing.assert_array_equal(got, want)

    def test_weights_left_out(self):
        a, b = np.ones([2, 40], np.float32), np.zeros([3, 0, 16], np.uint8)
        empty = np.zeros([0], np.float32)
        args = {"k": 40, "n": 3, "block_size": 32}
        np.testing.assert_array_equal(tfq.matmul_nbits(a, b, empty, **args), np.zeros([2, 3]))
        got = tfq.matmul_nbits(a, b, empty, bias=[1.0, 2.0, 3.0], **args)
        np.testing.assert_array_equal(got, [[1, 2, 3]] * 2)

    def test_no_rows(self):
        inputs, attributes = weights(np.random.default_rng(27), 40, 3, 4, 32)
        self.assertEqual(tfq.matmul_nbits(tf.zeros([0, 40]), **inputs, **attributes).shape, [0, 3])

    def test_updated_weights_are_used(self):
        rng = np.random.default_rng(28)
        inputs, attributes = weights(rng, 40, 3, 4, 32)
        a = rng.standard_normal((2, 40)).astype(np.float32)
        variables = {name: tf.Variable(value) for name, value in inputs.items()}
        function = tf.function(lambda: tfq.matmul_nbits(a, **variables, **attributes))
        for name in ("b", "scales", "b"):
            new = weights(rng, 40, 3, 4, 32)[0][name]
            variables[name].assign(new)
            inputs[name] = new
            want = tfq.matmul_nbits(a, **inputs, **attributes)
            np.testing.assert_array_equal(function(), want)

    @parameterized.named_parameters(
        ("static", [2, 5, 40], [2, 5, 3]),
        ("vector", [40], [3]),
        ("rows", [None, 40], [None, 3]),
        ("depth", [2, None], [2, 3]),
        ("rank", None, None),
    )
    def test_static_shapes(self, a, want):
        function = tf.function(
            lambda a, b, s: tfq.matmul_nbits(a, b, s, k=40, n=3)
        ).get_concrete_function(
            tf.TensorSpec(a), tf.TensorSpec(None, tf.uint8), tf.TensorSpec([None, 2]))  # fmt: skip
        shape = function.output_shapes
        self.assertEqual(None if shape.rank is None else shape.as_list(), want)

    @parameterized.named_parameters(
        ("k", {"k": 41}, r"a must have a last dimension of k. Received: .* \[2,40\], k=41"),
        ("bits", {"bits": 3}, r"bits must be 2, 4 or 8. Received: 3"),
        ("block", {"block_size": 24}, r"block_size must be a power of two.* Received: 24"),
        ("b", {"n": 4}, r"b must be of shape \[4,2,16\] .*Received: shape \[3,2,16\]"),
        ("scales", {"scales": np.ones([2, 3], np.float32)}, r"scales must be of shape \[3,2\] or"),
        ("zeros", {"zero_points": np.zeros([4], np.uint8)}, r"zero_points must be of .* \[4\]"),
        ("type", {"zero_points": np.zeros([3, 2], np.float16)}, r"zero_points must be uint8 or of"
         " the type of scales, float. Received: half"),
        ("g_idx", {"g_idx": [0, 1]}, r"g_idx must be of shape \[40\] or \[64\].*shape \[2\]"),
        ("bias", {"bias": [1.0]}, r"bias must be of shape \[n\]. Received: shape \[1\], n=3"),
    )  # fmt: skip
    def test_errors(self, change, message):
        inputs, attributes = weights(np.random.default_rng(29), 40, 3, 4, 32)
        args = {"a": np.ones([2, 40], np.float32), **inputs, **attributes, **change}
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.matmul_nbits(**args)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.matmul_nbits(**args)).get_concrete_function()

    @parameterized.parameters(2, -1)
    def test_a_g_idx_that_names_no_block(self, block):
        inputs, attributes = weights(np.random.default_rng(30), 40, 3, 4, 32)
        g_idx = np.zeros(40, np.int32)
        g_idx[7] = block
        message = rf"g_idx must be in \[0, 1\]. Received: {block} at 7"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.matmul_nbits(tf.ones([1, 40]), **inputs, g_idx=g_idx, **attributes)


PACKED = [(np.dtype(np.uint8), bits) for bits in (2, 4, 8)]
ELEMENTS = [(np.dtype(name), 4) for name in ("int4", "uint4", *contract.FLOATS)]


def table(rng, dtype, bits, gather_axis, quantize_axis, zero_points, scale_dtype=np.float32):
    """A random table of two or three dimensions, its scales and its zero points."""
    shape = [int(rng.integers(1, 9)) for _ in range(int(rng.integers(2, 4)))]
    shape[quantize_axis] = 8 * int(rng.integers(1, 9))
    data = rng.integers(0, 256, shape).astype(np.uint8)
    packed = dtype == np.uint8
    if packed:
        logical = [*shape[:-1], shape[-1] * 8 // bits]
    else:
        codes = contract.all_codes(dtype)
        codes = codes[np.isfinite(codes.astype(np.float32))]
        data, logical = codes[data % len(codes)], shape
    scale_shape = list(logical)
    scale_shape[quantize_axis] = -(-logical[quantize_axis] // 16)
    args = {"data": data, "scales": rng.uniform(-1, 1, scale_shape).astype(scale_dtype)}
    if zero_points:
        zero_shape = [*scale_shape[:-1], -(-scale_shape[-1] * bits // 8)] if packed else scale_shape
        zeros = rng.integers(0, 256, zero_shape).astype(np.uint8)
        args["zero_points"] = zeros if packed else contract.all_codes(dtype)[zeros % 16]
    low = logical[gather_axis]
    args["indices"] = rng.integers(-low, low, (2, 3)).astype(rng.choice([np.int32, np.int64]))
    return args, {"gather_axis": gather_axis, "quantize_axis": quantize_axis, "block_size": 16,
                  "bits": bits}  # fmt: skip


def onnxruntime_gather(args, attributes):
    names = ["data", "indices", "scales", "zero_points"]
    constants = {name: args[name] for name in names if name in args and name != "indices"}
    node = graphs.node(
        "GatherBlockQuantized", names[: 3 + ("zero_points" in args)], domain="com.microsoft",
        **attributes)  # fmt: skip
    indices = args["indices"]
    inputs = {"indices": (indices.dtype, indices.shape)}
    return graphs.run_exactly(graphs.model([node], inputs, "y", constants, 23, True), indices)[0]


class GatherBlockQuantizedTest(parameterized.TestCase):
    @parameterized.product(kind=PACKED + ELEMENTS, dtype=[np.float32, np.float16, "bfloat16"])
    def test_values(self, kind, dtype):
        rng = np.random.default_rng(31)
        packed = kind[0] == np.uint8
        for _ in range(8):
            axes = (0, 1) if packed else (int(rng.integers(-2, 2)), int(rng.integers(-2, 2)))
            zero_points = kind[0] not in contract.FLOATS.values() and bool(rng.integers(2))
            args, attributes = table(rng, *kind, *axes, zero_points, np.dtype(dtype))
            want = contract_nbits.gather_block_quantized(**args, **attributes)
            for function in (tfq.gather_block_quantized, tf.function(tfq.gather_block_quantized)):
                got = function(**{k: tf.constant(v) for k, v in args.items()}, **attributes)
                self.assertEqual(got.dtype, want.dtype)
                np.testing.assert_array_equal(got, want)

    @parameterized.product(kind=PACKED + ELEMENTS[:2], zero_points=[False, True])
    def test_as_onnxruntime(self, kind, zero_points):
        rng = np.random.default_rng(32)
        for dtype in (np.float32, np.float16):
            args, attributes = table(rng, *kind, 0, -1, zero_points, dtype)
            got = tfq.gather_block_quantized(**args, **attributes)
            np.testing.assert_array_equal(got, onnxruntime_gather(args, attributes))

    def test_one_scale_for_a_table_of_floats(self):
        data = contract.all_codes(np.dtype("float4_e2m1fn")).reshape(2, 8)
        got = tfq.gather_block_quantized(data, [1], [[2.0]], block_size=0)
        np.testing.assert_array_equal(got, 2 * data[1:].astype(np.float32))

    def test_nothing_gathered(self):
        data, scales = tf.zeros([4, 8], tf.uint8), tf.ones([4, 1])
        none = tf.zeros([0, 2], tf.int64)
        y = tfq.gather_block_quantized(data, none, scales, block_size=16)
        self.assertEqual(y.shape, [0, 2, 16])

    @parameterized.parameters(4, -5, 2**31 - 1, -(2**31))
    def test_an_index_out_of_range(self, index):  # Zeros in ONNX Runtime.
        data, scales = tf.zeros([4, 8], tf.uint8), tf.ones([4, 1])
        message = rf"indices must be in \[-4, 3\]. Received: {index} at 1"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.gather_block_quantized(data, [0, index], scales, block_size=16)

    @parameterized.named_parameters(
        ("static", [9, 20], [2, 3], [9, 3], [2, 3, 40]),
        ("indices", [9, 20], None, [9, 3], None),
        ("one_index", [9, 20], [None], None, [None, 40]),
        ("table", [None, None], [5], [9, 3], [5, None]),
        ("rank", None, [5], [9, 3], None),
    )
    def test_static_shapes(self, data, indices, scales, want):
        function = tf.function(
            lambda d, i, s: tfq.gather_block_quantized(d, i, s, block_size=16)
        ).get_concrete_function(tf.TensorSpec(data, tf.uint8), tf.TensorSpec(indices, tf.int32),
                                tf.TensorSpec(scales))  # fmt: skip
        shape = function.output_shapes
        self.assertEqual(None if shape.rank is None else shape.as_list(), want)

    @parameterized.named_parameters(
        ("axis", {"gather_axis": 1}, r"gather_axis must be 0, .*Received: gather_axis=1, quant"),
        ("quantize", {"quantize_axis": 2}, r"quantize_axis must be in \[-2, 1\].* Received: 2"),
        ("bits", {"bits": 5}, r"bits must be 2, 4 or 8. Received: 5"),
        ("block", {"block_size": 0}, r"block_size must be a power of two of at least 16. Rec.* 0"),
        ("scales", {"bits": 2}, r"scales must have the shape of data with ceil.*Received: scales"),
        ("zeros", {"zero_points": np.zeros([4, 2], np.uint8)}, r"zero_points must have the shape "),
        ("int8", {"data": np.zeros([4, 8], np.int8)}, r"data must be uint8, int4, .*: int8"),
        ("int4", {"data": np.zeros([4, 16], "int4"), "bits": 8}, r"bits must be 4 where data is"),
        ("float8", {"data": np.zeros([4, 16], "float8_e5m2"),
                    "zero_points": np.zeros([4, 1], "float8_e5m2")},
         r"zero_points must be left out where data is float8 or float4. Received: shape \[4,1\]"),
    )  # fmt: skip
    def test_errors(self, change, message):
        args = {"data": np.zeros([4, 8], np.uint8), "indices": [0], "block_size": 16,
                "scales": np.ones([4, 1], np.float32), **change}  # fmt: skip
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tfq.gather_block_quantized(**args)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda: tfq.gather_block_quantized(**args)).get_concrete_function()


if __name__ == "__main__":
    absltest.main()
