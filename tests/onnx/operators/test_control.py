"""If, Loop and Scan; and that layers with models inside are saved like others."""

import tempfile

import numpy as np
from absl.testing import absltest, parameterized
from onnx import TensorProto, helper, numpy_helper

import tf_qops as tfq
from tests import reload
from tests.onnx import graphs
from tests.onnx.operators import compare

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def info(name, shape=(), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def body(nodes, inputs, outputs, constants=()):
    held = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(constants).items()]
    return helper.make_graph(nodes, "body", inputs, outputs, held)


def branches(condition_node, inputs, constants=()):
    """y = x + w (from outside) where the condition holds, else 2 x - 1 (its own constant)."""
    then = body([graphs.node("Add", ["x", "w"], ["t"])], [], [info("t", (2, 3))])
    other = body(
        [graphs.node("Mul", ["x", "two"], ["d"]), graphs.node("Sub", ["d", "one"], ["e"])],
        [], [info("e", (2, 3))], {"two": np.float32(2), "one": np.float32(1)},
    )  # fmt: skip
    nodes = [*condition_node, graphs.node("If", ["c"], then_branch=then, else_branch=other)]
    return graphs.model(nodes, inputs, "y", {"w": np.full(3, 10, np.float32), **dict(constants)})


def scan(**attributes):
    """Running sums of slices, each times a weight from outside."""
    inner = body(
        [
            graphs.node("Mul", ["slice", "k"], ["m"]),
            graphs.node("Add", ["sum", "m"], ["next"]),
            graphs.node("Identity", ["next"], ["out"]),
        ],
        [info("sum", (2,)), info("slice", (2,))],
        [info("next", (2,)), info("out", (2,))],
    )
    node = graphs.node("Scan", ["zero", "x"], ["last", "y"], body=inner, num_scan_inputs=1,
                       scan_input_axes=[1], **attributes)  # fmt: skip
    constants = {"zero": np.zeros(2, np.float32), "k": np.float32(3)}
    return graphs.model([node], {"x": ("float32", [2, "steps"])}, ["last", "y"], constants)


class ControlTest(parameterized.TestCase):
    @parameterized.parameters(True, False)
    def test_a_known_condition_leaves_one_branch(self, condition):
        proto = branches([], {"x": ("float32", [2, 3])}, {"c": np.array(condition)})
        imported = compare.check(proto, [X])
        self.assertNotIn("Branch", [type(layer).__name__ for layer in imported.layers])

    @parameterized.parameters(True, False)
    def test_a_computed_condition(self, condition):
        nodes = [graphs.node("Not", ["n"], ["c"])]
        proto = branches(nodes, {"x": ("float32", [2, 3]), "n": ("bool", [])})
        compare.check(proto, [X, np.array(condition)])

    @parameterized.parameters(
        {}, {"scan_input_directions": [1]}, {"scan_output_axes": [1]},
        {"scan_output_directions": [1]},
    )  # fmt: skip
    def test_scan(self, **attributes):
        compare.check(scan(**attributes), [X], "onnxruntime")

    @parameterized.product(most=(0, 4, None), limit=(5.0, 1000.0))
    def test_loop(self, most, limit):
        if most is None and limit > 100:
            limit = 100.0
        inner = body(
            [
                graphs.node("Add", ["v", "w"], ["next"]),
                graphs.node("ReduceMax", ["next"], ["max"], keepdims=0),
                graphs.node("Less", ["max", "limit"], ["go"]),
                graphs.node("Cast", ["i"], ["f"], to=1),
                graphs.node("Mul", ["next", "f"], ["seen"]),
            ],
            [info("i", (), TensorProto.INT64), info("on", (), TensorProto.BOOL), info("v", (3,))],
            [info("go", (), TensorProto.BOOL), info("next", (3,)), info("seen", (3,))],
        )
        names = ["" if most is None else "most", "yes", "x"]
        node = graphs.node("Loop", names, ["last", "y"], body=inner)
        constants = {"w": np.arange(1, 4, dtype=np.float32), "limit": np.float32(limit),
                     "yes": np.array(True)}  # fmt: skip
        if most is not None:
            constants["most"] = np.array(most)
        proto = graphs.model([node], {"x": ("float32", [3])}, ["last", "y"], constants)
        compare.check(proto, [np.zeros(3, np.float32)], "onnxruntime")

    def test_unsupported_operators_inside_are_named(self):
        inner = body([graphs.node("Det", ["x"], ["t"], name="inside")], [], [info("t")])
        node = graphs.node("If", ["c"], then_branch=inner, else_branch=inner)
        inputs = {"x": ("float32", [2, 2]), "c": ("bool", [])}
        (found,) = tfq.onnx.unsupported_operators(graphs.model([node], inputs))
        self.assertEqual((found.op_type, set(found.nodes)), ("Det", {"inside"}))


class SavingTest(absltest.TestCase):
    def test_a_fresh_process_gives_the_same_bits(self):
        rng = np.random.default_rng(1)
        scanned = scan()
        del scanned.graph.output[0]
        image = rng.normal(size=(2, 4, 6, 6)).astype(np.float32)
        w = rng.normal(size=(4, 2, 3, 3)).astype(np.float32)
        kernel = {"w": w}
        chain = [
            graphs.node("Conv", ["x", "w"], ["c"], group=2, pads=[1, 1, 1, 1]),
            graphs.node("ConvTranspose", ["c", "w"], ["t"], group=2, strides=[2, 2]),
            graphs.node("AveragePool", ["t"], ["a"], kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
            graphs.node("DepthToSpace", ["a"], ["d"], blocksize=2),
            graphs.node("Resize", ["d", "", "s"], ["r"]),
            graphs.node("Pad", ["r", "p"], ["q"], mode="reflect"),
            graphs.node("TopK", ["q", "k"], ["v", "i"]),
            graphs.node("Shape", ["v"], ["h"]),
            graphs.node("Reshape", ["v", "h"], ["y"]),
        ]
        constants = kernel | {
            "s": np.array([1, 1, 1.5, 1], np.float32),
            "p": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
            "k": np.array([3]),
        }
        images = graphs.model(chain, {"x": ("float32", ["n", 4, "h", "w"])}, "y", constants)
        lstm = compare.one_node(
            "LSTM",
            {"x": np.zeros((4, 3, 2), np.float32),
             "w": rng.normal(size=(1, 20, 2)).astype(np.float32),
             "r": rng.normal(size=(1, 20, 5)).astype(np.float32)},
            constants=("w", "r"), hidden_size=5,
        )  # fmt: skip
        models = {
            "scan": (tfq.onnx.import_model(scanned), X),
            "images": (tfq.onnx.import_model(images), image),
            "lstm": (
                tfq.onnx.import_model(lstm), rng.normal(size=(4, 3, 2)).astype(np.float32)
            ),
        }  # fmt: skip
        wanted = {name: model(x) for name, (model, x) in models.items()}
        with tempfile.TemporaryDirectory() as folder:
            for (name, _), y in reload.outputs(folder, models).items():
                np.testing.assert_array_equal(y, wanted[name])


if __name__ == "__main__":
    absltest.main()
