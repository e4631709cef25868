"""MatMulNBits, GatherBlockQuantized and DynamicQuantizeLSTM as one-node models."""

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_lstm, contract_nbits
from tests.onnx import graphs


def imported(op_type, names, given, inputs, outputs=("y",), **attributes):
    """A model of one node whose operands are constants but for those in `inputs`."""
    constants = {n: v for n, v in given.items() if v is not None and n not in inputs}
    names = [n if given.get(n) is not None else "" for n in names]
    node = graphs.node(op_type, names, outputs, domain="com.microsoft", **attributes)
    infos = {n: (given[n].dtype, [None] * given[n].ndim) for n in inputs}
    return tfq.onnx.import_model(graphs.model([node], infos, outputs, constants, microsoft=True))


class MicrosoftWeightsTest(parameterized.TestCase):
    @parameterized.product(bits=[2, 4, 8], zero_points=[None, "packed", "float"])
    def test_matmul_nbits(self, bits, zero_points):
        rng = np.random.default_rng(bits)
        weights, attributes = contract_nbits.weights(rng, 40, 6, bits, 16, zero_points, bits == 4)
        a = rng.normal(size=(2, 3, 40)).astype(np.float32)
        given = {"a": a, "bias": rng.normal(size=6).astype(np.float32)} | weights
        names = ("a", "b", "scales", "zero_points", "g_idx", "bias")
        model = imported("MatMulNBits", names, given, ["a"], K=40, N=6, bits=bits, block_size=16)
        np.testing.assert_array_equal(model(a), tfq.matmul_nbits(**given, **attributes))

    @parameterized.parameters("int32", "int64")
    def test_gather_block_quantized(self, dtype):
        rng = np.random.default_rng(4)
        given = {
            "data": rng.integers(0, 256, (9, 16), np.uint8),
            "indices": np.array([[0, 8], [3, -1]], dtype),
            "scales": rng.uniform(0.1, 1, (9, 2)).astype(np.float32),
        }
        names = ("data", "indices", "scales")
        model = imported("GatherBlockQuantized", names, given, ["indices"], block_size=16)
        want = tfq.gather_block_quantized(**given, block_size=16)
        np.testing.assert_array_equal(model(given["indices"]), want)

    @parameterized.parameters([["x"]], [["x", "initial_c", "initial_h"]])
    def test_dynamic_quantize_lstm(self, inputs):
        given, attributes = contract_lstm.case(
            np.random.default_rng(5), direction="bidirectional", dtypes=["uint8", "int8"]
        )
        activations = ["sigmoid", "Scaledtanh", "Tanh"] * 2
        outputs = ("y", "y_h", "y_c")
        model = imported(
            "DynamicQuantizeLSTM", contract_lstm.INPUTS, given, inputs, outputs,
            activations=activations, activation_alpha=[0.5], activation_beta=[2.0], **attributes,
        )  # fmt: skip
        got = model([given[n] for n in inputs] if len(inputs) > 1 else given["x"])
        wanted = tfq.dynamic_quantize_lstm(
            **given, **attributes, activations=["Sigmoid", "ScaledTanh", "Tanh"] * 2,
            activation_alpha=[0.5], activation_beta=[2.0],
        )  # fmt: skip
        for one, want in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, want)

    def test_computed_weights_are_refused_by_name(self):
        rng = np.random.default_rng(6)
        weights, _ = contract_nbits.weights(rng, 40, 6, 4, 16)
        given = {"a": rng.normal(size=(3, 40)).astype(np.float32)} | weights
        names = ("a", "b", "scales")
        with self.assertRaisesRegex(tfq.onnx.UnsupportedOperatorsError, r"constants.*\(scales\)"):
            imported("MatMulNBits", names, given, ["a", "scales"], K=40, N=6, bits=4, block_size=16)


if __name__ == "__main__":
    absltest.main()
