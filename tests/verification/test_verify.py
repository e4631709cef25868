"""Who is right where two runtimes differ, on graphs whose exact values are known."""

import json
import pathlib

import keras
import numpy as np
import onnx
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract
from tests.onnx import graphs, qdq
from tf_qops.onnx.reader import read
from tf_qops.verification import Verdict
from tf_qops.verification.feeds import feeds_for
from tf_qops.verification.judge import judged
from tf_qops.verification.peers import Recorded
from tf_qops.verification.pieces import compared_tensors, cut, opened

DIGITS = graphs.DIGITS


class FakePeer:
    """A runtime that has the values it is given."""

    name, version = "fake", "1"

    def __init__(self, **values):
        self._values = values

    def run(self, model, feeds):
        return None

    def record(self, model, feeds, tensors, pieces, others):
        return Recorded(self._values)


def saturating_sums(unsigned, signed):
    """[n, k] x [k, m] as vpmaddubsw has it: neighbours in k are added in saturating int16."""
    products = unsigned.astype(np.int32)[:, :, None] * signed.astype(np.int32)[None]
    pairs = products[:, 0::2] + products[:, 1::2]
    return np.clip(pairs, -32768, 32767).astype(np.int64).sum(1)


class VerdictTest(parameterized.TestCase):
    def verify(self, proto, inputs, against):
        path = pathlib.Path(self.create_tempdir().full_path) / "model.onnx"
        onnx.save(proto, path)
        return tfq.verify(path, path, inputs, against)

    def matmul(self, a_dtype=np.uint8):
        """A QLinearMatMul, its input, and what saturating and exact sums make of it."""
        rng = np.random.default_rng(3)
        limits = np.iinfo(a_dtype)
        a = rng.integers(limits.max - 60, limits.max + 1, (3, 64)).astype(a_dtype)
        b = rng.integers(-128, 128, (64, 5)).astype(np.int8)
        b[:, 1] = 127
        a_zero, y_zero = a_dtype(3), np.uint8(40)
        constants = {
            "as": np.float32(0.02), "az": a_zero, "b": b, "bs": np.float32(0.01),
            "bz": np.int8(0), "ys": np.float32(2.5), "yz": y_zero,
        }  # fmt: skip
        node = graphs.node("QLinearMatMul", ["a", *constants], ["y"])
        proto = graphs.model([node], {"a": (a_dtype, a.shape)}, ["y"], constants)
        scale = (np.float32(0.02) * np.float32(0.01)) / np.float32(2.5)
        unsigned = a.astype(np.int64) + (128 if a_dtype == np.int8 else 0)
        shift = int(a_zero) + (128 if a_dtype == np.int8 else 0)

        def codes(sums):
            centred = (sums - shift * b.astype(np.int64).sum(0)).astype(np.float32)
            rounded = np.rint(centred * scale).astype(np.int64) + int(y_zero)
            return np.clip(rounded, 0, 255).astype(np.uint8)

        exact = codes(unsigned @ b.astype(np.int64))
        return proto, a, codes(saturating_sums(unsigned, b)), exact

    @parameterized.parameters(np.uint8, np.int8)
    def test_a_peer_that_saturates_is_proved_to(self, dtype):
        proto, a, saturated, exact = self.matmul(dtype)
        self.assertGreater((saturated != exact).sum(), 3)
        report = self.verify(proto, {"a": a}, [FakePeer(y=saturated)])
        (node,) = report.nodes
        self.assertEqual(node.verdict, Verdict.PEER_SATURATES)
        self.assertEqual(node.different, (saturated != exact).sum())
        place = node.proof.position
        self.assertEqual((node.proof.ours, node.proof.theirs), (exact[place], saturated[place]))
        text = str(report)
        self.assertRegex(text, r"64 products \(x - 3\)·\(w - 0\) add up to -?\d+")
        self.assertRegex(text, r"= -?\d{5}, in 16 bits -?3276\d\n")
        self.assertEmpty(report.findings(0.01))

    def test_a_convolution_between_q_and_dq_that_saturates_is_proved_to(self):
        rng = np.random.default_rng(4)
        x = rng.integers(200, 256, (1, 4, 3, 3)).astype(np.uint8)
        w = np.full((2, 4, 1, 1), 127, np.int8)
        w[1] = 3
        graph = qdq.Builder()
        one, y_scale, zero = np.float32(1), np.float32(600), np.int8(0)
        operands = [graph.dq(graph.codes("x", x), one, np.uint8(0))]
        operands.append(graph.dq(graph.constant("w", w), one, zero))
        graph.q(graph.op("Conv", operands, "c"), y_scale, np.uint8(0))
        sums = saturating_sums(x[0].reshape(4, 9).T, w.reshape(2, 4).T).T
        codes = np.rint(sums / 600.0).astype(np.uint8).reshape(1, 2, 3, 3)
        report = self.verify(graph.model("c_q"), {"x": x}, [FakePeer(c_q=codes)])
        (node,) = report.nodes
        self.assertEqual(node.verdict, Verdict.PEER_SATURATES)
        self.assertEqual(node.different, 9)  # The second filter does not saturate.
        self.assertEqual(node.operator, "Conv between Q/DQ")

    def test_an_integer_sum_that_saturates_is_proved_to(self):
        a, b = np.full((1, 2), 255, np.uint8), np.full((2, 1), 127, np.int8)
        proto = graphs.model(
            [graphs.node("MatMulInteger", ["a", "b"])], {"a": (a.dtype, a.shape)}, "y", {"b": b}
        )
        report = self.verify(proto, {"a": a}, [FakePeer(y=np.int32([[32767]]))])
        (node,) = report.nodes
        self.assertEqual(node.verdict, Verdict.PEER_SATURATES)
        self.assertIn("255·127 + 255·127 = 64770, in 16 bits 32767", node.proof.arithmetic)

    def test_a_wrong_peer_that_does_not_saturate_is_not_said_to(self):
        proto, a, _, exact = self.matmul()
        wrong = exact.copy()
        wrong[1, 2] ^= 1
        report = self.verify(proto, {"a": a}, [FakePeer(y=wrong)])
        self.assertEqual(report.nodes[0].verdict, Verdict.PEER_DIFFERS)
        self.assertEqual(report.nodes[0].proof.position, (1, 2))

    def test_a_half_way_value_is_a_tie(self):
        # 576 * (2^-5 * 0.5) / 2 = 4.5: rounded before 73 is added 77, afterwards 78.
        constants = {
            "xs": np.float32(2**-5), "xz": np.uint8(0), "w": np.int8([[[[4]]]]),
            "ws": np.float32(0.5), "wz": np.int8(0), "ys": np.float32(2), "yz": np.uint8(73),
        }  # fmt: skip
        node = graphs.node("QLinearConv", ["x", *constants])
        proto = graphs.model([node], {"x": ("uint8", [1, 1, 1, 1])}, constants=constants)
        report = self.verify(proto, {"x": np.uint8([[[[144]]]])}, ["reference"])
        (node,) = report.nodes
        self.assertEqual(node.verdict, Verdict.TIE)
        self.assertEqual((node.proof.ours, node.proof.theirs, node.proof.exact), (77, 78, 77.5))
        self.assertEmpty(report.findings())

    def test_sums_in_another_order_are_float_order_and_wrong_ones_are_not(self):
        rng = np.random.default_rng(5)
        x, w = (rng.normal(size=s).astype(np.float32) for s in ((4, 300), (300, 6)))
        nodes = [graphs.node("MatMul", ["x", "w"])]
        proto = graphs.model(nodes, {"x": (x.dtype, x.shape)}, "y", {"w": w})
        backwards = (x[:, ::-1] @ w[::-1]).astype(np.float32)
        backwards[0, 0] = np.nextafter(backwards[0, 0], np.float32(np.inf))
        report = self.verify(proto, {"x": x}, [FakePeer(y=backwards)])
        self.assertEqual(report.nodes[0].verdict, Verdict.FLOAT_ORDER)
        backwards[2, 3] += 0.01
        report = self.verify(proto, {"x": x}, [FakePeer(y=backwards)])
        self.assertEqual(report.nodes[0].verdict, Verdict.PEER_DIFFERS)

    def test_ours_is_blamed_where_it_is_wrong(self):
        proto, a, _, exact = self.matmul()
        (piece,) = cut(proto, read(proto), ["y"])
        wrong = exact.copy()
        wrong[2, 0] ^= 1
        verdict, proof = judged(piece, {"a": a}, "y", wrong, exact)
        self.assertEqual(verdict, Verdict.OURS_DIFFERS)
        self.assertEqual(proof.position, (2, 0))

    @parameterized.parameters(
        ("QLinearAdd", contract.INTEGERS["uint8"]), ("QLinearMul", contract.INTEGERS["int8"])
    )
    def test_onnxruntime_is_at_most_a_tie_away_in_arithmetic(self, op_type, dtype):
        rng = np.random.default_rng(6)
        limits = np.iinfo(dtype)
        a, b = (rng.integers(limits.min, limits.max + 1, 5000).astype(dtype) for _ in "ab")
        zero = np.asarray(7, dtype)
        constants = {
            "as": np.float32(0.031), "az": zero, "b": b, "bs": np.float32(0.007), "bz": zero,
            "cs": np.float32(0.04), "cz": zero,
        }  # fmt: skip
        node = graphs.node(op_type, ["a", *constants], domain="com.microsoft")
        proto = graphs.model([node], {"a": (dtype, a.shape)}, "y", constants, microsoft=True)
        report = self.verify(proto, {"a": a}, ["onnxruntime"])
        self.assertEmpty(report.findings(0.01))
        self.assertLen(report.nodes, 2)


