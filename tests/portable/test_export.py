"""A SavedModel of stock operators gives the bits of the library, without it."""

import pathlib
import subprocess
import sys

import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.contract_bytes import codes
from tests.onnx import graphs, qdq
from tf_qops.cli import main
from tf_qops.portable import export_portable

_LOAD = """
import sys, numpy as np, tensorflow as tf
loaded = tf.saved_model.load(sys.argv[1])
np.save(sys.argv[3], loaded.serve(np.load(sys.argv[2])))
assert "tf_qops" not in sys.modules
"""


class ExportTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.rng = np.random.default_rng(8)

    def assert_same_bits(self, proto, x):
        model = tfq.onnx.import_model(proto)
        export_portable(model, self.folder / "m")
        loaded = tf.saved_model.load(self.folder / "m")
        np.testing.assert_array_equal(loaded.serve(x), model(x))

    def test_the_command_writes_what_a_process_without_tf_qops_loads(self):
        x = self.rng.uniform(size=(20, 1, 8, 8)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        self.assertEqual(main(["convert", str(graphs.DIGITS), f"{self.folder}/m", "--portable"]), 0)
        files = [str(self.folder / name) for name in ("m", "x.npy", "y.npy")]
        done = subprocess.run([sys.executable, "-c", _LOAD, *files], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        want = tfq.onnx.import_model(graphs.DIGITS)(x)
        np.testing.assert_array_equal(np.load(files[2]), want)

    @parameterized.parameters(
        {},
        {"strides": [2, 1], "pads": [1, 2, 0, 1]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"dilations": [2, 2], "group": 2},
    )
    def test_convolutions(self, **attributes):
        x = codes(self.rng, np.uint8, (3, 4, 7, 6))
        self.assert_same_bits(graphs.quantized_conv(**attributes), x)

    def test_products_and_arithmetic(self):
        graph = qdq.Builder()
        scale, zero = np.float32(0.05), np.uint8(120)
        x, w = codes(self.rng, np.uint8, (5, 300)), codes(self.rng, np.int8, (300, 6))
        weights = graph.dq(
            graph.constant("w", w), np.full(6, 0.03, np.float32), np.zeros(6, np.int8)
        )
        name = graph.op("MatMul", [graph.dq(graph.codes("x", x), scale, zero), weights], "c")
        name = graph.dq(graph.q(name, np.float32(7), zero), np.float32(7), zero)
        name = graph.op("Add", [name, name], "a")
        self.assert_same_bits(graph.model(graph.q(name, np.float32(9), zero)), x)

    def test_what_has_no_such_form_is_refused_and_leaves_nothing(self):
        nodes = [graphs.node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])]
        proto = graphs.model(nodes, {"x": ("float32", [2, 3])}, ["y"])
        onnx.save(proto, self.folder / "d.onnx")
        code = main(["convert", f"{self.folder}/d.onnx", f"{self.folder}/m", "--portable"])
        self.assertEqual(code, 2)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["d.onnx"])


if __name__ == "__main__":
    absltest.main()
