"""Reductions, products, indexing and sorting."""

import numpy as np
from absl.testing import absltest, parameterized

from tests.onnx.operators import compare

RNG = np.random.default_rng(2)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


class ReductionsTest(parameterized.TestCase):
    @parameterized.product(
        op_type=(
            "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
            "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
        ),
        axes=((1,), (0, -1), None),
        keepdims=(0, 1),
    )  # fmt: skip
    def test_axes_are_an_input_or_an_attribute(self, op_type, axes, keepdims):
        x = np.abs(X)
        given = {} if axes is None else {"axes": ints(*axes)}
        compare.check_node(op_type, {"x": x} | given, constants=("axes",), keepdims=keepdims)
        attributes = {} if axes is None else {"axes": list(axes)}
        compare.check_node(op_type, {"x": x}, opset=11, keepdims=keepdims, shapes="symbolic",
                           wanted="onnxruntime", **attributes)  # fmt: skip

    @parameterized.parameters("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd")
    def test_integers_stay_integers(self, op_type):
        for dtype in ("int32", "int64"):
            compare.check_node(op_type, {"x": np.array([[1, 2, 3], [4, -5, 6]], dtype)})

    def test_no_axes_may_mean_nothing(self):
        compare.check_node("ReduceSum", {"x": X}, noop_with_empty_axes=1)

    @parameterized.product(
        op_type=("ArgMax", "ArgMin"), axis=(0, 2, -1), keepdims=(0, 1), last=(0, 1)
    )
    def test_arg(self, op_type, axis, keepdims, last):
        x = np.array([[[1, 3, 3, 1], [3, 1, 3, 1]], [[1, 3, 3, 1], [1, 1, 1, 1]]], np.float32)
        compare.check_node(op_type, {"x": x}, axis=axis, keepdims=keepdims, select_last_index=last)


class ProductsTest(parameterized.TestCase):
    @parameterized.product(
        shapes=(
            ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((4,), (4, 5)),
            ((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (5, 4, 2)),
        ),
        constants=((), ("b",), ("a",)),
    )  # fmt: skip
    def test_matmul(self, shapes, constants):
        a, b = (RNG.normal(size=s).astype(np.float32) for s in shapes)
        compare.check_node("MatMul", {"a": a, "b": b}, constants=constants)

    def test_matmul_of_integers(self):
        a, b = (np.arange(6).reshape(s).astype(np.int64) for s in ((2, 3), (3, 2)))
        compare.check_node("MatMul", {"a": a, "b": b})

    @parameterized.parameters(
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij, bjk -> bik", (2, 3, 4), (2, 4, 5)),
        ("bhwc,hkc->bhwk", (1, 2, 3, 4), (2, 5, 4)),
        ("...ii->...i", (2, 3, 3)),
        ("ij->", (2, 3)),
    )
    def test_einsum(self, equation, *shapes):
        arrays = {f"a{i}": RNG.normal(size=s).astype(np.float32) for i, s in enumerate(shapes)}
        compare.check_node("Einsum", arrays, equation=equation)


class IndexingTest(parameterized.TestCase):
    @parameterized.product(
        dtype=("float32", "int64", "uint8"), largest=(0, 1), axis=(0, -1), constants=((), ("k",))
    )
    def test_top_k(self, dtype, largest, axis, constants):
        x = np.array([[1, 4, 4, 2], [9, 9, 0, 9]], dtype)
        compare.check_node("TopK", {"x": x, "k": ints(2)}, constants=constants, axis=axis,
                           largest=largest, outputs=("v", "i"))  # fmt: skip

    def test_gather_elements(self):
        inputs = {"x": X[0], "i": ints([2, -1, 0, 1], [0, 0, -3, 2])}
        compare.check_node("GatherElements", inputs, axis=0)

    @parameterized.parameters((0, [[0, -1], [1, 0]]), (0, [[1]]), (1, [[0], [-2]]))
    def test_gather_nd(self, batch_dims, indices):
        compare.check_node("GatherND", {"x": X, "i": ints(*indices)}, batch_dims=batch_dims)

    @parameterized.parameters("none", "add", "max", "min")
    def test_scatter_nd(self, reduction):
        updates = RNG.normal(size=(2, 4)).astype(np.float32)
        inputs = {"x": X, "i": ints([0, 1], [1, -1]), "u": updates}
        compare.check_node("ScatterND", inputs, opset=18, reduction=reduction)

    @parameterized.parameters("none", "add", "max", "min")
    def test_scatter_elements(self, reduction):
        inputs = {"x": X[0], "i": ints([2, -1, 0, 1]), "u": X[1, :1]}
        compare.check_node("ScatterElements", inputs, opset=18, reduction=reduction, axis=0)

    @parameterized.product(axis=(-1, 0, 1), constants=((), ("d",), ("d", "v")))
    def test_one_hot(self, axis, constants):
        inputs = {"i": ints([0, -1, 5], [2, 1, -4]), "d": np.array(4, np.int64),
                  "v": np.array([-1, 7], np.float32)}  # fmt: skip
        compare.check_node("OneHot", inputs, axis=axis, constants=constants, wanted="onnxruntime")

    def test_non_zero(self):
        compare.check_node("NonZero", {"x": np.array([[1, 0], [0, 3]], np.float32)})

    @parameterized.product(exclusive=(0, 1), reverse=(0, 1), dtype=("float32", "int64"))
    def test_cum_sum(self, exclusive, reverse, dtype):
        x = np.arange(6).reshape(2, 3).astype(dtype)
        inputs = {"x": x, "axis": np.array(-1)}
        compare.check_node("CumSum", inputs, constants=("axis",), exclusive=exclusive,
                           reverse=reverse)  # fmt: skip

    @parameterized.product(upper=(0, 1), diagonal=(None, -1, 2))
    def test_trilu(self, upper, diagonal):
        given = {} if diagonal is None else {"k": np.array(diagonal)}
        compare.check_node("Trilu", {"x": X} | given, constants=("k",), upper=upper)

    def test_dropout(self):
        compare.check_node("Dropout", {"x": X})


if __name__ == "__main__":
    absltest.main()
