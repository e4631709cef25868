"""Elementwise operators: functions of one input, arithmetic, comparisons, logic, choices."""

import numpy as np
import onnx
from absl.testing import absltest, parameterized

from tests.onnx import graphs
from tests.onnx.operators import compare

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
SPECIAL = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0, -0.0, 3.49, -7], np.float32)


class UnaryTest(parameterized.TestCase):
    @parameterized.parameters(
        "Abs", "Atan", "Asinh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "HardSwish", "Mish",
        "Neg", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tan", "Tanh",
    )  # fmt: skip
    def test_functions(self, op_type):
        compare.check_node(op_type, {"x": SPECIAL}, opset=22)
        compare.check_node(op_type, {"x": X}, opset=22, shapes="symbolic")

    @parameterized.parameters("Acos", "Acosh", "Asin", "Atanh", "Log", "Reciprocal", "Sqrt")
    def test_functions_of_a_part_of_the_numbers(self, op_type):
        x = np.array([0.1, 0.5, 0.9], np.float32) + (op_type == "Acosh")
        compare.check_node(op_type, {"x": x})

    @parameterized.parameters(
        ("Celu", {"alpha": 2.0}),
        ("Elu", {}),
        ("Elu", {"alpha": 0.5}),
        ("Gelu", {}),
        ("Gelu", {"approximate": "tanh"}),
        ("HardSigmoid", {}),
        ("HardSigmoid", {"alpha": 0.166, "beta": 0.4}),
        ("LeakyRelu", {}),
        ("LeakyRelu", {"alpha": 0.3}),
        ("Selu", {}),
        ("Selu", {"alpha": 1.5, "gamma": 2.0}),
        ("Shrink", {"lambd": 0.4, "bias": 0.1}),
        ("ThresholdedRelu", {"alpha": 0.3}),
    )
    def test_activations(self, op_type, attributes):
        compare.check_node(op_type, {"x": X}, **attributes)

    @parameterized.parameters("Abs", "Neg", "Sign")
    def test_integers_stay_integers(self, op_type):
        for dtype in ("int8", "int32", "int64"):
            compare.check_node(op_type, {"x": np.array([-3, 0, 5], dtype)})

    def test_logic_of_one_input(self):
        compare.check_node("Not", {"x": np.array([True, False])})
        compare.check_node("IsNaN", {"x": np.array([np.nan, np.inf, 1], np.float32)})

    @parameterized.parameters(
        ("float32", 0.7, "float32"), ("float32", 2.9, "int64"), ("int64", 2**40 + 1, "int64"),
        ("int64", -3, "float32"), ("uint8", 200, "float32"), ("bool", True, "int32"),
        ("float32", 1.00390625, "float16"), ("int32", 7, "bool"), ("float32", -2.9, "int8"),
    )  # fmt: skip
    def test_cast(self, dtype, value, target):
        x = np.array([value, 0], dtype)
        to = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))
        compare.check_node("Cast", {"x": x}, to=to)

    @parameterized.parameters((-0.5, 0.5), (None, 0.25), (0.0, None), (None, None))
    def test_clip(self, low, high):
        bounds = {n: None if v is None else np.float32(v) for n, v in (("lo", low), ("hi", high))}
        compare.check_node("Clip", {"x": X, **bounds}, constants=("lo", "hi"))
        compare.check_node("Clip", {"x": X, **bounds})
        attributes = {n: v for n, v in (("min", low), ("max", high)) if v is not None}
        compare.check_node("Clip", {"x": X}, opset=6, wanted="onnxruntime", **attributes)

    def test_clip_of_integers(self):
        bounds = {"lo": np.int8(-1), "hi": np.int8(2)}
        x = np.array([-128, 0, 127], np.int8)
        compare.check_node("Clip", {"x": x, **bounds}, constants=("lo", "hi"))


class BinaryTest(parameterized.TestCase):
    @parameterized.product(
        op_type=("Add", "Sub", "Mul", "Div", "Max", "Min"),
        dtype=("float32", "int32", "int64"),
        constants=((), ("a",), ("b",)),
    )
    def test_arithmetic(self, op_type, dtype, constants):
        a = np.array([[7, -7, 5], [1, -9, 2]], dtype)
        b = np.array([2, 3, -4], dtype)
        compare.check_node(op_type, {"a": a, "b": b}, constants=constants, wanted="onnxruntime")

    @parameterized.parameters(0, 1)
    def test_mod(self, fmod):
        a, b = np.array([-7, 7, -7, 7], np.int32), np.array([4, -4, -4, 4], np.int32)
        compare.check_node("Mod", {"a": a, "b": b}, fmod=fmod)

    @parameterized.parameters(
        ("float32", "float32"), ("float32", "int64"), ("int32", "float32"), ("int64", "int64")
    )
    def test_pow_has_the_type_of_the_base(self, base, exponent):
        a, b = np.array([1, 2, 3], base), np.array([2, 3, 2], exponent)
        compare.check_node("Pow", {"a": a, "b": b}, wanted="onnxruntime")

    @parameterized.parameters("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    def test_comparisons(self, op_type):
        for dtype in ("float32", "int64"):
            a, b = np.array([[1, 2, 3]], dtype), np.array([[2], [3]], dtype)
            compare.check_node(op_type, {"a": a, "b": b}, shapes="symbolic")

    @parameterized.parameters("Add", "BitwiseAnd", "BitwiseXor", "Equal", "GreaterOrEqual", "Less",
                              "Max", "Min", "Mul", "Sub")  # fmt: skip
    def test_all_bits_of_uint64(self, op_type):
        a = np.array([2**63 + 5, 3, 2**64 - 1, 2**63], np.uint64)
        b = np.array([7, 2**63 + 1, 2**64 - 2, 2**63], np.uint64)
        compare.check_node(op_type, {"a": a, "b": b})

    @parameterized.parameters("And", "Or", "Xor")
    def test_logic(self, op_type):
        a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
        compare.check_node(op_type, {"a": a, "b": b})

    @parameterized.parameters("Max", "Mean", "Min", "Sum")
    def test_any_number_of_inputs(self, op_type):
        arrays = {"a": X, "b": X[:, :1] * 2, "c": X[0, 0] - 1}
        compare.check_node(op_type, arrays)
        compare.check_node(op_type, {"a": X})

    def test_where(self):
        condition = np.array([[True], [False]])
        x, y = np.array([1, 2, 3], np.int64), np.array(9, np.int64)
        compare.check_node("Where", {"c": condition, "a": x, "b": y})

    def test_prelu(self):
        slope = np.array([[0.1], [0.2], [0.3]], np.float32)
        compare.check_node("PRelu", {"x": X, "slope": slope}, constants=("slope",))

    @parameterized.parameters(((3, 1, 1),), ((1, 3, 5, 4),), ((4,),), ((),), ((1, 1, 5, 1),))
    def test_constants_beside_images_take_their_layout(self, shape):
        x = RNG.normal(size=(2, 3, 6, 5)).astype(np.float32)
        constants = {"c": RNG.normal(size=shape).astype(np.float32)}
        nodes = [
            graphs.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2]),
            graphs.node("Add", ["p", "c"], ["a"]),
            graphs.node("Mul", ["a", "p"], ["m"]),
            graphs.node("MaxPool", ["m"], ["y"], kernel_shape=[1, 1]),
        ]
        proto = graphs.model(nodes, {"x": ("float32", x.shape)}, "y", constants)
        imported = compare.check(proto, [x])
        permutes = [layer for layer in imported.layers if "Permute" in type(layer).__name__]
        self.assertLen(permutes, 2)


if __name__ == "__main__":
    absltest.main()
