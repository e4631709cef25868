"""Broken and hostile files give clear errors."""

import pathlib
import tempfile

import numpy as np
import onnx
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs


def gemm_model():
    constants = {"k": np.arange(6, dtype=np.float32).reshape(2, 3)}
    return graphs.model(
        [graphs.node("Gemm", ["x", "k"])], {"x": ("float32", [1, 2])}, "y", constants
    )


def with_external_data(location, **entries):
    """The Gemm model with its weight's bytes (24 of them) elsewhere."""
    proto = gemm_model()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in ({"location": location} | entries).items():
        tensor.external_data.add(key=key, value=str(value))
    return proto


class FileTest(parameterized.TestCase):
    def test_a_missing_file(self):
        with self.assertRaisesRegex(FileNotFoundError, "no such ONNX file. Received: 'nowhere"):
            tfq.onnx.import_model("nowhere.onnx")

    @parameterized.parameters(0, 1, 40, 0.5, 0.99)
    def test_a_truncated_file(self, length):
        whole = graphs.DIGITS.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cut.onnx"
            path.write_bytes(
                whole[: length if isinstance(length, int) else int(length * len(whole))]
            )
            for function in (tfq.onnx.import_model, tfq.onnx.load_weights):
                with self.assertRaises(tfq.onnx.OnnxFileError):
                    function(path)

    def test_something_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text.onnx"
            path.write_text("this is no model" * 10)
            with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "Received: '.*text.onnx'"):
                tfq.onnx.unsupported_operators(path)


class GraphTest(parameterized.TestCase):
    def check(self, proto, message):
        for function in (tfq.onnx.import_model, tfq.onnx.load_weights):
            with self.assertRaisesRegex(tfq.onnx.OnnxFileError, message):
                function(proto)

    def test_a_missing_initializer(self):
        proto = gemm_model()
        del proto.graph.initializer[:]
        self.check(proto, "Received: input 'k' of node 'y'")

    def test_nodes_in_a_circle(self):
        nodes = [graphs.node("Relu", ["b"], ["a"]), graphs.node("Relu", ["a"], ["b"])]
        self.check(graphs.model(nodes, {"x": ("float32", [1])}, "b"), "input 'b' of node 'a'")

    def test_a_tensor_made_twice(self):
        nodes = [graphs.node("Relu", ["x"]), graphs.node("Relu", ["x"])]
        self.check(graphs.model(nodes, {"x": ("float32", [1])}), "made once. Received: output 'y'")

    def test_an_output_that_nothing_makes(self):
        proto = graphs.model([graphs.node("Relu", ["x"])], {"x": ("float32", [1])}, ["y", "z"])
        self.check(proto, r"output must be made by a node. Received: \['z'\]")

    def test_a_domain_without_a_version(self):
        nodes = [graphs.node("Anything", ["x"], domain="elsewhere")]
        self.check(graphs.model(nodes, {"x": ("float32", [1])}), "of domain 'elsewhere'")

    @parameterized.parameters(23, 25, 0)
    def test_raw_data_of_the_wrong_length(self, length):
        proto = gemm_model()
        proto.graph.initializer[0].raw_data = bytes(length)
        self.check(proto, f"Received: 'k' of type 1, shape .2, 3., {length} bytes")

    def test_raw_data_of_the_wrong_length_in_four_bits(self):
        proto = gemm_model()
        proto.graph.initializer[0].data_type = onnx.TensorProto.INT4
        self.check(proto, "does not fit its type and shape")

    @parameterized.parameters([[2**40, 2**40]], [[-2, -3]], [[0, 3]])
    def test_absurd_dimensions(self, dims):
        proto = gemm_model()
        proto.graph.initializer[0].dims[:] = dims
        self.check(proto, "Received: 'k' of ")

    def test_an_unknown_element_type(self):
        proto = gemm_model()
        proto.graph.initializer[0].data_type = 99
        self.check(proto, "Received: 'k' of type 99")

    def test_an_input_of_an_unknown_type(self):
        proto = gemm_model()
        proto.graph.input[0].type.tensor_type.elem_type = 99
        self.check(proto, "Received: 99 of input 'x'")

    def test_an_input_of_unknown_rank(self):
        proto = gemm_model()
        proto.graph.input[0].type.tensor_type.ClearField("shape")
        self.check(proto, "known rank. Received: input 'x'")

    def test_a_constant_without_a_value(self):
        nodes = [graphs.node("Constant", [], ["c"]), graphs.node("Relu", ["x"])]
        self.check(graphs.model(nodes, {"x": ("float32", [1])}), "Received: .* in node 'c'")

    def test_an_empty_model(self):
        self.check(onnx.ModelProto(), "no graph")