class WholeModelTest(parameterized.TestCase):
    def test_the_digits_network_has_no_findings(self):
        report = tfq.verify(DIGITS, DIGITS)
        self.assertEmpty(report.findings(1e-5))
        self.assertEqual(
            [p.name for p in report.peers], ["onnxruntime", "onnxruntime exact", "reference"]
        )
        convolutions = [c for c in report.nodes if c.operator == "QLinearConv"]
        self.assertLen(convolutions, 9)  # Three, beside three peers.
        for c in convolutions:
            self.assertIn(c.verdict, (Verdict.SAME, Verdict.TIE))
        content = json.loads(report.to_json())
        self.assertEqual(content["inputs"], {"image": "float32 [2, 1, 8, 8]"})
        self.assertLen(content["nodes"], len(report.nodes))

    @parameterized.parameters("keras", "SavedModel", "model", "channels last")
    def test_a_model_in_any_form(self, form):
        options = {"data_format": "channels_last"} if form == "channels last" else {}
        model = tfq.onnx.import_model(DIGITS, **options)
        folder = pathlib.Path(self.create_tempdir().full_path)
        if form == "keras":
            model.save(folder / "m.keras")
            model = folder / "m.keras"
        elif form == "SavedModel":
            model.export(folder / "m", verbose=False)
            model = folder / "m"
        report = tfq.verify(model, DIGITS, against=["onnxruntime"])
        self.assertEmpty(report.findings(1e-5))

    def test_another_models_outputs_are_found_too_far(self):
        inputs = keras.Input([1, 8, 8], batch_size=None)
        other = keras.Model(inputs, keras.layers.Dense(10)(keras.layers.Flatten()(inputs)))
        report = tfq.verify(other, DIGITS, against=["onnxruntime"])
        self.assertLen(report.findings(0.1), 2)
        self.assertIn("output probabilities: distance", report.findings(0.1)[0])

    def test_opening_the_compared_tensors_keeps_every_fusion(self):
        graph = qdq.Builder()
        rng = np.random.default_rng(7)
        x, w = (rng.integers(0, 256, s).astype(np.uint8) for s in ((1, 4, 6, 6), (4, 4, 3, 3)))
        scale, zero = np.float32(0.1), np.uint8(128)
        name = graph.codes("x", x)
        for i in range(2):
            weights = graph.dq(graph.constant(f"w{i}", w), scale, zero)
            conv = graph.op("Conv", [graph.dq(name, scale, zero), weights], f"c{i}")
            name = graph.q(graph.op("Relu", [conv], f"r{i}"), np.float32(5), np.uint8(0))
        proto = graph.model(name)
        tensors = compared_tensors(read(proto))
        self.assertEqual(tensors, ["r0_q", "r1_q"])
        fused = tfq.onnx.import_model(opened(proto, tensors)).import_report.fused
        self.assertEqual(fused, tfq.onnx.import_model(proto).import_report.fused)


