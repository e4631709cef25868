"""LSTM, GRU and RNN, and NonMaxSuppression: operators with a loop inside."""

import numpy as np
from absl.testing import absltest, parameterized

from tests.onnx.operators import compare

RNG = np.random.default_rng(4)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


class RecurrentTest(parameterized.TestCase):
    def check(self, cell, direction="forward", optional=(), shapes=None, **attributes):
        ways, gates = (2 if direction == "bidirectional" else 1), GATES[cell]
        steps, batch, n, hidden = 4, 3, 2, 5
        extra = {
            "b": floats(ways, 2 * gates * hidden),
            "lens": np.array([4, 2, 1], np.int32),
            "h": floats(ways, batch, hidden),
            "c": floats(ways, batch, hidden),
            "p": floats(ways, 3 * hidden),
        }
        inputs = {
            "x": floats(steps, batch, n),
            "w": floats(ways, gates * hidden, n),
            "r": floats(ways, gates * hidden, hidden),
        } | {name: a if name in optional else None for name, a in extra.items()}
        while list(inputs.values())[-1] is None:
            inputs.popitem()
        outputs = ("y", "yh", "yc") if cell == "LSTM" else ("y", "yh")
        compare.check_node(
            cell, inputs, outputs=outputs, constants=("w", "r", "b", "p"), shapes=shapes,
            hidden_size=hidden, direction=direction, wanted="onnxruntime", **attributes,
        )  # fmt: skip

    @parameterized.product(
        cell=("LSTM", "GRU", "RNN"),
        direction=("forward", "reverse", "bidirectional"),
        optional=((), ("b",), ("b", "lens", "h")),
    )
    def test_directions_and_inputs(self, cell, direction, optional):
        self.check(cell, direction, optional)

    def test_options_of_lstm(self):
        self.check("LSTM", optional=("b", "h", "c", "p"))
        self.check("LSTM", optional=("b",), clip=0.5)
        self.check("LSTM", activations=["Sigmoid", "Relu", "Tanh"], shapes="symbolic")

    def test_options_of_gru(self):
        self.check("GRU", optional=("b",), linear_before_reset=1)
        self.check("GRU", "bidirectional", ("b", "h"), linear_before_reset=1)


class NonMaxSuppressionTest(parameterized.TestCase):
    @parameterized.product(center=(0, 1), most=(0, 2, 100), threshold=(None, 0.4))
    def test_boxes(self, center, most, threshold):
        corners = RNG.uniform(0, 1, (2, 12, 4)).astype(np.float32)
        inputs = {
            "boxes": corners,
            "scores": RNG.uniform(0, 1, (2, 3, 12)).astype(np.float32),
            "most": np.array([most], np.int64),
            "iou": np.array([0.3], np.float32),
        }
        if threshold is not None:
            inputs["score"] = np.array([threshold], np.float32)
        compare.check_node("NonMaxSuppression", inputs, constants=("most", "iou", "score"),
                           center_point_box=center, wanted="onnxruntime")  # fmt: skip


if __name__ == "__main__":
    absltest.main()
