"""Types that Keras lacks: how they are packed, carried between layers and brought back."""

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from onnx import numpy_helper

import tf_qops as tfq
from tests import contract
from tf_qops.layers import narrow

INTEGERS = ("int2", "uint2", "int4", "uint4")
TYPES = (*INTEGERS, *contract.FLOATS)


def all_codes(dtype):
    return contract.all_codes(np.dtype(dtype))


def assert_same_values(result, wanted):
    """Equal as float32, with the signs of zeros; NaN equals NaN."""
    result = np.asarray(result.numpy() if tf.is_tensor(result) else result).astype(np.float32)
    wanted = wanted.astype(np.float32)
    np.testing.assert_array_equal(result, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(result)[numbers], np.signbit(wanted)[numbers])


class PackingTest(parameterized.TestCase):
    @parameterized.product(dtype=TYPES, left_out=(0, 1, 3))
    def test_bits_lie_as_onnx_packs_them(self, dtype, left_out):
        codes = all_codes(dtype)
        codes = codes[: len(codes) - left_out]
        packed = narrow.pack(codes)
        self.assertEqual(packed.dtype, np.uint8)
        self.assertEqual(packed.tobytes(), numpy_helper.from_array(codes).raw_data)

    def test_odd_counts_fill_the_lowest_bits(self):
        self.assertEqual(narrow.pack(np.array([1, -2, -8], "int4")).tolist(), [0xE1, 0x08])
        self.assertEqual(narrow.pack(np.array([1, 2, 3, 0, 2], "uint2")).tolist(), [0x39, 0x02])
        self.assertEqual(narrow.pack(np.array(1.5, "float4_e2m1fn")).tolist(), [0x03])

    @parameterized.product(dtype=TYPES, left_out=(0, 1, 2), xla=(False, True))
    def test_every_code_comes_back(self, dtype, left_out, xla):
        codes = all_codes(dtype)
        codes = codes[: len(codes) - left_out][:, np.newaxis]
        unpack = tf.function(narrow.unpack, jit_compile=xla, autograph=False)
        values = unpack(narrow.pack(codes), dtype, codes.shape)
        self.assertEqual(values.dtype, narrow.carrier(dtype))
        assert_same_values(values, codes)

    @parameterized.parameters(*TYPES)
    def test_empty_arrays_and_scalars(self, dtype):
        for shape in ((0,), (3, 0, 2), ()):
            values = np.ones(shape, dtype)
            assert_same_values(narrow.unpack(narrow.pack(values), dtype, shape), values)


class CarryingTest(parameterized.TestCase):
    @parameterized.parameters(*TYPES)
    def test_a_carrier_holds_every_code(self, dtype):
        codes = all_codes(dtype)
        carried = narrow.carried(tf.constant(codes))
        self.assertEqual(carried.dtype, narrow.carrier(dtype))
        assert_same_values(carried, codes)
        restored = narrow.restored(carried, dtype)
        self.assertEqual(restored.dtype, dtype)
        assert_same_values(restored, codes)

    @parameterized.parameters("float6_e2m3fn", "float6_e3m2fn", "float8_e8m0fnu")
    def test_types_that_tensorflow_lacks_have_a_carrier_too(self, dtype):
        codes = np.arange(2 ** ml_dtypes.finfo(dtype).bits).astype(np.uint8).view(dtype)
        assert_same_values(codes.astype(narrow.carrier(dtype)), codes)

    @parameterized.parameters("qint8", "quint8", "qint16", "quint16", "qint32")
    def test_quantized_types_are_carried_by_plain_integers(self, dtype):
        plain = narrow.carrier(dtype)
        self.assertEqual(f"q{plain}", dtype)
        values = np.array([np.iinfo(plain).min, 0, 1, np.iinfo(plain).max], plain)
        np.testing.assert_array_equal(narrow.carried(tf.bitcast(values, dtype)), values)

    def test_everything_else_stays_as_it_is(self):
        for value in (None, 1.5, [1, 2], np.float32([1]), tf.constant([1], tf.int8)):
            self.assertIs(narrow.carried(value), value)


