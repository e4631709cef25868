"""com.microsoft's QuantizeLinear and DequantizeLinear: those of ONNX for 16 and 4 bits too."""

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs

DTYPES = ("int8", "uint8", "int16", "uint16", "int4", "uint4")


def parameters(rng, dtype, granularity):
    """Scale and zero point of x [3, 8], and the attributes."""
    shape, attributes = {
        "tensor": ((), {}),
        "axis": ((8,), {"axis": 1}),
    }[granularity]
    scale = rng.uniform(0.1, 1, shape).astype(np.float32)
    return scale, np.asarray(rng.integers(0, 7, shape)).astype(dtype), attributes


class MicrosoftLinearTest(parameterized.TestCase):
    @parameterized.product(dtype=DTYPES, granularity=["tensor", "axis"])
    def test_as_onnxruntime(self, dtype, granularity):
        rng = np.random.default_rng(1)
        scale, zero_point, attributes = parameters(rng, dtype, granularity)
        constants = {"scale": scale, "zero_point": zero_point}
        nodes = [
            graphs.node(op_type, [x, *constants], [y], domain="com.microsoft", **attributes)
            for op_type, x, y in (("QuantizeLinear", "x", "q"), ("DequantizeLinear", "q", "y"))
        ]
        proto = graphs.model(nodes, {"x": ("float32", [3, 8])}, ["y"], constants, microsoft=True)
        x = rng.normal(scale=30, size=(3, 8)).astype(np.float32)
        (want,) = graphs.run_exactly(proto, x)
        np.testing.assert_array_equal(tfq.onnx.import_model(proto)(x), want)

    @parameterized.parameters(*DTYPES)
    def test_without_a_zero_point(self, dtype):
        codes = np.arange(8).astype(dtype)
        constants = {"codes": codes, "scale": np.float32(0.5)}
        nodes = [
            graphs.node("DequantizeLinear", list(constants), ["d"], domain="com.microsoft"),
            graphs.node("Add", ["x", "d"]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", [8])}, ["y"], constants, microsoft=True)
        got = tfq.onnx.import_model(proto)(np.zeros(8, np.float32))
        np.testing.assert_array_equal(got, np.arange(8, dtype=np.float32) / 2)


if __name__ == "__main__":
    absltest.main()
