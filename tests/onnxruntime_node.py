"""Runs a single node in ONNX Runtime."""

import numpy as np
import onnxruntime
from onnx import helper


def run(op_type, inputs, domain="com.microsoft", output_types=None, **attributes):
    """The outputs for arrays; None for an input that is left out."""
    arrays = {f"i{i}": np.asarray(value) for i, value in enumerate(inputs) if value is not None}
    types = output_types or [np.asarray(inputs[-1]).dtype]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in arrays.items()
    ]
    outputs = [
        helper.make_tensor_value_info(f"o{i}", helper.np_dtype_to_tensor_dtype(np.dtype(t)), None)
        for i, t in enumerate(types)
    ]
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    node = helper.make_node(op_type, names, [o.name for o in outputs], domain=domain, **attributes)
    graph = helper.make_graph([node], op_type, infos, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Without this, products of uint8 and int8 saturate on CPUs that have no VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, arrays)
