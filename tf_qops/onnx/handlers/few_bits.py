"""MatMulNBits and GatherBlockQuantized: weights of few bits in blocks."""

from __future__ import annotations

from collections.abc import Callable

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


def _constants(*indices: int) -> Callable[[Node], str | None]:
    """Returns a check that refuses nodes whose weights are computed."""

    def check(node: Node) -> str | None:
        computed = [i for i in indices if node.has_input(i) and not node.is_constant(i)]
        names = ", ".join(node.inputs[i] for i in computed)
        return f"its weights must be constants, not computed ({names})" if computed else None

    return check


@register_handler("MatMulNBits", "com.microsoft", check=_constants(1, 2, 3, 4, 5))
def matmul_nbits(call: NodeCall) -> Tensor:
    """Becomes a MatMulNBits layer."""
    layer = layers.MatMulNBits(
        *(call.constant(i) for i in range(1, 6)),
        k=call.attribute("K"),
        n=call.attribute("N"),
        bits=call.attribute("bits", 4),
        block_size=call.attribute("block_size"),
        **call.options(),
    )
    return layer(call.tensor(0))


@register_handler("GatherBlockQuantized", "com.microsoft", check=_constants(0, 2, 3))
def gather_block_quantized(call: NodeCall) -> Tensor:
    """Becomes a GatherBlockQuantized layer."""
    layer = layers.GatherBlockQuantized(
        *(call.constant(i) for i in (0, 2, 3)),
        gather_axis=call.attribute("gather_axis", 0),
        quantize_axis=call.attribute("quantize_axis", 1),
        block_size=call.attribute("block_size", 128),
        bits=call.attribute("bits", 4),
        **call.options(1),
    )
    return layer(call.tensor(1))
