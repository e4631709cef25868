"""What a CPU without VNNI makes of a sum, computed again by hand.

AVX2's vpmaddubsw multiplies uint8 by int8 and adds two neighbouring products in 16 bits, which
saturate. Here NumPy emulates that for one value of a 1 x 1 convolution; no such CPU is needed.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
from onnx import numpy_helper
from rich.console import Console


@dataclasses.dataclass(frozen=True)
class Example:
    """One value of a convolution.

    Attributes:
        node: the convolution's name.
        x, w: codes of its operands, [channels].
        x_zero_point: of x; w's is 0.
        bias: int32, in the sum's units.
        scale: x_scale * w_scale / y_scale.
        y_zero_point: of the result.
        y: the result's code, as the imported network has it.
    """

    node: str
    x: np.ndarray
    w: np.ndarray
    x_zero_point: int
    bias: int
    scale: np.float32
    y_zero_point: int
    y: int

    @property
    def pairs(self) -> np.ndarray:
        """Sums of two neighbouring products."""
        products = self.x.astype(np.int64) * self.w
        return np.pad(products, (0, products.size % 2)).reshape(-1, 2).sum(1)

    def code(self, pairs: np.ndarray) -> int:
        """Returns the result's code for sums of pairs (numerics of QLinearConv)."""
        total = int(pairs.sum()) - self.x_zero_point * int(self.w.astype(np.int64).sum())
        scaled = np.rint(np.float32(total + self.bias) * self.scale)
        return int(np.clip(int(scaled) + self.y_zero_point, 0, 255))

    @property
    def saturated(self) -> np.ndarray:
        """The pairs as vpmaddubsw would have them."""
        return np.clip(self.pairs, -(2**15), 2**15 - 1)


def find(model: onnx.ModelProto, codes: dict[str, np.ndarray]) -> Example | None:
    """Returns the value whose code saturation would move farthest, or None if it moves none.

    Args:
        model: with Q/DQ pairs.
        codes: tensor -> its codes, [1, channels, h, w], for one input.
    """
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    made_by = {output: node for node in model.graph.node for output in node.output}
    readers = {name: node for node in model.graph.node for name in node.input}
    best, farthest = None, 0
    for node in model.graph.node:
        if node.op_type != "Conv" or len(node.input) < 3:
            continue
        x, w, b = (made_by.get(name) for name in node.input)
        end = readers.get(node.output[0])
        if any(n is None or n.op_type != "DequantizeLinear" for n in (x, w, b)):
            continue
        if end is None or end.op_type != "QuantizeLinear" or end.output[0] not in codes:
            continue
        weights = constants[w.input[0]]
        if x.input[0] not in codes or weights.shape[2:] != (1, 1):
            continue
        (x_scale, x_zero), (w_scale, _), (y_scale, y_zero) = (
            [constants[name] for name in n.input[1:3]] for n in (x, w, end)
        )
        channels = weights.shape[1]
        values = codes[x.input[0]][0].reshape(channels, -1).T
        ys = codes[end.output[0]][0].reshape(len(weights), -1)
        if ys.shape[1] != len(values):
            continue
        step = max(1, len(values) // 500)
        values, ys = values[::step], ys[:, ::step]
        for m, row in enumerate(weights.reshape(len(weights), channels)):
            even = channels // 2 * 2
            products = values.astype(np.int32) * row
            pairs = products[:, :even].reshape(len(values), -1, 2).sum(2)
            excess = np.abs(pairs - np.clip(pairs, -(2**15), 2**15 - 1)).sum(1)
            i = int(excess.argmax())
            if not excess[i]:
                continue
            scale = x_scale * np.broadcast_to(w_scale, len(weights))[m] / y_scale
            example = Example(
                node.name, values[i], row, int(x_zero), int(constants[b.input[0]].reshape(-1)[m]),
                np.float32(scale), int(y_zero), int(ys[m, i]),
            )  # fmt: skip
            moved = abs(example.code(example.pairs) - example.code(example.saturated))
            if moved > farthest:
                best, farthest = example, moved
    return best


def explain(console: Console, examples: list[Example]) -> None:
    """Prints the example that moves farthest, with its largest pair of products."""
    if not examples:
        console.print("No pair of products leaves 16 bits: a CPU without VNNI is exact here.")
        return
    e = max(examples, key=lambda e: abs(e.code(e.pairs) - e.code(e.saturated)))
    k = int(np.abs(e.pairs - e.saturated).argmax())
    (x0, x1), (w0, w1) = e.x[2 * k : 2 * k + 2].tolist(), e.w[2 * k : 2 * k + 2].tolist()
    console.print(
        f"By hand, one value of {e.node} ({e.x.size} products):\n"
        f"  one pair: {x0} * {w0} + {x1} * {w1} = {e.pairs[k]}, "
        f"in saturating 16 bits {e.saturated[k]}\n"
        f"  all pairs, exact: code {e.code(e.pairs)}; TensorFlow has {e.y}\n"
        f"  all pairs, saturating: code {e.code(e.saturated)} "
        "(emulated: what vpmaddubsw on a CPU without VNNI would give)",
        highlight=False,
        soft_wrap=True,
    )
