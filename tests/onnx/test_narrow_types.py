"""4- and 2-bit types, float8, float6 and float4 in files: constants, inputs and between nodes."""

import pathlib
import tempfile

import keras
import ml_dtypes
import numpy as np
from absl.testing import absltest, parameterized
from onnx import TensorProto, helper

import tf_qops as tfq
from tests import contract
from tests.onnx import graphs

INTEGERS = ("int4", "uint4", "int2", "uint2")
FLOATS = (*contract.FLOATS, "float6_e2m3fn", "float6_e3m2fn")


def float32(values):
    return np.asarray(values).astype(np.float32)


def constants_of(proto):
    return {t.name: graphs.numpy_helper.to_array(t) for t in proto.graph.initializer}


def dequantized(w, s, z=None, block_size=0):
    """The weight of `graphs.weight_only`, without arithmetic of narrow types."""
    if block_size:
        s, z = (np.repeat(a, block_size, axis=0)[: len(w)] for a in (s, float32(z)))
    return (float32(w) - (0 if z is None else float32(z))) * s


class ConstantsTest(parameterized.TestCase):
    @parameterized.product(dtype=(*INTEGERS, *FLOATS), with_zero_point=(True, False))
    def test_weights_by_column(self, dtype, with_zero_point):
        proto = graphs.weight_only(dtype, zero_point=with_zero_point)
        imported = tfq.onnx.import_model(proto)
        np.testing.assert_array_equal(
            imported(np.eye(8, dtype=np.float32)), dequantized(**constants_of(proto))
        )

    @parameterized.parameters(("int4", 4), ("uint4", 3), ("int2", 8), ("float8_e4m3fn", 2))
    def test_weights_in_blocks(self, dtype, block_size):
        proto = graphs.weight_only(dtype, block_size)
        imported = tfq.onnx.import_model(proto)
        wanted = dequantized(**constants_of(proto), block_size=block_size)
        np.testing.assert_array_equal(imported(np.eye(8, dtype=np.float32)), wanted)

    def test_weights_stay_packed_in_a_keras_file(self):
        proto = graphs.weight_only("int4", 32, inputs=512, outputs=257)
        imported = tfq.onnx.import_model(proto)
        packed = next(w for w in imported.weights if w.shape == (512 * 257 // 2,))
        self.assertEqual(packed.dtype, "uint8")
        self.assertEqual(packed.numpy().tobytes(), proto.graph.initializer[0].raw_data)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.keras"
            imported.save(path)
            self.assertLess(path.stat().st_size, proto.ByteSize() + 30_000)
            reloaded = keras.models.load_model(path)
        x = np.random.default_rng(1).normal(size=(3, 512)).astype(np.float32)
        np.testing.assert_array_equal(reloaded(x), imported(x))

    @parameterized.parameters((np.float32, 2.0), (np.float16, 0.25))
    def test_float8_e8m0_scales(self, dtype, scale):
        constants = {"w": np.int8([[-3, 5]]), "s": np.array(scale, "float8_e8m0fnu")}
        output_dtype = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        nodes = [
            graphs.node("DequantizeLinear", ["w", "s"], ["d"], output_dtype=output_dtype),
            graphs.node("Gemm", ["x", "d"], transB=1),
        ]
        proto = graphs.model(nodes, {"x": (dtype, [1, 2])}, "y", constants, opset=25)
        y = tfq.onnx.import_model(proto)(np.ones((1, 2), dtype))
        np.testing.assert_array_equal(y, [[(-3 + 5) * scale]])

    @parameterized.parameters(*INTEGERS, *FLOATS)
    def test_load_weights_dequantizes_them(self, dtype):
        proto = graphs.weight_only(dtype)
        constants = constants_of(proto)
        weight = tfq.onnx.load_weights(proto)["w"]
        np.testing.assert_array_equal(float32(weight.values), float32(constants["w"]))
        np.testing.assert_array_equal(weight.dequantize(), dequantized(**constants))
        if "float6" not in dtype:
            self.assertEqual(weight.values.dtype, dtype)


class BetweenNodesTest(parameterized.TestCase):
    @parameterized.parameters(*INTEGERS, *contract.FLOATS)
    def test_quantize_and_dequantize(self, dtype):
        x = np.linspace(-5, 9, 57).astype(np.float32)
        constants = {"s": np.float32(0.5), "z": np.zeros((), dtype)}
        nodes = [
            graphs.node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            graphs.node("DequantizeLinear", ["q", "s", "z"], ["y"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [None])}, ["q", "y"], constants, opset=25)
        imported = tfq.onnx.import_model(proto)
        q, y = imported(x)
        codes = contract.quantize_linear(x, *constants.values())
        np.testing.assert_array_equal(float32(q.numpy()), float32(codes))
        np.testing.assert_array_equal(y, float32(codes) * np.float32(0.5))

    @parameterized.parameters(*INTEGERS, "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2")
    def test_inputs_are_taken_in_the_type_that_carries_them(self, dtype):
        x = contract.all_codes(np.dtype(dtype))
        nodes = [graphs.node("DequantizeLinear", ["x", "s"])]
        inputs, constants = {"x": (dtype, [None])}, {"s": np.float32(0.5)}
        imported = tfq.onnx.import_model(graphs.model(nodes, inputs, "y", constants, opset=25))
        self.assertIn(imported.inputs[0].dtype, ("int8", "uint8", "float8_e4m3fn", "float8_e5m2"))
        wanted = float32(x) * np.float32(0.5)
        np.testing.assert_array_equal(imported(x.astype(imported.inputs[0].dtype)), wanted)
        if "int2" not in dtype:  # which TensorFlow cannot cast
            np.testing.assert_array_equal(imported(x), wanted)

    @parameterized.parameters("Identity", "Transpose", "Neg")
    def test_the_type_of_a_computed_zero_point_is_followed(self, op_type):
        nodes = [
            graphs.node(op_type, ["z"], ["t"]),
            graphs.node("QuantizeLinear", ["x", "s", "t"], ["q"]),
            graphs.node("CastLike", ["x", "t"], ["c"]),
        ]
        inputs = {"x": ("float32", [4]), "z": ("int4", [])}
        proto = graphs.model(nodes, inputs, ["q", "c"], {"s": np.float32(1)}, opset=25)
        x, z = np.array([-99, -2.5, 2.7, 99], np.float32), np.zeros((), np.int8)
        q, c = tfq.onnx.import_model(proto)([x, z])
        self.assertEqual(q.numpy().tolist(), [-8, -2, 3, 7])
        self.assertEqual(c.numpy()[1:3].tolist(), [-2, 2])  # others are out of range

    def test_casts_keep_the_low_bits_of_integers(self):
        nodes = [graphs.node("Cast", ["x"], [d], to=t) for d, t in (("i", 22), ("u", 25))]
        proto = graphs.model(nodes, {"x": ("int32", [4])}, ["i", "u"], opset=25)
        i, u = tfq.onnx.import_model(proto)(np.array([200, -1, 8, 7], np.int32))
        self.assertEqual(i.numpy().tolist(), [-8, -1, -8, 7])
        self.assertEqual(u.numpy().tolist(), [0, 3, 0, 3])

    def test_a_type_that_the_attribute_names(self):
        attributes = {"output_dtype": TensorProto.UINT4}
        quantize = graphs.node("QuantizeLinear", ["x", "s"], **attributes)
        inputs, constants = {"x": ("float32", [3])}, {"s": np.float32(1)}
        imported = tfq.onnx.import_model(graphs.model([quantize], inputs, "y", constants))
        y = imported(np.array([-1, 7.5, 99], np.float32))
        self.assertEqual((y.dtype, y.numpy().tolist()), ("uint8", [0, 8, 15]))


class ReadingTest(parameterized.TestCase):
    @parameterized.parameters("float6_e2m3fn", "float6_e3m2fn", "float8_e8m0fnu")
    def test_types_that_tensorflow_lacks_keep_every_value(self, dtype):
        codes = np.arange(2 ** ml_dtypes.finfo(dtype).bits).astype(np.uint8).view(dtype)
        nodes = [graphs.node("Relu", ["x"], ["a"])]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, ["a", "c"], {"c": codes}, opset=25)
        _, c = tfq.onnx.import_model(proto)(np.zeros(1, np.float32))
        np.testing.assert_array_equal(float32(c.numpy()), float32(codes))


if __name__ == "__main__":
    absltest.main()
