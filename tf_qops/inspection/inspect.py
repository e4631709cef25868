"""Inspects a model of any kind."""

from __future__ import annotations

import collections
import os
import pathlib

import numpy as np
import onnx

from tf_qops.inspection.parameters import graph_parameters
from tf_qops.inspection.report import InspectReport, OperatorCount
from tf_qops.onnx.folding import fold
from tf_qops.onnx.fusion import Fusion, fuse
from tf_qops.onnx.reader import Graph, read
from tf_qops.onnx.report import FusedNodes, StayedFloat, quantization_kinds
from tf_qops.onnx.support import unsupported_operators
from tf_qops.onnx.weights import QuantizedTensor, quantized_constants


def inspect(path: str | os.PathLike[str]) -> InspectReport:
    """Looks at a model without running it.

    Args:
        path: an ONNX file, a .keras file, or the folder of a SavedModel.

    Returns:
        A report. Printing it shows tables, `to_json()` is all of it.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
        ValueError: another kind of file.

    Example:

    >>> report = inspect("examples/models/digits_int8.onnx")
    >>> report.quantization, report.oddities
    (('QOperator',), ())
    """
    from tf_qops.inspection import saved

    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no such model. Received: {str(path)!r}")
    if path.is_dir():
        return saved.saved_model(path)
    if path.suffix == ".keras":
        return saved.keras_file(path)
    return onnx_file(path)


def onnx_file(path: pathlib.Path) -> InspectReport:
    """Looks at an ONNX file."""
    graph = read(path)
    proto = onnx.load(path, load_external_data=False)
    weights = quantized_constants(graph)
    fusion = fused(graph)
    unsupported: dict[str, str] = {}
    for entry in unsupported_operators(path):
        unsupported.setdefault(_full_name(entry.domain, entry.op_type), entry.reason)
    counts = {_full_name(*key): count for key, count in graph.operators.items()}
    names = {node.outputs[0]: node for node in graph.nodes}
    parts = _parts(path, graph, weights)
    return InspectReport(
        path=str(path),
        kind="ONNX",
        facts=_facts(proto),
        quantization=quantization_kinds(graph),
        inputs={i.name: type_text(i.dtype, i.shape) for i in graph.inputs},
        outputs={o.name: _value_text(o) for o in proto.graph.output},
        operators=operator_counts(counts, unsupported),
        dtypes=_dtypes(graph),
        parts=parts,
        parameters=tuple(graph_parameters(graph, weights)),
        fused=tuple(FusedNodes(f.into, tuple(node.name for node in f.nodes)) for f in fusion.fused),
        stays_float=tuple(
            StayedFloat(names[output].name, names[output].op_type, reason)
            for output, reason in fusion.reasons.items()
            if output in names
        ),
    )


def fused(graph: Graph) -> Fusion:
    """Returns the graph as the import fuses it, or as it is where that fails."""
    try:
        return fuse(graph, fold)
    except Exception:  # The import says what is wrong with a node.
        return Fusion(graph, (), {})


def _full_name(domain: str, op_type: str) -> str:
    return f"{domain}.{op_type}" if domain else op_type


def operator_counts(
    counts: dict[str, int], unsupported: dict[str, str] | None = None
) -> tuple[OperatorCount, ...]:
    """Returns operators, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    reasons = unsupported or {}
    return tuple(OperatorCount(name, count, reasons.get(name, "")) for name, count in ordered)


def type_text(dtype: str, shape: tuple[int | None, ...] | None) -> str:
    """Returns a type as text: "float32 [?, 3, 224, 224]"."""
    dims = "unknown rank" if shape is None else ["?" if d is None else d for d in shape]
    listed = dims if isinstance(dims, str) else f"[{', '.join(map(str, dims))}]"
    return f"{dtype} {listed}"


def _value_text(value: onnx.ValueInfoProto) -> str:
    tensor = value.type.tensor_type
    if not tensor.elem_type:
        return "unknown type"
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    if not tensor.HasField("shape"):
        return type_text(dtype, None)
    dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    return type_text(dtype, tuple(dims))


def _facts(proto: onnx.ModelProto) -> dict[str, str]:
    opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in proto.opset_import)
    facts = {"Opsets": opsets, "IR version": str(proto.ir_version)}
    if proto.producer_name:
        facts["Made by"] = f"{proto.producer_name} {proto.producer_version}".strip()
    return facts


def _own_constants(graph: Graph) -> dict[str, np.ndarray]:
    """Returns the constants without their aliases."""
    return {name: a for name, a in graph.constants.items() if name not in graph.aliases}


def packed_bytes(array: np.ndarray) -> int:
    """Returns how much an array takes in a file, where types below a byte are packed."""
    name = array.dtype.name
    bits = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}.get(name)
    return array.nbytes if bits is None else -(-array.size * bits // 8)


def _dtypes(graph: Graph) -> dict[str, int]:
    sizes: collections.Counter[str] = collections.Counter()
    for array in _own_constants(graph).values():
        sizes[array.dtype.name] += packed_bytes(array)
    return dict(sizes.most_common())


def _parts(path: pathlib.Path, graph: Graph, weights: dict[str, QuantizedTensor]) -> dict[str, int]:
    """Returns what takes the room: codes, floats, scales and zero points, the rest of the file."""
    constants = _own_constants(graph)
    places = {"QuantizeLinear": (1, 2), "DequantizeLinear": (1, 2)}
    linear = {
        graph.aliases.get(node.inputs[i], node.inputs[i])
        for node in graph.nodes
        for i in places.get(node.op_type, range(1, 9) if node.op_type.startswith("Q") else ())
        if node.is_constant(i)
    } - weights.keys()
    parts = {"quantized weights": 0, "other weights": 0, "scales and zero points": 0}
    for name, array in constants.items():
        kind = (
            "quantized weights"
            if name in weights
            else "scales and zero points"
            if name in linear
            else "other weights"
        )
        parts[kind] += packed_bytes(array)
    rest = path.stat().st_size - sum(parts.values())
    return {**parts, "graph and names": max(rest, 0)}
