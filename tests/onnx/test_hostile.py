"""Broken files and files made to hurt: a clear error or a model, soon and in little memory."""

import itertools

import numpy as np
from absl.testing import absltest, parameterized
from onnx import helper

import tf_qops as tfq
from tests.onnx import graphs

HUGE = 10**6


def ints(*values):
    return np.array(values, np.int64)


def reduced(node, constants):
    """A graph that adds the maximum of what a node of constants gives to its input."""
    nodes = [
        node,
        graphs.node("Cast", ["huge"], ["float"], to=1),
        graphs.node("ReduceMax", ["float"], ["max"], keepdims=0),
        graphs.node("Add", ["x", "max"], ["y"]),
    ]
    return graphs.model(nodes, {"x": ("float32", [2])}, "y", constants)


def chain(op_type, length, constants=()):
    names = ["x", *(f"t{i}" for i in range(1, length)), "y"]
    nodes = [graphs.node(op_type, [a, *constants], [b]) for a, b in itertools.pairwise(names)]
    return graphs.model(nodes, {"x": ("float32", [2, 3])}, "y", constants)


def with_functions(called, bodies):
    """A graph that calls a local function; bodies: name -> operators called one after another."""
    proto = graphs.model(
        [helper.make_node(called, ["x"], ["y"], domain="local")], {"x": ("float32", [2])}
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    proto.opset_import.append(opsets[1])
    for name, operators in bodies.items():
        places = ["x", *(f"t{i}" for i in range(1, len(operators))), "y"]
        nodes = [
            helper.make_node(op, [a], [b], domain="local" if op in bodies else "")
            for op, a, b in zip(operators, places, places[1:], strict=False)
        ]
        proto.functions.append(helper.make_function("local", name, ["x"], ["y"], nodes, opsets))
    return proto


class HugeResultsTest(parameterized.TestCase):
    @parameterized.parameters(
        ("ConstantOfShape", {"s": ints(HUGE, HUGE)}, {}),
        ("Expand", {"k": np.ones(1, np.float32), "s": ints(HUGE, HUGE)}, {}),
        ("Tile", {"k": np.ones(1, np.float32), "s": ints(HUGE * HUGE)}, {}),
        ("Range", {"a": np.array(0), "b": np.array(HUGE * HUGE), "c": np.array(1)}, {}),
        ("Pad", {"k": np.ones(1, np.float32), "p": ints(HUGE * HUGE, 0)}, {}),
        ("OneHot", {"i": ints(1), "d": np.array(HUGE * HUGE), "v": np.arange(2.0)}, {}),
        ("Add", {"a": np.ones((HUGE, 1)), "b": np.ones((1, HUGE))}, {}),
        ("MatMul", {"a": np.ones((HUGE, 1)), "b": np.ones((1, HUGE))}, {}),
    )
    def test_of_constants_are_refused_before_they_are_made(self, op_type, constants, attributes):
        proto = reduced(graphs.node(op_type, constants, ["huge"], **attributes), constants)
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "at most .* elements"):
            tfq.onnx.import_model(proto)

    @parameterized.parameters(
        ("Relu", [2**62, 2**62], {}),
        ("Resize", [1, 1, 2, 2], {"roi": None, "s": np.array([1, 1, 1e6, 1e6], np.float32)}),
        ("Expand", [2], {"s": ints(HUGE * HUGE, 1)}),
    )
    def test_of_inputs_are_refused(self, op_type, shape, constants):
        given = {n: a for n, a in constants.items() if a is not None}
        names = ["x", *(n if n in given else "" for n in constants)]
        proto = graphs.model([graphs.node(op_type, names)], {"x": ("float32", shape)}, "y", given)
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "at most .* elements"):
            tfq.onnx.import_model(proto)

    def test_a_large_constant_that_may_be_is_made_when_it_runs(self):
        constants = {"s": ints(300, 400)}
        proto = reduced(graphs.node("ConstantOfShape", ["s"], ["huge"]), constants)
        imported = tfq.onnx.import_model(proto)
        self.assertLess(sum(np.prod(w.shape) for w in imported.weights), 10)
        np.testing.assert_array_equal(imported(np.ones(2, np.float32)), [1, 1])


class BrokenNodesTest(parameterized.TestCase):
    @parameterized.parameters(
        ("Add", ["x"], {}),
        ("Conv", ["x"], {}),
        ("Concat", ["x", "x"], {}),
        ("Cast", ["x"], {}),
        ("Concat", ["x", "x"], {"axis": 9}),
        ("Transpose", ["x"], {"perm": [0, 5]}),
        ("Einsum", ["x"], {"equation": "ijk->q"}),
        ("Split", ["x"], {"axis": 7, "num_outputs": 1}),
        ("Reshape", ["x", "five"], {}),
        ("Gather", ["minus", "five"], {}),
        ("Unsqueeze", ["x", "five"], {}),
        ("Slice", ["x", "five", "five", "five"], {}),
        ("Expand", ["x", "five"], {}),
        ("Tile", ["x", "five"], {}),
        ("Pad", ["x", "five"], {}),
        ("TopK", ["x", "five"], {}),
        ("ReduceSum", ["x", "five"], {}),
        ("MatMul", ["x", "k"], {}),
        ("Conv", ["x", "k"], {}),
        ("LSTM", ["x", "k", "k"], {}),
        ("DepthToSpace", ["x"], {"blocksize": 0}),
        ("ConstantOfShape", ["minus"], {}),
        ("GlobalMaxPool", ["scalar"], {}),
        ("BatchNormalization", ["x", "k", "k", "k", "k"], {}),
    )
    def test_are_named(self, op_type, inputs, attributes):
        constants = {"five": ints(5), "k": np.ones(7, np.float32), "minus": ints(-1, 2),
                     "scalar": np.float32(1)}  # fmt: skip
        node = graphs.node(op_type, inputs, ["y"], name="broken", **attributes)
        proto = graphs.model([node, graphs.node("Relu", ["x"], ["r"])], {"x": ("float32", [2, 3])},
                             ["y", "r"], constants)  # fmt: skip
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "broken"):
            tfq.onnx.import_model(proto)


class ChainsTest(absltest.TestCase):
    def test_a_deep_chain_becomes_a_model(self):
        imported = tfq.onnx.import_model(chain("Add", 3000, {"one": np.float32(1)}))
        np.testing.assert_array_equal(imported(np.zeros((2, 3), np.float32)), np.full((2, 3), 3000))


class FunctionsTest(absltest.TestCase):
    def test_are_put_in_where_they_are_called(self):
        proto = with_functions("twice", {"twice": ["once", "once"], "once": ["Neg", "Exp"]})
        imported = tfq.onnx.import_model(proto)
        x = np.array([0, 1], np.float32)
        np.testing.assert_allclose(imported(x), np.exp(-np.exp(-x)), rtol=1e-6)

    def test_that_call_themselves_are_refused(self):
        for bodies in ({"a": ["a"]}, {"a": ["b"], "b": ["Relu", "a"]}):
            with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "themselves"):
                tfq.onnx.import_model(with_functions("a", bodies))

    def test_that_unfold_to_too_much_are_refused(self):
        bodies = {f"f{i}": [f"f{i + 1}"] * 2 for i in range(40)} | {"f40": ["Relu"]}
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "at most 1000000 nodes"):
            tfq.onnx.import_model(with_functions("f0", bodies))


if __name__ == "__main__":
    absltest.main()
