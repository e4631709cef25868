"""Operators that read, compute and use shapes, alone and in the chains that exporters write."""

import numpy as np
import onnx
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs
from tests.onnx.operators import compare

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def ints(*values):
    return np.array(values, np.int64)


class NodesTest(parameterized.TestCase):
    @parameterized.product(
        shapes=(None, "symbolic"), attributes=({}, {"start": 1}, {"start": -2, "end": -1})
    )
    def test_shape(self, shapes, attributes):
        compare.check_node("Shape", {"x": X}, shapes=shapes, **attributes)

    @parameterized.parameters(None, "symbolic")
    def test_size(self, shapes):
        compare.check_node("Size", {"x": X}, shapes=shapes)

    @parameterized.product(axis=(0, 1, -1), constants=((), ("i",), ("x",)))
    def test_gather_counts_from_the_end_too(self, axis, constants):
        compare.check_node("Gather", {"x": X, "i": ints(1, -1)}, axis=axis, constants=constants)
        compare.check_node("Gather", {"x": X, "i": np.int64(-1)}, axis=axis, constants=constants)

    @parameterized.product(axis=(0, 2, -1), dtype=("float32", "int64", "uint8"))
    def test_concat(self, axis, dtype):
        a = X.astype(dtype)
        compare.check_node("Concat", {"a": a, "b": a, "c": a}, axis=axis, constants=("b",))

    @parameterized.parameters(((0,),), ((-1, 0),), ((1, 3),))
    def test_unsqueeze(self, axes):
        compare.check_node("Unsqueeze", {"x": X, "axes": ints(*axes)}, constants=("axes",))
        compare.check_node(
            "Unsqueeze", {"x": X}, opset=11, axes=sorted(a % (3 + len(axes)) for a in axes)
        )

    def test_squeeze(self):
        x = X.reshape(1, 2, 1, 12)
        compare.check_node("Squeeze", {"x": x})
        compare.check_node("Squeeze", {"x": x, "a": ints(-2)}, constants=("a",))
        compare.check_node("Squeeze", {"x": x, "a": ints(0)}, constants=("a",), shapes="symbolic")
        compare.check_node("Squeeze", {"x": x}, opset=11, axes=[0, 2])

    @parameterized.product(
        case=(
            ((1,), (100,), (1,), None),
            ((-2, 0), (2**63 - 1, -1), (2, 1), None),
            ((-1,), (-(2**63),), (2,), (-1,)),
            ((3, 0), (0, 2), (-1, -3), (-2, 1)),
            ((0, 1), (1, 3), None, None),
            ((2,), (1,), (1,), None),
        ),
        constants=(("starts", "ends", "axes", "steps"), ("axes",)),
        shapes=(None, "symbolic"),
    )
    def test_slice(self, case, constants, shapes):
        names = ("starts", "ends", "axes", "steps")
        given = {n: None if v is None else ints(*v) for n, v in zip(names, case, strict=True)}
        while given and list(given.values())[-1] is None:
            given.popitem()
        shapes = shapes if "starts" in constants else None
        compare.check_node("Slice", {"x": X, **given}, constants=constants, shapes=shapes)

    def test_slice_of_version_1(self):
        compare.check_node("Slice", {"x": X}, opset=9, starts=[1, -2], ends=[9, -1], axes=[1, 2])

    @parameterized.parameters("float32", "int64", "bool")
    def test_constant_of_shape(self, dtype):
        value = onnx.numpy_helper.from_array(np.array([1], dtype))
        compare.check_node("ConstantOfShape", {"s": ints(2, 3)}, value=value)

    @parameterized.parameters("float32", "int64", "int32")
    def test_range(self, dtype):
        for numbers in ((1, 8, 3), (5, 0, -2), (3, 3, 1)):
            inputs = dict(zip("abc", np.array(numbers, dtype), strict=True))
            compare.check_node("Range", inputs)
            compare.check_node("Range", inputs, constants=("a", "c"))

    @parameterized.product(target=((2, 3, 4), (5, 1, 3, 1), (1,), ()), constants=((), ("s",)))
    def test_expand(self, target, constants):
        x = X[:1, :, :1]
        compare.check_node("Expand", {"x": x, "s": ints(*target)}, constants=constants)

    @parameterized.parameters((), (("n",),))
    def test_tile(self, constants=()):
        compare.check_node("Tile", {"x": X, "n": ints(1, 2, 3)}, constants=constants)

    @parameterized.parameters(((2, 12),), ((0, -1),), ((-1, 3),), ((0, 0, 2, 2),))
    def test_reshape_to_a_computed_target(self, target):
        compare.check_node("Reshape", {"x": X, "t": ints(*target)})

    @parameterized.parameters((None,), ([1, 0, 2],), ([0, 2, 1],), ([2, 0, 1],))
    def test_transpose(self, perm):
        attributes = {} if perm is None else {"perm": perm}
        compare.check_node("Transpose", {"x": X}, shapes="symbolic", **attributes)

    def test_split(self):
        outputs = ("a", "b")
        compare.check_node("Split", {"x": X, "s": ints(1, 3)}, constants=("s",), axis=2,
                           outputs=outputs)  # fmt: skip
        compare.check_node("Split", {"x": X}, axis=1, outputs=outputs, num_outputs=2)
        compare.check_node("Split", {"x": X}, opset=11, axis=0, outputs=outputs, split=[1, 1])


