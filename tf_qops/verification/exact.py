"""What a piece of a graph computes in real arithmetic, and how far float32 may stray from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tf_qops.onnx.tensors import attribute_value, to_array
from tf_qops.verification.pieces import Piece

_ULP = 2.0**-23
# Roundings of float32 between the operands and the result, with what sums gather by.
_ROUNDINGS = 16
_SUMS = {
    "Add",
    "AveragePool",
    "Conv",
    "ConvTranspose",
    "Gemm",
    "GlobalAveragePool",
    "MatMul",
    "Mul",
    "ReduceMean",
    "ReduceSum",
    "Sub",
    "Sum",
}
# com.microsoft's operators on one operand: the float operator.
_UNARY = {
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
    "QLinearLeakyRelu": "LeakyRelu",
    "QLinearSigmoid": "Sigmoid",
    "QLinearSoftmax": "Softmax",
}
_BINARY = {"QLinearAdd": "Add", "QLinearMul": "Mul"}
_FLOAT_OPSET = 21


class NotExactError(Exception):
    """An operator that cannot be recomputed here."""


@dataclasses.dataclass(frozen=True, eq=False)
class Real:
    """A tensor in float64.

    Attributes:
        value: codes before they are rounded and limited, where the tensor holds codes.
        slack: how far from it float32 arithmetic may end.
        codes: whether a rounding to integers follows.
    """

    value: np.ndarray
    slack: np.ndarray
    codes: bool = False

    def allows(self, got: np.ndarray) -> np.ndarray:
        """Returns which elements of a result could come from these values."""
        low, high = self.value - self.slack, self.value + self.slack
        if self.codes:
            limits = np.iinfo(got.dtype)
            low, high = (np.clip(np.rint(v), limits.min, limits.max) for v in (low, high))
        wide = got.astype(np.float64)
        with np.errstate(invalid="ignore"):
            inside = (wide >= low) & (wide <= high)
        return inside | (np.isnan(wide) & np.isnan(self.value))


def real_outputs(piece: Piece, values: Mapping[str, np.ndarray]) -> dict[str, Real]:
    """Returns the outputs of a piece in real arithmetic.

    Args:
        piece: nodes.
        values: their inputs.

    Raises:
        NotExactError: the piece has an operator that cannot be recomputed.
    """
    known = {name: _given(values[name]) for name in piece.inputs}
    known |= {name: _given(to_array(t, None)) for name, t in piece.constants.items()}
    opsets = {o.domain: o.version for o in piece.opsets}
    for node in piece.nodes:
        try:
            results = _compute(node, known, opsets)
        except NotExactError:
            raise
        except Exception as error:  # The reference evaluator raises what numpy happens to raise.
            raise NotExactError(f"{node.op_type}: {error}") from error
        known.update(zip(node.output, results, strict=False))
    missing = [name for name in piece.outputs if name not in known]
    if missing:
        raise NotExactError(f"no value of {missing}")
    return {name: known[name] for name in piece.outputs}


def _given(array: np.ndarray) -> Real:
    wide = array if array.dtype.kind in "biuOUS" else array.astype(np.float64)
    return Real(wide, np.zeros(np.shape(array)))


def spread(parameter: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """Returns scales or zero points in a shape that broadcasts along an axis."""
    if parameter.size == 1:
        return parameter.reshape(())
    return parameter.reshape([-1 if d == axis % rank else 1 for d in range(rank)])


def _compute(
    node: onnx.NodeProto, known: Mapping[str, Real], opsets: Mapping[str, int]
) -> list[Real]:
    """Returns the outputs of one node."""
    inputs = [known[name] if name else None for name in node.input]
    attributes = {a.name: attribute_value(a, None) for a in node.attribute if not a.HasField("g")}
    call = _Call(inputs, attributes)
    op_type = node.op_type
    if op_type == "DequantizeLinear":
        if attributes.get("block_size", 0):
            raise NotExactError("blocks of scales")
        return [call.dequantized(0, 1, 2, attributes.get("axis", 1))]
    if op_type == "QuantizeLinear":
        if attributes.get("block_size", 0):
            raise NotExactError("blocks of scales")
        return [call.quantized(inputs[0], 1, 2, attributes.get("axis", 1))]
    if op_type in _UNARY:
        own = {k: v for k, v in attributes.items() if k not in ("channels_last", "opset")}
        if attributes.get("channels_last", 0):
            raise NotExactError("channels last")
        return [call.quantized(_float(_UNARY[op_type], [call.dequantized(0, 1, 2)], own), 3, 4)]
    if op_type in _BINARY:
        operands = [call.dequantized(0, 1, 2), call.dequantized(3, 4, 5)]
        return [call.quantized(_float(_BINARY[op_type], operands, {}), 6, 7)]
    if op_type == "QLinearConcat":
        parts = [call.dequantized(i, i + 1, i + 2) for i in range(2, len(inputs), 3)]
        return [call.quantized(_float("Concat", parts, attributes), 0, 1)]
    if op_type == "QLinearConv":
        operands = [call.dequantized(0, 1, 2), call.dequantized(3, 4, 5, 0)]
        if call.has(8):
            scale = call.array(1).astype(np.float64) * call.array(4).astype(np.float64).reshape(-1)
            operands.append(_given(call.array(8) * scale))
        return [call.quantized(_float("Conv", operands, attributes), 6, 7)]
    if op_type == "QLinearMatMul":
        operands = [call.dequantized(0, 1, 2, -2), call.dequantized(3, 4, 5, -1)]
        return [call.quantized(_float("MatMul", operands, {}), 6, 7)]
    if op_type == "QGemm" and call.has(7):
        axis = 0 if attributes.get("transB", 0) else 1
        operands = [call.dequantized(0, 1, 2), call.dequantized(3, 4, 5, axis)]
        if call.has(6):
            scale = call.array(1).astype(np.float64) * call.array(4).astype(np.float64)
            scale = scale * attributes.get("alpha", 1.0)
            operands.append(_given(call.array(6) * scale.reshape(-1)))
        return [call.quantized(_float("Gemm", operands, attributes), 7, 8)]
    if op_type in ("ConvInteger", "MatMulInteger"):
        conv = op_type == "ConvInteger"
        operands = [call.centred(0, 2, -2), call.centred(1, 3, 0 if conv else -1)]
        total = _float("Conv" if conv else "MatMul", operands, attributes if conv else {})
        wrapped = (total.value + 2.0**31) % 2.0**32 - 2.0**31
        return [Real(wrapped, np.zeros(wrapped.shape), codes=True)]
    if op_type == "MatMulIntegerToFloat":
        operands = [call.dequantized(0, 2, 4, -2), call.dequantized(1, 3, 5, -1)]
        result = _float("MatMul", operands, {})
        return [_float("Add", [result, inputs[6]], {}) if call.has(6) else result]
    if node.domain not in ("", "ai.onnx"):
        raise NotExactError(op_type)
    return _reference(node, inputs, opsets.get("", _FLOAT_OPSET))


@dataclasses.dataclass(frozen=True)
class _Call:
    """The inputs of a node."""

    inputs: list[Real | None]
    attributes: Mapping[str, object]

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def array(self, index: int) -> np.ndarray:
        return np.asarray(self.inputs[index].value)

    def centred(self, index: int, zero: int, axis: int) -> Real:
        """Returns codes less their zero point."""
        codes = self.array(index).astype(np.float64)
        if self.has(zero):
            codes = codes - _along(self.array(zero).astype(np.float64), codes.ndim, axis)
        return Real(codes, np.zeros(codes.shape))

    def dequantized(self, index: int, scale: int, zero: int, axis: int = 1) -> Real:
        centred = self.centred(index, zero, axis).value
        value = centred * _along(self.array(scale).astype(np.float64), centred.ndim, axis)
        return Real(value, _ULP * np.abs(value))

    def quantized(self, real: Real, scale: int, zero: int, axis: int = 1) -> Real:
        rank = real.value.ndim
        step = _along(self.array(scale).astype(np.float64), rank, axis)
        offset = 0.0
        if self.has(zero):
            offset = _along(self.array(zero).astype(np.float64), rank, axis)
        with np.errstate(divide="ignore", invalid="ignore"):
            value, slack = real.value / step + offset, real.slack / np.abs(step)
        largest = np.abs(value) + 2 * np.abs(offset)
        return Real(value, slack + _ULP * (_ROUNDINGS * largest), codes=True)


def _along(parameter: np.ndarray, rank: int, axis: int) -> np.ndarray:
    return parameter if parameter.ndim > 1 else spread(parameter, rank, axis)


def _float(op_type: str, operands: list[Real], attributes: Mapping[str, object]) -> Real:
    """Returns the result of one of ONNX's operators."""
    names = [f"i{i}" for i in range(len(operands))]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    return _reference(node, operands, _FLOAT_OPSET)[0]


