"""Q/DQ pairs around float operators become integer operators, exactly or not at all."""

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, contract_bytes
from tests.contract_bytes import codes
from tests.onnx import qdq

X = (np.float32(0.05), np.uint8(120))
W_ZERO = np.int8(0)
Y = (np.float32(0.7), np.uint8(30))


def imported(graph, *outputs, **options):
    model = tfq.onnx.import_model(graph.model(*outputs), **options)
    return model, [entry.into for entry in model.import_report.fused]


def reasons(model):
    return {entry.op_type: entry.reason for entry in model.import_report.stayed_float}


def products(x, w_scale, bias, zero):
    """Codes of integer sums of the differences x, scaled as QLinearMatMul and QGemm have it."""
    scale = (X[0] * w_scale) / Y[0]
    sums = x + (0 if bias is None else bias)
    return contract_bytes.round_then_add(sums.astype(np.float32) * scale, zero)


class ProductsTest(parameterized.TestCase):
    def conv(self, rng, limits=(), bias="exact", y=Y, **attributes):
        """A convolution's graph, its input, and the codes that exact integers give."""
        graph = qdq.Builder()
        x, w = codes(rng, np.uint8, (2, 4, 9, 8)), codes(rng, np.int8, (6, 4, 3, 3))
        w_scale = rng.uniform(0.01, 0.05, 6).astype(np.float32)
        b = rng.integers(-3000, 3000, 6).astype(np.int32)
        inputs = [graph.dq(graph.codes("x", x), *X)]
        inputs.append(graph.dq(graph.constant("w", w), w_scale, np.zeros(6, np.int8), axis=0))
        if bias == "exact":
            inputs.append(graph.dq(graph.constant("b", b), X[0] * w_scale, np.zeros(6, np.int32),
                                   axis=0))  # fmt: skip
        elif bias == "float":
            inputs.append(graph.constant("b", b.astype(np.float32) * (X[0] * w_scale)))
        name = graph.op("Conv", inputs, "c", **attributes)
        for i, (op_type, *bounds) in enumerate(limits):
            constants = [graph.constant(f"l{i}_{j}", np.float32(v)) for j, v in enumerate(bounds)]
            name = graph.op(op_type, [name, *constants], f"l{i}")
        graph.q(name, *y)
        want = contract.qlinear_conv(
            x, *X, w, w_scale, W_ZERO, *y, b if bias else None,
            **{"strides": [1, 1], "dilations": [1, 1], "pads": [0] * 4, "group": 1} | attributes,
        )  # fmt: skip
        return graph, f"{name}_q", x, want

    @parameterized.product(bias=["exact", "float", None], pads=[[0] * 4, [1, 2, 0, 1]])
    def test_convolutions_are_exact(self, bias, pads):
        graph, output, x, want = self.conv(np.random.default_rng(1), bias=bias, pads=pads)
        model, fused = imported(graph, output)
        self.assertEqual(fused, ["QLinearConv"])
        self.assertEmpty(model.import_report.stayed_float)
        np.testing.assert_array_equal(model(x), want)

    @parameterized.parameters(
        ([("Relu",)], 0.0, np.inf),
        ([("Clip", 0.0, 6.0)], 0.0, 6.0),
        ([("Clip", -1.3, 2.2)], -1.3, 2.2),
        ([("Relu",), ("Clip", -5.0, 4.4)], 0.0, 4.4),
    )
    def test_limits_become_limits_of_codes(self, limits, low, high):
        for y in (Y, (np.float32(0.7), np.uint8(0)), (np.float32(0.7), np.int8(-100))):
            graph, output, x, want = self.conv(np.random.default_rng(2), limits, y=y)
            model, fused = imported(graph, output)
            self.assertEqual(fused, ["QLinearConv"])
            bounds = contract_bytes.round_then_add(np.float32([low, high]) / y[0], y[1])
            np.testing.assert_array_equal(model(x), np.clip(want, *bounds))

    def test_a_bias_of_another_scale_is_added_to_scaled_sums(self):
        # microsoft/onnxruntime/issues/24711: 10 * 2 * 0.01 + 100 * 0.05 = 5.2, not 1.2.
        graph = qdq.Builder()
        x = np.full((1, 1, 1, 1), 10, np.int8)
        tenth, zero = np.float32(0.1), np.int8(0)
        inputs = [
            graph.dq(graph.codes("x", x), tenth, zero),
            graph.dq(graph.constant("w", np.full((1, 1, 1, 1), 2, np.int8)), tenth, zero),
            graph.dq(graph.constant("b", np.int32([100])), np.float32(0.05), np.int32(0)),
        ]
        graph.q(graph.op("Conv", inputs, "c"), tenth, zero)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, ["ConvInteger"])
        self.assertEqual(model(x), 52)

    def matmul_operands(self, rng, per_column=True):
        a, b = codes(rng, np.uint8, (3, 5, 7)), codes(rng, np.int8, (7, 6))
        scale = rng.uniform(0.01, 0.05, 6 if per_column else ()).astype(np.float32)
        exact = (a.astype(np.int64) - int(X[1])) @ b.astype(np.int64)
        return a, b, scale, np.zeros(scale.shape, np.int8), exact

    @parameterized.parameters(True, False)
    def test_matmul(self, per_column):
        a, b, scale, zero, exact = self.matmul_operands(np.random.default_rng(3), per_column)
        graph = qdq.Builder()
        inputs = [graph.dq(graph.codes("a", a), *X)]
        inputs.append(graph.dq(graph.constant("b", b), scale, zero))
        graph.q(graph.op("MatMul", inputs, "c"), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, ["QLinearMatMul"])
        np.testing.assert_array_equal(model(a), products(exact, scale, None, Y[1]))

    def test_matmul_of_two_activations(self):
        a, b, _, _, exact = self.matmul_operands(np.random.default_rng(4))
        graph = qdq.Builder()
        scale = np.float32(0.03)
        inputs = [graph.dq(graph.codes("a", a), *X), graph.dq(graph.codes("b", b), scale, W_ZERO)]
        graph.q(graph.op("MatMul", inputs, "c"), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, ["QLinearMatMul"])
        np.testing.assert_array_equal(model([a, b]), products(exact, scale, None, Y[1]))

    @parameterized.product(trans_b=[0, 1], bias=[True, False], transposed=[False, True])
    def test_gemm(self, trans_b, bias, transposed):
        a, b, scale, zero, exact = self.matmul_operands(np.random.default_rng(5))
        a, exact = a[0], exact[0]
        term = np.arange(-300, 300, 100).astype(np.int32)
        graph = qdq.Builder()
        stored = b.T if trans_b != transposed else b
        inputs = [graph.dq(graph.codes("a", a), *X)]
        axis = 0 if trans_b != transposed else 1
        name = graph.dq(graph.constant("b", stored), scale, zero, axis=axis)
        inputs.append(graph.op("Transpose", [name], "t", perm=[1, 0]) if transposed else name)
        if bias:
            inputs.append(graph.dq(graph.constant("bias", term), X[0] * scale,
                                   np.zeros(6, np.int32), axis=0))  # fmt: skip
        graph.q(graph.op("Gemm", inputs, "c", transB=trans_b), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused[-1], "QGemm")
        np.testing.assert_array_equal(
            model(a), products(exact, scale, term if bias else None, Y[1])
        )

    @parameterized.parameters("Conv", "MatMul", "Gemm")
    def test_a_float_result_is_made_of_integer_sums(self, op_type):
        rng = np.random.default_rng(6)
        graph = qdq.Builder()
        shape, w_shape = ((1, 4, 5, 5), (6, 4, 3, 3)) if op_type == "Conv" else ((5, 7), (7, 6))
        x, w = codes(rng, np.uint8, shape), codes(rng, np.int8, w_shape)
        scale, axis = rng.uniform(0.01, 0.05, 6).astype(np.float32), int(op_type != "Conv")
        inputs = [graph.dq(graph.codes("x", x), *X)]
        inputs.append(graph.dq(graph.constant("w", w), scale, np.zeros(6, np.int8), axis=axis))
        if op_type != "MatMul":
            inputs.append(graph.constant("b", rng.normal(size=6).astype(np.float32)))
        graph.op(op_type, inputs, "y")
        model, fused = imported(graph, "y")
        self.assertEqual(fused, ["ConvInteger" if op_type == "Conv" else "MatMulIntegerToFloat"])
        want = tfq.onnx.import_model(graph.model("y"), qdq="keep")(x)
        np.testing.assert_allclose(model(x), want, rtol=1e-5, atol=1e-5)

    def test_weights_of_four_bits_are_widened(self):
        rng = np.random.default_rng(7)
        w = rng.integers(-8, 8, (7, 6)).astype("int4")
        a = codes(rng, np.uint8, (5, 7))
        graph = qdq.Builder()
        inputs = [graph.dq(graph.codes("a", a), *X)]
        inputs.append(graph.dq(graph.constant("b", w), np.float32(0.1), np.array(1, "int4")))
        graph.q(graph.op("MatMul", inputs, "c"), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, ["QLinearMatMul"])
        exact = (a.astype(np.int64) - int(X[1])) @ (w.astype(np.int64) - 1)
        np.testing.assert_array_equal(model(a), products(exact, np.float32(0.1), None, Y[1]))


