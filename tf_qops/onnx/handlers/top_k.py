"""TopK."""

from __future__ import annotations

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("TopK", since_version=10)
def top_k(call: NodeCall) -> tuple[Tensor, Tensor]:
    """Becomes a TopK layer."""
    (k,) = call.known(1) or [None]
    return _top_k(call, k, [call.tensor(1)])


def _check(node: Node) -> str | None:
    return None if node.attribute("k") else "it needs its attribute k"


@register_handler("TopK", check=_check)
def top_k_by_attribute(call: NodeCall) -> tuple[Tensor, Tensor]:
    """Becomes a TopK layer."""
    return _top_k(call, call.attribute("k"), [])


def _top_k(call: NodeCall, k: int | None, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
    layer = layers.TopK(
        k, call.attribute("axis"), bool(call.attribute("largest", 1)), **call.options()
    )
    return layer(call.tensor(0), *(inputs if k is None else []))