def _reference(node: onnx.NodeProto, inputs: list[Real | None], opset: int) -> list[Real]:
    """Returns what onnx's evaluator computes in float64, with the slack of float32."""
    results = _evaluated(node, [None if i is None else i.value for i in inputs], opset)
    reals = []
    for i, result in enumerate(results):
        if result.dtype.kind in "biuOUS":
            reals.append(Real(result, np.zeros(result.shape)))
            continue
        given = [r.slack for r in inputs if r is not None and r.slack.shape == result.shape]
        passed_on = np.max(given, axis=0) if given else 0.0
        size = np.abs(result)
        if node.op_type in _SUMS and i == 0:
            sizes = [None if r is None else np.abs(r.value) for r in inputs]
            summed = "Add" if node.op_type == "Sub" else node.op_type
            plain = onnx.NodeProto()
            plain.CopyFrom(node)
            plain.op_type = summed
            size = _evaluated(plain, sizes, opset)[0]
            passed_on = 0.0
        elif not given:
            size = np.full(result.shape, np.max(size, initial=0.0))
        reals.append(Real(result, _ULP * _ROUNDINGS * np.abs(size) + passed_on))
    return reals


def _evaluated(
    node: onnx.NodeProto, arrays: list[np.ndarray | None], opset: int
) -> list[np.ndarray]:
    feeds = {
        name: array for name, array in zip(node.input, arrays, strict=True) if array is not None
    }
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in feeds.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "node", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return [np.asarray(result) for result in ReferenceEvaluator(model).run(None, feeds)]