class ChainsTest(parameterized.TestCase):
    def test_a_symbolic_batch_stays_symbolic_and_the_rest_known(self):
        """Flattening as PyTorch writes it: Shape, Gather, Unsqueeze, Concat, Reshape."""
        nodes = [
            graphs.node("Shape", ["x"], ["s"]),
            graphs.node("Gather", ["s", "zero"], ["n"]),
            graphs.node("Unsqueeze", ["n", "axes"], ["n1"]),
            graphs.node("Concat", ["n1", "rest"], ["t"], axis=0),
            graphs.node("Reshape", ["x", "t"], ["y"]),
        ]
        constants = {"zero": np.int64(0), "axes": ints(0), "rest": ints(12)}
        proto = graphs.model(nodes, {"x": ("float32", ["n", 3, 4])}, "y", constants)
        imported = compare.check(proto, [X])
        self.assertEqual(imported.output_shape, (None, 12))
        self.assertLen(imported.layers, 2)  # the input and the reshape: nothing else is left

    def test_static_shapes_fold(self):
        nodes = [
            graphs.node("Shape", ["x"], ["s"]),
            graphs.node("Slice", ["s", "one", "three"], ["hw"]),
            graphs.node("Cast", ["hw"], ["f"], to=1),
            graphs.node("Mul", ["f", "two"], ["d"]),
            graphs.node("Cast", ["d"], ["i"], to=7),
            graphs.node("Concat", ["n", "i"], ["t"], axis=0),
            graphs.node("ConstantOfShape", ["t"], ["c"]),
            graphs.node("Shape", ["c"], ["y"]),
            graphs.node("Add", ["y", "y"], ["z"]),
            graphs.node("Expand", ["x1", "z"], ["e"]),
        ]
        constants = {"one": ints(1), "three": ints(3), "two": np.float32(2), "n": ints(1)}
        inputs = {"x": ("float32", ["n", 3, 4]), "x1": ("float32", [1])}
        imported = compare.check(
            graphs.model(nodes, inputs, "e", constants), [X, np.ones(1, np.float32)]
        )
        self.assertEqual(imported.output_shape, (2, 12, 16))

    def test_two_symbolic_dimensions_run(self):
        """Attention heads: [n, s, 12] to [n, s, 3, 4] to [n, 3, s, 4] and back."""
        nodes = [
            graphs.node("Shape", ["x"], ["s"]),
            graphs.node("Slice", ["s", "zero", "two"], ["ns"]),
            graphs.node("Concat", ["ns", "heads"], ["t"], axis=0),
            graphs.node("Reshape", ["x", "t"], ["h"]),
            graphs.node("Transpose", ["h"], ["p"], perm=[0, 2, 1, 3]),
            graphs.node("Transpose", ["p"], ["q"], perm=[0, 2, 1, 3]),
            graphs.node("Concat", ["ns", "width"], ["u"], axis=0),
            graphs.node("Reshape", ["q", "u"], ["y"]),
        ]
        constants = {"zero": ints(0), "two": ints(2), "heads": ints(3, 4), "width": ints(12)}
        proto = graphs.model(nodes, {"x": ("float32", ["n", "s", 12])}, ["p", "y"], constants)
        x = np.arange(2 * 5 * 12, dtype=np.float32).reshape(2, 5, 12)
        imported = compare.check(proto, [x])
        self.assertEqual(imported.output_shape, [(None, 3, None, 4), (None, None, 12)])

    def test_an_expand_that_spares_minus_one(self):
        """PyTorch's expand: Where(Equal(target, -1), 1, target)."""
        nodes = [
            graphs.node("Shape", ["x"], ["s"]),
            graphs.node("Gather", ["s", "zero"], ["n"]),
            graphs.node("Concat", ["n", "given"], ["t"], axis=0),
            graphs.node("Equal", ["t", "minus"], ["c"]),
            graphs.node("Where", ["c", "one", "t"], ["w"]),
            graphs.node("Expand", ["k", "w"], ["y"]),
        ]
        constants = {"zero": ints(0), "given": ints(-1, 4), "minus": ints(-1), "one": ints(1),
                     "k": np.arange(3, dtype=np.float32).reshape(3, 1)}  # fmt: skip
        proto = graphs.model(nodes, {"x": ("float32", ["n", 3, 4])}, "y", constants)
        compare.check(proto, [X])

    def test_what_depends_on_the_batch_is_not_taken_for_known(self):
        nodes = [
            graphs.node("Shape", ["x"], ["s"], end=1),
            graphs.node("Div", ["one", "s"], ["d"]),
            graphs.node("Min", ["s", "five"], ["m"]),
            graphs.node("Greater", ["s", "five"], ["g"]),
            graphs.node("Slice", ["k", "zero", "s"], ["l"]),
        ]
        constants = {"one": ints(1), "five": ints(5), "zero": ints(0), "k": ints(7, 8, 9)}
        proto = graphs.model(nodes, {"x": ("float32", ["n"])}, ["d", "m", "g", "l"], constants)
        imported = tfq.onnx.import_model(proto)
        for batch in (1, 2, 6):
            wanted = [[1 // batch], [min(batch, 5)], [batch > 5], [7, 8, 9][:batch]]
            results = [r.numpy().tolist() for r in imported(np.zeros(batch, np.float32))]
            self.assertEqual(results, wanted)


if __name__ == "__main__":
    absltest.main()