class LayersTest(parameterized.TestCase):
    @parameterized.product(dtype=TYPES, with_zero_point=(False, True))
    def test_dequantizing_every_code(self, dtype, with_zero_point):
        codes = all_codes(dtype)
        zero_point = np.ones((), dtype) if with_zero_point or "uz" in dtype else None
        layer = tfq.layers.DequantizeLinear(0.25, zero_point)
        wanted = contract.dequantize_linear(codes, np.float32(0.25), zero_point)
        for x in (codes, tf.constant(codes), narrow.carried(codes)):
            np.testing.assert_array_equal(layer(x), wanted)
        if with_zero_point:
            self.assertEqual((layer.zero_point.dtype, layer.zero_point.shape), ("uint8", (1,)))

    @parameterized.parameters(*TYPES)
    def test_quantizing_gives_the_values_in_their_carrier(self, dtype):
        x = np.concatenate([np.linspace(-9, 17, 105), [np.inf, -np.inf]]).astype(np.float32)
        zero_point = np.ones((), dtype) if dtype in INTEGERS else np.zeros((), dtype)
        wanted = contract.quantize_linear(x, np.float32(0.5), zero_point)
        for given in (zero_point, None) if not zero_point else (zero_point,):
            y = tfq.layers.QuantizeLinear(0.5, given, output_dtype=dtype)(x)
            self.assertEqual(y.dtype, narrow.carrier(dtype))
            assert_same_values(y, wanted)

    @parameterized.parameters(*TYPES)
    def test_constants_of_one_scale_for_each_row_compiled_by_xla(self, dtype):
        codes = np.stack([all_codes(dtype)[:15], all_codes(dtype)[-15:]][: 1 + ("2" not in dtype)])
        scale = np.linspace(0.5, 2, len(codes)).astype(np.float32)
        constant = tfq.layers.Constant(codes.shape, dtype)
        constant.build(None)
        constant.assign(value=codes)
        layer = tfq.layers.DequantizeLinear(scale, np.zeros(len(scale), dtype), axis=0)
        wanted = contract.dequantize_linear(codes, scale, axis=0)
        np.testing.assert_array_equal(layer(constant(tf.zeros(()))), wanted)
        if tfq.build_info()["xla"]:
            compiled = tf.function(lambda x: layer(constant(x)), jit_compile=True)
            np.testing.assert_array_equal(compiled(tf.zeros(())), wanted)

    @parameterized.parameters(*TYPES)
    def test_quantizing_and_back_compiled_by_xla(self, dtype):
        if not tfq.build_info()["xla"]:
            self.skipTest("no XLA kernels")
        x = np.linspace(-9, 17, 105).astype(np.float32)
        zero_point = np.zeros((), dtype)
        quantize = tfq.layers.QuantizeLinear(0.5, zero_point, output_dtype=dtype)
        dequantize = tfq.layers.DequantizeLinear(0.5, zero_point)
        wanted = dequantize(quantize(x))
        compiled = tf.function(lambda x: dequantize(quantize(x)), jit_compile=True)
        np.testing.assert_array_equal(compiled(x), wanted)

    def test_python_zero_points_are_packed_too(self):
        layer = tfq.layers.QuantizeLinear([0.5, 0.5], [-3, 2], output_dtype="int4")
        np.testing.assert_array_equal(layer(np.zeros((1, 2), np.float32)), [[-3, 2]])
        self.assertEqual(layer.zero_point.numpy().tolist(), [0x2D])
        config = layer.get_config()["zero_point"]
        self.assertEqual(config, {"dtype": "int4", "value": [-3, 2]})

    def test_float32_codes_need_a_zero_point_that_tells_their_type(self):
        for zero_point, dtype in ((None, None), (3, "float32"), (np.int8(3), "int8")):
            with self.assertRaisesRegex(ValueError, f"x of float32, zero_point of {dtype}"):
                tfq.layers.DequantizeLinear(1.0, zero_point)(np.zeros(2, np.float32))

    def test_assigning_another_type_or_shape_is_refused(self):
        layer = tfq.layers.Constant((3,), "int4")
        layer.build(None)
        for wrong in (np.zeros(3, np.int8), np.zeros(2, "int4"), np.zeros((), "int4")):
            with self.assertRaisesRegex(ValueError, r"must be int4 of shape \[3\]. Received: "):
                layer.assign(value=wrong)


if __name__ == "__main__":
    absltest.main()