class ElementwiseTest(parameterized.TestCase):
    @parameterized.product(op_type=["Add", "Mul"], types=[("uint8", "uint8"), ("uint8", "int8")])
    def test_binary(self, op_type, types):
        rng = np.random.default_rng(8)
        a, b = codes(rng, types[0], (2, 3, 4)), codes(rng, types[1], (3, 1))
        parameters = (
            (np.float32(0.02), np.array(7, types[0])),
            (np.float32(0.03), np.array(9, types[1])),
        )
        graph = qdq.Builder()
        inputs = [
            graph.dq(graph.codes(n, v), *p)
            for n, v, p in zip("ab", (a, b), parameters, strict=True)
        ]
        graph.q(graph.op(op_type, inputs, "c"), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, [f"QLinear{op_type}"])
        function = contract_bytes.add if op_type == "Add" else contract_bytes.mul
        np.testing.assert_array_equal(
            model([a, b]), function(a, *parameters[0], b, *parameters[1], *Y)
        )

    @parameterized.parameters(
        ("AveragePool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}),
        ("GlobalAveragePool", {}),
    )
    def test_average_pools(self, op_type, attributes):
        x = codes(np.random.default_rng(9), np.uint8, (2, 3, 6, 5))
        graph = qdq.Builder()
        graph.q(graph.op(op_type, [graph.dq(graph.codes("x", x), *X)], "c", **attributes), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, [f"QLinear{op_type}"])
        kept = tfq.onnx.import_model(graph.model("c_q"), qdq="keep")(x).numpy()
        difference = np.abs(model(x).numpy().astype(int) - kept)
        self.assertLessEqual(difference.max(), 1)
        self.assertLess((difference > 0).mean(), 0.05)

    def test_concat_of_several_scales(self):
        rng = np.random.default_rng(10)
        a, b = codes(rng, np.uint8, (2, 3)), codes(rng, np.uint8, (2, 5))
        graph = qdq.Builder()
        inputs = [graph.dq(graph.codes("a", a), *X), graph.dq(graph.codes("b", b), *Y)]
        graph.q(graph.op("Concat", inputs, "c", axis=1), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEqual(fused, ["QLinearConcat"])
        requantized = contract.quantize_linear(contract.dequantize_linear(a, *X), *Y)
        np.testing.assert_array_equal(model([a, b]), np.concatenate([requantized, b], 1))


MOVES = {
    "Reshape": ("Reshape", {"shape": np.int64([3, -1])}, {}),
    "Transpose": ("Transpose", {}, {"perm": [2, 0, 1]}),
    "Slice": ("Slice", {"starts": np.int64([1]), "ends": np.int64([3]), "axes": np.int64([2])}, {}),
    "Gather": ("Gather", {"indices": np.int64([2, 0])}, {"axis": 2}),
    "Unsqueeze": ("Unsqueeze", {"axes": np.int64([0])}, {}),
    "Flatten": ("Flatten", {}, {}),
    "MaxPool": ("MaxPool", {}, {"kernel_shape": [2], "pads": [1, 0]}),
    "Pad": ("Pad", {"pads": np.int64([0, 1, 0, 0, 0, 2]), "value": np.float32(0)}, {}),
    "Relu": ("Relu", {}, {}),
    "Resize": ("Resize", {"roi": np.float32([]), "scales": np.float32([1, 1, 2])},
               {"mode": "nearest"}),
    "ReduceMax": ("ReduceMax", {"axes": np.int64([2])}, {"keepdims": 0}),
    "Tile": ("Tile", {"repeats": np.int64([1, 2, 1])}, {}),
}  # fmt: skip


class ValuePreservingTest(parameterized.TestCase):
    def graph(self, name, y):
        x = codes(np.random.default_rng(11), np.uint8, (2, 3, 4))
        graph = qdq.Builder()
        op_type, constants, attributes = MOVES[name]
        inputs = [graph.dq(graph.codes("x", x), *X)]
        inputs += [graph.constant(n, v) for n, v in constants.items()]
        graph.q(graph.op(op_type, inputs, "c", **attributes), *y)
        return graph, x

    @parameterized.parameters(*MOVES)
    def test_codes_pass_through(self, name):
        graph, x = self.graph(name, X)
        model, fused = imported(graph, "c_q")
        self.assertLen(fused, 1)
        self.assertEmpty(model.import_report.stayed_float)
        types = {type(layer).__name__ for layer in model.layers}
        self.assertNoCommonElements(types, {"QuantizeLinear", "DequantizeLinear"})
        want = tfq.onnx.import_model(graph.model("c_q"), qdq="keep")(x)
        np.testing.assert_array_equal(model(x), want)

    @parameterized.parameters(*MOVES)
    def test_codes_of_another_scale_are_made_behind_it(self, name):
        graph, x = self.graph(name, Y)
        want = tfq.onnx.import_model(graph.model("c_q"), qdq="keep")(x)
        np.testing.assert_array_equal(imported(graph, "c_q")[0](x), want)

    def assertNoCommonElements(self, a, b):  # noqa: N802
        self.assertEmpty(a & b)

    def test_a_pair_alone_still_clips_and_rounds(self):  # PINTO0309/onnx2tf/pull/820
        graph = qdq.Builder()
        graph.inputs["x"] = (np.float32, [2])
        graph.dq(graph.q("x", np.float32(0.1), np.int8(0)), np.float32(0.1), np.int8(0))
        model, _ = imported(graph, "x_q_f")
        np.testing.assert_allclose(model(np.float32([1e6, 0.3])), [12.7, 0.3], rtol=1e-6)

    def test_a_clip_of_codes_stays(self):  # fastmachinelearning/qonnx/pull/48
        graph = qdq.Builder()
        graph.inputs["x"] = (np.float32, [3])
        bounds = [graph.constant("low", np.int8(-8)), graph.constant("high", np.int8(7))]
        name = graph.q("x", np.float32(1), np.int8(0))
        graph.dq(graph.op("Clip", [name, *bounds], "c"), np.float32(1), np.int8(0))
        model, _ = imported(graph, "c_f")
        np.testing.assert_array_equal(model(np.float32([-20, 3, 20])), [-8, 3, 7])


class LeftAloneTest(parameterized.TestCase):
    """What does not meet a condition stays as the file has it, with the reason."""

    def add(self, a=X, b=X, y=Y, outputs=("c_q",), attributes=None, dtype=np.uint8):
        rng = np.random.default_rng(12)
        values = [rng.integers(0, 200, (2, 3)).astype(dtype) for _ in "ab"]
        graph = qdq.Builder()
        inputs = [
            graph.dq(graph.codes(n, v), *p, **(attributes or {}))
            for n, v, p in zip("ab", values, (a, b), strict=True)
        ]
        graph.q(graph.op("Add", inputs, "c"), *y)
        model, fused = imported(graph, *outputs)
        kept = tfq.onnx.import_model(graph.model(*outputs), qdq="keep")
        for got, want in zip(*(np.atleast_1d(m(values)) for m in (model, kept)), strict=True):
            np.testing.assert_array_equal(got, want)
        return fused, reasons(model).get("Add")

    def test_sixteen_bits(self):
        wide = (np.float32(0.01), np.uint16(9))
        fused, reason = self.add(wide, wide, dtype=np.uint16)
        self.assertEmpty(fused)
        self.assertIn("8 bits", reason)

    def test_scales_of_channels(self):
        channels = (np.float32([0.1, 0.2, 0.3]), np.zeros(3, np.uint8))
        fused, reason = self.add(channels, X, attributes={"axis": 1})
        self.assertEmpty(fused)
        self.assertIn("8 bits", reason)

    def test_scales_that_are_no_numbers(self):
        for scale in (0.0, np.inf, np.nan, -1.0):
            fused, _ = self.add((np.float32(scale), np.uint8(0)), X)
            self.assertEmpty(fused)

    def test_results_that_are_outputs(self):
        fused, reason = self.add(outputs=("c_q", "c"))
        self.assertEmpty(fused)
        self.assertIn("output", reason)

    def test_sixteen_bits_of_the_result(self):
        fused, reason = self.add(y=(np.float32(0.01), np.uint16(9)))
        self.assertEmpty(fused)
        self.assertIn("not quantized to 8 bits", reason)

    def test_gemm_with_factors(self):
        graph = qdq.Builder()
        a = codes(np.random.default_rng(13), np.uint8, (2, 3))
        inputs = [graph.dq(graph.codes("a", a), *X)]
        inputs.append(graph.dq(graph.constant("b", np.ones((3, 4), np.int8)), X[0], W_ZERO))
        graph.q(graph.op("Gemm", inputs, "c", alpha=0.5), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEmpty(fused)
        self.assertIn("alpha", reasons(model)["Gemm"])

    def test_operators_without_an_integer_form_stay_between_the_pairs(self):
        graph = qdq.Builder()
        x = codes(np.random.default_rng(14), np.uint8, (2, 3))
        graph.q(graph.op("Softmax", [graph.dq(graph.codes("x", x), *X)], "c"), *Y)
        model, fused = imported(graph, "c_q")
        self.assertEmpty(fused)
        self.assertIn("Softmax", reasons(model))

    def test_several_consumers_each_get_what_they_need(self):
        graph = qdq.Builder()
        x = codes(np.random.default_rng(15), np.uint8, (2, 3))
        name = graph.dq(graph.codes("x", x), *X)
        graph.q(graph.op("Add", [name, name], "sum"), *Y)
        graph.op("Exp", [name], "e")
        model, fused = imported(graph, "sum_q", "e")
        self.assertEqual(fused, ["QLinearAdd"])
        total, exponential = model(x)
        np.testing.assert_array_equal(total, contract_bytes.add(x, *X, x, *X, *Y))
        np.testing.assert_allclose(
            exponential, np.exp(contract.dequantize_linear(x, *X)), rtol=1e-6
        )


if __name__ == "__main__":
    absltest.main()
