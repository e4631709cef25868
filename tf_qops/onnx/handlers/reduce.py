"""Reductions: axes are an attribute before version 18 (ReduceSum: 13), an input since."""

from __future__ import annotations

from typing import Any

import keras

from tf_qops.onnx.handlers._axes import axes, check_axes, normalized
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value, channels_last_axis

ops = keras.ops


def _l2(x: Tensor, **where: Any) -> Tensor:
    return ops.sqrt(ops.sum(ops.square(x), **where))


_FUNCTIONS = {
    "ReduceL1": lambda x, **where: ops.sum(ops.abs(x), **where),
    "ReduceL2": _l2,
    "ReduceLogSum": lambda x, **where: ops.log(ops.sum(x, **where)),
    "ReduceLogSumExp": ops.logsumexp,
    "ReduceMax": ops.max,
    "ReduceMean": ops.mean,
    "ReduceMin": ops.min,
    "ReduceProd": ops.prod,
    "ReduceSum": ops.sum,
    "ReduceSumSquare": lambda x, **where: ops.sum(ops.square(x), **where),
}


def _register(op_type: str) -> None:
    @register_handler(op_type, layout="any", check=check_axes)
    def build(call: NodeCall) -> Value:
        rank, given = len(call.shape(0)), axes(call)
        if not given and call.attribute("noop_with_empty_axes", 0):
            reduced: tuple[int, ...] = ()
        else:
            reduced = normalized(given, rank) if given else tuple(range(rank))
        keepdims = bool(call.attribute("keepdims"))
        x, channels_last = call.either(0) if keepdims else (call.tensor(0), False)
        if channels_last:
            reduced = tuple(channels_last_axis(axis, rank) for axis in reduced)
        dtype = keras.backend.standardize_dtype(x.dtype)
        y = _FUNCTIONS[op_type](x, axis=reduced, keepdims=keepdims) if reduced or rank else x
        if keras.backend.standardize_dtype(y.dtype) != dtype:
            y = ops.cast(y, dtype)
        return call.output(y, channels_last)


for _op_type in _FUNCTIONS:
    _register(_op_type)
