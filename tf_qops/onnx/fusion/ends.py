"""Where a float operator's result is quantized: QuantizeLinear behind Relu and Clip."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tf_qops.onnx.fusion import reasons
from tf_qops.onnx.fusion.codes import BYTES, Codes
from tf_qops.onnx.fusion.editor import QUANTIZE, Editor
from tf_qops.onnx.reader import Node


@dataclasses.dataclass(frozen=True, eq=False)
class End:
    """The QuantizeLinear that takes an operator's result, and what stands before it.

    Attributes:
        codes: what it makes; one scale, 8 bits.
        low, high: the codes to which Relu and Clip limit the result. Quantizing keeps order, so
            limiting the codes is the same as limiting the numbers.
        nodes: the limits and the QuantizeLinear, all of which the integer operator replaces.
    """

    codes: Codes
    low: int
    high: int
    nodes: tuple[Node, ...]

    def write(self, editor: Editor, output: str) -> str:
        """Returns the name under which the integer operator writes its result, limited after it."""
        lowest, highest = self.codes.limits()
        if (self.low, self.high) == (lowest, highest):
            return output
        unlimited = editor.new_name(f"{output}_unlimited")
        editor.note_codes(unlimited, self.codes.dtype)
        return unlimited

    def limit(self, editor: Editor, written: str, output: str) -> None:
        """Adds the limits on codes that the operator's own range does not imply."""
        if written == output:
            return
        bounds = [
            editor.add_constant(f"{output}_{part}", np.array(code, self.codes.dtype))
            for part, code in (("low", self.low), ("high", self.high))
        ]
        editor.add("Clip", [written, *bounds], output)


def limits_of(node: Node) -> tuple[float, float] | None:
    """Returns the limits that a Relu or Clip of constants sets, or None for another node."""
    if node.domain:
        return None
    if node.op_type == "Relu":
        return 0.0, math.inf
    if node.op_type != "Clip":
        return None
    if node.since_version < 11:
        return node.attribute("min", -math.inf), node.attribute("max", math.inf)
    if not all(node.is_constant(i) for i in (1, 2) if node.has_input(i)):
        return None
    low, high = node.constant(1, None), node.constant(2, None)
    return (
        -math.inf if low is None else float(low.item()),
        math.inf if high is None else float(high.item()),
    )


def find_end(editor: Editor, tensor: str) -> End | str:
    """Returns where a float tensor is quantized, or why it is not."""
    limits: list[tuple[float, float]] = []
    passed: list[Node] = []
    while True:
        consumer = editor.only_consumer(tensor)
        if consumer is None:
            return reasons.SHARED_RESULT
        consumer = editor.renamed(consumer)
        passed.append(consumer)
        if consumer.op_type == QUANTIZE:
            break
        limit = limits_of(consumer)
        if limit is None or consumer.inputs[0] != tensor:
            return reasons.RESULT_FLOAT
        limits.append(limit)
        tensor = consumer.outputs[0]
    codes = editor.output_codes(consumer)
    if codes is None or not codes.per_tensor or codes.dtype not in BYTES:
        return reasons.RESULT_NOT_BYTES
    low, high = codes.limits()
    for lower, upper in limits:
        if lower > upper or math.isnan(lower) or math.isnan(upper):
            return reasons.LIMITED_TO_NOTHING
        low, high = (
            min(max(bound, codes.quantize(lower)), codes.quantize(upper)) for bound in (low, high)
        )
    return End(codes, low, high, tuple(passed))