class ExternalDataTest(parameterized.TestCase):
    def save(self, folder, proto):
        path = pathlib.Path(folder) / "inside" / "model.onnx"
        path.parent.mkdir()
        path.write_bytes(proto.SerializeToString())
        values = np.arange(6, dtype=np.float32)
        (path.parent / "weights.bin").write_bytes(bytes(8) + values.tobytes())
        (path.parent.parent / "outside.bin").write_bytes(values.tobytes())
        return path

    def test_data_beside_the_model_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.save(folder, with_external_data("weights.bin", offset=8, length=24))
            imported = tfq.onnx.import_model(path)
        np.testing.assert_array_equal(imported(np.ones((1, 2), np.float32)), [[3, 5, 7]])

    @parameterized.parameters(
        ("../outside.bin", {}, "inside the model's folder"),
        ("/etc/hostname", {}, "inside the model's folder"),
        ("sub/../../outside.bin", {}, "inside the model's folder"),
        ("", {}, "inside the model's folder"),
        ("link.bin", {}, "inside the model's folder"),
        ("none.bin", {}, "missing"),
        (".", {}, "missing"),
        ("weights.bin", {"offset": 8, "length": 100}, "beyond its file of 32 bytes"),
        ("weights.bin", {"offset": -8, "length": 24}, "beyond its file"),
        ("weights.bin", {"offset": 64}, "beyond its file"),
        ("weights.bin", {"length": 20}, "does not fit its type and shape"),
        ("weights.bin", {"offset": "many"}, "does not fit its type and shape"),
    )
    def test_other_places_and_lengths_are_refused(self, location, entries, message):
        with tempfile.TemporaryDirectory() as folder:
            path = self.save(folder, with_external_data(location, **entries))
            (path.parent / "link.bin").symlink_to(path.parent.parent / "outside.bin")
            for function in (tfq.onnx.import_model, tfq.onnx.load_weights):
                with self.assertRaisesRegex(tfq.onnx.OnnxFileError, message):
                    function(path)

    def test_quantized_weights_beside_the_model_are_read(self):
        values = np.arange(-3, 3, dtype=np.int8)
        constants = {"w": values, "s": np.float32(0.5)}
        nodes = [graphs.node("DequantizeLinear", ["w", "s"], ["f"]), graphs.node("Add", ["x", "f"])]
        proto = graphs.model(nodes, {"x": ("float32", [1])}, "y", constants)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save_model(
                proto, path, save_as_external_data=True, location="w.bin", size_threshold=0
            )
            self.assertTrue((path.parent / "w.bin").is_file())
            weight = tfq.onnx.load_weights(path)["w"]
        np.testing.assert_array_equal(weight.values, values)
        np.testing.assert_array_equal(weight.dequantize(), values * np.float32(0.5))

    def test_a_loaded_model_has_no_folder(self):
        with self.assertRaisesRegex(tfq.onnx.OnnxFileError, "needs the model's path"):
            tfq.onnx.load_weights(with_external_data("weights.bin"))


if __name__ == "__main__":
    absltest.main()
