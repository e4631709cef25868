"""Range."""

from __future__ import annotations

import math

from tf_qops import layers
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor


@register_handler("Range")
def range_(call: NodeCall) -> Tensor:
    """Becomes a Range layer."""
    length = None
    if all(call.is_constant(i) for i in range(3)):
        start, limit, delta = (call.constant(i).item() for i in range(3))
        if not delta or not all(map(math.isfinite, (start, limit, delta))):
            raise ValueError(f"a range must be finite. Received: {start}, {limit}, {delta}.")
        length = max(math.ceil((limit - start) / delta), 0)
        call.bounded([length])
    layer = layers.Range([length], **call.options())
    return layer(*(call.tensor(i) for i in range(3)))
