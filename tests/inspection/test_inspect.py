"""What an inspection says of models whose faults are known."""

import html.parser
import itertools
import json
import pathlib

import keras
import numpy as np
import onnx
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx import graphs, qdq
from tf_qops.inspection import inspect
from tf_qops.inspection.layout import layered
from tf_qops.inspection.page import write_page

X = (np.float32(0.1), np.uint8(128))


def convolution(w, w_scale, b_scale, y_zero=0, relu=False):
    """x -> QuantizeLinear -> DequantizeLinear -> Conv with a bias -> (Relu) -> QuantizeLinear."""
    graph = qdq.Builder()
    channels = len(w)
    zeros = np.zeros(np.shape(w_scale), np.int8)
    x = graph.codes("x", np.zeros((1, 2, 4, 4), np.float32))
    operands = [graph.dq(graph.q(x, *X), *X)]
    operands.append(graph.dq(graph.constant("w", w), w_scale, zeros, axis=0))
    bias = graph.constant("b", np.arange(channels).astype(np.int32))
    operands.append(graph.dq(bias, b_scale, np.zeros(np.shape(b_scale), np.int32), axis=0))
    name = graph.op("Conv", operands, "c")
    if relu:
        name = graph.op("Relu", [name], "r")
    graph.q(name, np.float32(0.5), np.uint8(y_zero))
    return graph.model(f"{name}_q")


class PageParser(html.parser.HTMLParser):
    """Checks that what is opened is closed, and that ids are unique."""

    VOID = ("meta",)

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        for name, value in attrs:
            assert name not in ("src", "href") or value.startswith("#"), value
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def parsed(path):
    parser = PageParser()
    parser.feed(pathlib.Path(path).read_text(encoding="utf-8"))
    assert not parser.open and len(set(parser.ids)) == len(parser.ids)
    return parser


class InspectTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.rng = np.random.default_rng(2)

    def inspect(self, proto):
        path = self.folder / "model.onnx"
        onnx.save(proto, path)
        return inspect(path)

    def weights(self):
        w = self.rng.integers(-128, 128, (3, 2, 3, 3)).astype(np.int8)
        w[:, 0, 0, 0], w[:, 0, 0, 1] = -128, 127
        return w

    def test_a_sound_convolution_has_nothing_odd(self):
        scale = np.float32([0.01, 0.02, 0.03])
        report = self.inspect(convolution(self.weights(), scale, X[0] * scale))
        self.assertEmpty(report.oddities)
        self.assertEqual(report.quantization, ("QDQ",))
        self.assertEqual([f.into for f in report.fused], ["QLinearConv"])
        roles = {p.tensor: (p.role, p.granularity) for p in report.parameters}
        self.assertEqual(
            roles,
            {
                "x_q": ("activation", "per tensor"),
                "w": ("weight", "per axis 0"),
                "b": ("bias", "per axis 0"),
                "c_q": ("activation", "per tensor"),
            },
        )

    def test_a_bias_of_another_scale_is_odd(self):
        scale = np.float32([0.01, 0.02, 0.03])
        off = X[0] * scale * np.float32([1, 1, 5])
        (found,) = self.inspect(convolution(self.weights(), scale, off)).oddities
        self.assertEqual(
            found, "b: 1 of 3 of its scales are not x_scale * w_scale of c, but up to 5 times it"
        )

    def test_a_channel_of_zeros_is_odd(self):
        w, scale = self.weights(), np.float32([0.01, 0.02, 0.03])
        w[1] = 0
        (found,) = self.inspect(convolution(w, scale, X[0] * scale)).oddities
        self.assertEqual(found, "w: 1 of 3 channels are all zero")

    @parameterized.parameters(
        ([0.01, 0, 0.03], "1 of 3 scales are 0"),
        ([0.01, -0.02, np.inf], "2 of 3 scales are negative or not finite"),
        ([1e-9, 0.02, 0.03], "the scales are up to 3e+07 apart"),
    )
    def test_scales_that_are_odd(self, scales, message):
        scale = np.float32(scales)
        report = self.inspect(convolution(self.weights(), scale, X[0] * scale))
        self.assertIn(f"w: {message}", report.oddities)

    def test_codes_that_are_never_used_are_odd(self):
        scale = np.float32(0.01)
        w = self.rng.integers(-20, 21, (3, 2, 3, 3)).astype(np.int8)
        w[0, 0, 0, :2] = -20, 20
        report = self.inspect(convolution(w, scale, X[0] * scale, y_zero=100, relu=True))
        self.assertEqual(
            report.oddities,
            ("w: its codes span 41 of 256", "r_q: 100 codes below zero are never used behind Relu"),
        )

    def test_an_operator_that_cannot_be_imported_is_odd(self):
        node = graphs.node("Shout", ["x"], domain="com.microsoft")
        proto = graphs.model([node], {"x": ("float32", [2])}, microsoft=True)
        (found,) = self.inspect(proto).oddities
        self.assertStartsWith(found, "com.microsoft.Shout cannot be imported: ")

    def test_sizes_add_up_to_the_file(self):
        for path in (graphs.DIGITS, self.keras_file()):
            report = inspect(path)
            self.assertEqual(sum(report.parts.values()), path.stat().st_size)

    def keras_file(self):
        path = self.folder / "model.keras"
        tfq.onnx.import_model(graphs.DIGITS).save(path)
        return path

    def test_a_keras_file_has_the_scales_of_its_layers(self):
        report = inspect(self.keras_file())
        self.assertEqual(report.kind, "Keras")
        want = tfq.onnx.load_weights(graphs.DIGITS)["conv2.weight_quantized"]
        (kernel,) = (p for p in report.parameters if p.tensor == "conv2_quant/kernel")
        self.assertEqual(kernel.shape, want.values.shape)
        self.assertEqual((kernel.scale_min, kernel.scale_max), (want.scale.min(), want.scale.max()))

    def test_a_saved_model_is_read_without_being_loaded(self):
        tfq.onnx.import_model(graphs.DIGITS).export(self.folder / "m", verbose=False)
        report = inspect(self.folder / "m")
        self.assertEqual(report.kind, "SavedModel")
        self.assertEqual(report.inputs, {"image": "float32 [?, 1, 8, 8]"})
        counts = {op.name: op.nodes for op in report.operators}
        self.assertEqual(counts["TfQops>QLinearConv"], 3)
        self.assertIn("register", report.facts["Needs"])

    def test_the_report_prints_and_is_json(self):
        report = inspect(graphs.DIGITS)
        self.assertIn("Scales and zero points", str(report))
        self.assertLen(json.loads(report.to_json())["parameters"], len(report.parameters))

    def test_files_of_another_kind_are_refused(self):
        for name, content in (("a.onnx", b"nothing"), ("a.keras", b"nothing")):
            path = self.folder / name
            path.write_bytes(content)
            with self.assertRaisesRegex(ValueError, f"Received: .*{name}"):
                inspect(path)
        with self.assertRaisesRegex(ValueError, "must be a SavedModel"):
            inspect(self.folder)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            inspect("nowhere.onnx")


class PageTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def test_onnx(self):
        write_page(inspect(graphs.DIGITS), self.folder / "page.html")
        page = parsed(self.folder / "page.html")
        self.assertEqual(page.tags.count("svg"), 2 + 3)  # Graph, legend, three weights.
        text = (self.folder / "page.html").read_text()
        self.assertEqual(text.count("<title>QLinearConv"), 3)

    @parameterized.parameters("imported", "functional", "sequential")
    def test_keras(self, kind):
        if kind == "imported":
            model = tfq.onnx.import_model(graphs.DIGITS)
        elif kind == "functional":
            x = keras.Input([4])
            model = keras.Model(x, keras.layers.Add()([keras.layers.Dense(4)(x), x]))
        else:
            model = keras.Sequential([keras.Input([4]), keras.layers.Dense(2)])
        model.save(self.folder / "m.keras")
        write_page(inspect(self.folder / "m.keras"), self.folder / "page.html")
        self.assertEqual(parsed(self.folder / "page.html").tags.count("svg"), 2)

    def test_names_are_escaped(self):
        nodes = [graphs.node("Relu", ["<script>"], ["y"], name="</title><b>")]
        proto = graphs.model(nodes, {"<script>": ("float32", [2])})
        onnx.save(proto, self.folder / "m.onnx")
        write_page(inspect(self.folder / "m.onnx"), self.folder / "page.html")
        self.assertNotIn("script", parsed(self.folder / "page.html").tags)


class LayoutTest(absltest.TestCase):
    def test_edges_go_down_and_boxes_do_not_overlap(self):
        nodes = [f"n{i}" for i in range(40)]
        rng = np.random.default_rng(1)
        edges = [
            (nodes[j], nodes[i]) for i in range(1, 40) for j in set(rng.integers(0, i, 2).tolist())
        ]
        layout = layered(nodes, edges)
        for start, end in edges:
            self.assertLess(layout.places[start][1], layout.places[end][1])
        for (a, row_a), (b, row_b) in itertools.combinations(layout.places.values(), 2):
            self.assertTrue(row_a != row_b or abs(a - b) > 0.999)
        for route in layout.routes.values():
            rows = [row for _, row in route]
            self.assertEqual(rows, list(range(rows[0], rows[-1] + 1)))
        columns = [column for column, _ in layout.places.values()]
        self.assertGreaterEqual(min(columns), 0)
        self.assertLess(max(columns), layout.columns)


if __name__ == "__main__":
    absltest.main()