class InputsTest(parameterized.TestCase):
    def test_made_up_inputs_are_the_same_every_time_and_use_all_codes(self):
        model, graph = onnx.load(DIGITS), read(DIGITS)
        first, second = (feeds_for(model, graph, None)["image"] for _ in range(2))
        np.testing.assert_array_equal(first, second)
        (node,) = (n for n in graph.nodes if n.op_type == "QuantizeLinear" and "image" in n.inputs)
        low, high = ((c - int(node.constant(2))) * node.constant(1) for c in (0, 255))
        self.assertBetween(first.min(), low, low + 0.1 * (high - low))
        self.assertBetween(first.max(), high - 0.1 * (high - low), high)

    def test_indices_stay_within_the_table(self):
        table = np.ones((5, 3), np.float32)
        nodes = [graphs.node("Gather", ["t", "ids"])]
        proto = graphs.model(nodes, {"ids": ("int64", ["n", "m"])}, "y", {"t": table})
        ids = feeds_for(proto, read(proto), None)["ids"]
        self.assertEqual(ids.shape, (2, 8))
        self.assertLess(ids.max(), 5)

    @parameterized.parameters(
        ({"image": np.zeros([1, 1, 8, 9], np.float32)}, r"float32 of shape .*8, 8.*8, 9"),
        ({"image": np.zeros([1, 1, 8, 8], np.int8)}, "float32 of shape .* Received: int8"),
        ({"picture": np.zeros([1, 1, 8, 8], np.float32)}, r"'image'.*'picture'"),
    )
    def test_inputs_that_do_not_fit_are_refused(self, inputs, message):
        with self.assertRaisesRegex(ValueError, message):
            tfq.verify(DIGITS, DIGITS, inputs)

    def test_other_errors_name_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "Received: 'nobody'"):
            tfq.verify(DIGITS, DIGITS, against=["nobody"])
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            tfq.verify(DIGITS, "nowhere.onnx")
        with self.assertRaisesRegex(FileNotFoundError, "nowhere.npz"):
            tfq.verify(DIGITS, DIGITS, "nowhere.npz")
        with self.assertRaisesRegex(ValueError, "Received: .*BUILD"):
            tfq.verify("BUILD", DIGITS)


if __name__ == "__main__":
    absltest.main()
