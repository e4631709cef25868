"""Types of the file that only wider ones carry through the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from tf_qops.onnx.reader import Node
from tf_qops.onnx.values import Value


def carry_dtypes(
    node: Node,
    values: Sequence[Value | np.ndarray | None],
    outputs: Mapping[str, Value | np.ndarray],
) -> None:
    """Tells outputs that carry another type so, where the operator has them of an input's type."""
    carried = [v.carried_dtype if isinstance(v, Value) else None for v in values]
    if not any(carried) or not node.since_version:
        return
    schema = onnx.defs.get_schema(node.op_type, node.opset, node.domain)
    dtypes = {
        parameter.type_str: dtype
        for parameter, dtype in zip(schema.inputs, carried, strict=False)
        if dtype
    }
    for parameter, name in zip(schema.outputs, node.outputs, strict=False):
        if isinstance(outputs.get(name), Value):
            outputs[name].carried_dtype = dtypes.get(
                parameter.type_str, outputs[name].carried_dtype
            )
