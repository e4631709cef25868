"""Small ONNX models for the tests, and ONNX Runtime's exact results for them."""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

DIGITS = pathlib.Path(__file__).parents[2] / "examples" / "models" / "digits_int8.onnx"


def node(op_type, inputs, outputs=("y",), name="", **attributes):
    return helper.make_node(op_type, list(inputs), list(outputs), name, **attributes)


def model(nodes, inputs, outputs=("y",), constants=(), opset=21, microsoft=False):
    """A model.

    Args:
        nodes: NodeProtos.
        inputs: name -> (dtype, shape).
        outputs: names.
        constants: name -> array.
        opset: of ONNX's own domain.
        microsoft: whether com.microsoft is imported too.
    """
    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
            )
            for name, (dtype, shape) in inputs.items()
        ],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in dict(constants).items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    if microsoft:
        opsets.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def as_constants(proto, values):
    """A copy of a model with all but its first input as constants, and the values that stay."""
    proto, (first, *rest) = onnx.ModelProto.FromString(proto.SerializeToString()), values
    for info, value in zip(proto.graph.input[1:], rest, strict=True):
        if not isinstance(value, onnx.TensorProto):
            value = numpy_helper.from_array(np.asarray(value))
        value.name = info.name
        proto.graph.initializer.append(value)
    return proto, [first]


def weight_only(dtype, block_size=0, zero_point=True, inputs=8, outputs=64):
    """x float32 [n, inputs] -> Gemm with a weight of the dtype, dequantized in blocks of rows."""
    rng = np.random.default_rng(6)
    blocks = (-(-inputs // block_size), outputs) if block_size else (outputs,)
    bits = rng.integers(0, 256, (inputs, outputs)).astype(np.uint8)
    constants = {
        "w": np.array(bits % 7 if "float" in dtype else bits % 4).astype(dtype),
        "s": rng.uniform(0.01, 0.1, blocks).astype(np.float32),
        "z": np.ones(blocks, dtype),
    }
    if not zero_point:
        del constants["z"]
    nodes = [
        node("DequantizeLinear", list(constants), ["wd"], axis=0 if block_size else 1,
             block_size=block_size),
        node("Gemm", ["x", "wd"]),
    ]  # fmt: skip
    return model(nodes, {"x": ("float32", [None, inputs])}, "y", constants, opset=25)


def run_exactly(proto, *arrays):
    """What ONNX Runtime gives when it does not saturate intermediate sums."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    feeds = dict(zip([i.name for i in session.get_inputs()], arrays, strict=True))
    return session.run(None, feeds)


def quantized_conv(**attributes):
    """x uint8 [n, 4, 7, 6] -> QLinearConv -> y uint8, a scale and zero point for each filter."""
    rng = np.random.default_rng(5)
    group = attributes.get("group", 1)
    constants = {
        "xs": np.float32(0.02),
        "xz": np.uint8(128),
        "w": rng.integers(-128, 128, (6, 4 // group, 3, 3)).astype(np.int8),
        "ws": rng.uniform(0.01, 0.05, 6).astype(np.float32),
        "wz": np.zeros(6, np.int8),
        "ys": np.float32(0.3),
        "yz": np.uint8(100),
        "b": rng.integers(-999, 999, 6).astype(np.int32),
    }
    conv = node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], **attributes)
    return model([conv], {"x": ("uint8", ["n", 4, 7, 6])}, constants=constants)
