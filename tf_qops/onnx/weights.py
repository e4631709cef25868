"""The quantized weights of an ONNX file, with their scales and zero points."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import tensorflow as tf
from absl import logging

from tf_qops.onnx.errors import OnnxFileError
from tf_qops.onnx.reader import Graph, Node, read
from tf_qops.ops import linear


@dataclasses.dataclass(frozen=True, eq=False)
class QuantizedTensor:
    """Integers with what turns them into floats: `(values - zero_point) * scale`.

    Attributes:
        values: the integers, as the file has them.
        scale: a scalar, [d] along `axis`, or of values' rank where `block_size` is set.
        zero_point: of scale's shape and values' dtype; zeros where the file has none.
        axis: the dimension along which scales differ, from 0; None if there is one scale.
        block_size: how many neighbours along `axis` share a scale; 0 if each has its own.
    """

    values: np.ndarray
    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None = None
    block_size: int = 0

    def dequantize(self) -> np.ndarray:
        """Returns the floats, in scale's dtype.

        Example:

        >>> codes = np.array([[1, 2], [3, 4]], np.int8)
        >>> scale, zero_point = np.array([1, 0.5], np.float32), np.zeros(2, np.int8)
        >>> QuantizedTensor(codes, scale, zero_point, axis=0).dequantize().tolist()
        [[1.0, 2.0], [1.5, 2.0]]
        """
        return linear.dequantize_linear(
            self.values,
            self.scale,
            self.zero_point,
            axis=0 if self.axis is None else self.axis,
            block_size=self.block_size,
            output_dtype=tf.as_dtype(self.scale.dtype),
        ).numpy()


def load_weights(path: str | os.PathLike[str] | onnx.ModelProto) -> dict[str, QuantizedTensor]:
    """Reads the quantized constants of a file.

    Found are the weights and biases of QLinearConv, QLinearMatMul, QGemm, QLinearAdd and
    QLinearMul; every constant that a DequantizeLinear reads, itself or rows that a Gather picks;
    and the weights of MatMulInteger, ConvInteger and DynamicQuantizeLSTM. Constants and scales may
    be shared through Identity nodes.

    Values keep the order and shape that they have in the file, also where a Transpose or Reshape
    stands between a constant and its use, and their type, but for float6: TensorFlow lacks it and
    they become float8_e4m3fn. Scales of type float8_e8m0 become float32.

    Args:
        path: an ONNX file, or a loaded model. External data is read from the file's own folder
            only.

    Returns:
        Initializer's name -> its values, scale and zero point.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.

    Example:

    >>> weights = load_weights("examples/models/digits_int8.onnx")
    >>> weights["conv2.weight_quantized"].values.shape
    (32, 16, 3, 3)
    >>> weights["conv2.weight_quantized"].scale.shape
    (32,)
    """
    return quantized_constants(read(path))


def quantized_constants(graph: Graph) -> dict[str, QuantizedTensor]:
    """Returns the quantized constants of a graph and of those inside its nodes."""
    found: dict[str, QuantizedTensor] = {}
    for node in graph.nodes:
        for inner in node.graphs():
            found = quantized_constants(inner) | found
        finder = _FINDERS.get(node.op_type)
        try:
            tensors = list(finder(graph, node)) if finder else []
        except ValueError as error:
            raise OnnxFileError(
                f"Scale and zero point must fit their values: {error}. "
                f"Received: node {node.name!r} ({node.op_type})"
            ) from error
        for index, tensor in tensors:
            name = graph.aliases.get(node.inputs[index], node.inputs[index])
            known = found.setdefault(name, tensor)
            if not np.array_equal(known.scale, tensor.scale):
                logging.warning("%s has several scales; kept is that of its first use", name)
    return found


_Found = Iterator[tuple[int, QuantizedTensor]]


def _tensor(
    values: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray | None,
    axis: int,
    block_size: int = 0,
) -> QuantizedTensor:
    """Returns the tensor with scale and zero point of one shape, scalars where they can be.

    Raises:
        ValueError: an axis out of range, or lengths that do not fit.
    """
    if zero_point is None:
        zero_point = np.zeros((), values.dtype)
    if not block_size:
        scale, zero_point = scale.reshape(-1), zero_point.reshape(-1)
    scale, zero_point = np.broadcast_arrays(scale, zero_point)
    if scale.size == 1 and not block_size:
        return QuantizedTensor(values, scale.reshape(()), zero_point.reshape(()))
    if not -values.ndim <= axis < values.ndim:
        raise ValueError(f"axis {axis} of values of rank {values.ndim}")
    axis %= values.ndim
    shape = values.shape[axis : axis + 1]
    if block_size:
        blocks = -(-values.shape[axis] // block_size)
        shape = (*values.shape[:axis], blocks, *values.shape[axis + 1 :])
    if scale.shape != shape:
        raise ValueError(f"scale of shape {scale.shape} where {shape} is needed")
    return QuantizedTensor(values, scale, zero_point, axis, block_size)


def _columns(b: np.ndarray, scale: np.ndarray, zero_point: np.ndarray | None) -> QuantizedTensor:
    """Returns the right side of a product; stacked matrices may have columns of their own."""
    parameters = (scale,) if zero_point is None else (scale, zero_point)
    if all(p.ndim < 2 or p.size in (1, p.shape[-1]) for p in parameters):
        return _tensor(b, scale, zero_point, -1)
    shape = (*b.shape[:-2], 1, b.shape[-1])
    return _tensor(b, np.broadcast_to(scale, shape), zero_point, -2, b.shape[-2])


def _constants(node: Node, *indices: int) -> tuple[np.ndarray | None, ...] | None:
    """Returns the inputs at these places, None for one left out; None if one is computed."""
    if not all(node.is_constant(i) or not node.has_input(i) for i in indices):
        return None
    return tuple(node.constant(i, None) for i in indices)


def _of_dequantize_linear(graph: Graph, node: Node) -> _Found:
    del graph
    if node.is_constant(0) and (found := _constants(node, 0, 1, 2)):
        yield 0, _tensor(*found, node.attribute("axis", 1), node.attribute("block_size", 0))


def _of_qlinear_conv(graph: Graph, node: Node) -> _Found:
    del graph
    if node.is_constant(3) and (found := _constants(node, 3, 4, 5)):
        yield 3, _tensor(*found, axis=0)
        if node.is_constant(8) and node.is_constant(1):
            yield 8, _tensor(node.constant(8), node.constant(1) * node.constant(4), None, axis=0)


def _of_qlinear_matmul(graph: Graph, node: Node) -> _Found:
    del graph
    if node.is_constant(3) and (found := _constants(node, 3, 4, 5)):
        yield 3, _columns(*found)


def _of_qgemm(graph: Graph, node: Node) -> _Found:
    del graph
    if node.is_constant(3) and (found := _constants(node, 3, 4, 5)):
        yield 3, _tensor(*found, axis=0 if node.attribute("transB", 0) else 1)
        if node.is_constant(6) and node.is_constant(1):
            alpha = np.float32(node.attribute("alpha", 1.0))
            scale = alpha * node.constant(1) * node.constant(4)
            yield 6, _tensor(node.constant(6), scale, None, axis=-1)


def _of_elementwise(graph: Graph, node: Node) -> _Found:
    del graph
    for index in (0, 3):
        if node.is_constant(index) and (found := _constants(node, index, index + 1, index + 2)):
            yield index, _tensor(*found, axis=-1)


def _of_integer_product(graph: Graph, node: Node) -> _Found:
    """MatMulInteger and ConvInteger: the scale stands in a Mul that follows."""
    if not node.is_constant(1) or not (found := _constants(node, 1, 3)):
        return
    values, zero_point = found
    scale = _scale_after(graph, node.outputs[0])
    if scale is None:
        logging.warning("%s: no scale found for its weight %s", node.name, node.inputs[1])
    elif node.op_type == "ConvInteger":
        yield 1, _tensor(values, scale, zero_point, axis=0)
    else:
        yield 1, _columns(values, scale, zero_point)


def _scale_after(graph: Graph, name: str) -> np.ndarray | None:
    """Returns the one constant among the factors by which a product of integers is scaled.

    The other factor is the scale of the activations, which is computed. Both may be multiplied
    first, or one after the other.
    """
    constants, computed = [], 0
    while not (constants and computed):
        readers = [node for node in graph.nodes if name in node.inputs]
        if len(readers) != 1 or readers[0].op_type not in ("Cast", "Mul"):
            return None
        if readers[0].op_type == "Mul":
            factors = [i for i in readers[0].inputs if i != name]
            maker = next((n for n in graph.nodes if factors and factors[0] in n.outputs), None)
            if maker is not None and maker.op_type == "Mul":
                factors = list(maker.inputs)
            constants += [graph.constants[f] for f in factors if f in graph.constants]
            computed += sum(f not in graph.constants for f in factors)
        name = readers[0].outputs[0]
    return constants[0] if len(constants) == 1 else None


def _of_lstm(graph: Graph, node: Node) -> _Found:
    """DynamicQuantizeLSTM: W and R [directions, inputs, 4 * hidden]."""
    del graph
    for index, first in ((1, 8), (2, 10)):
        if node.is_constant(index) and (found := _constants(node, index, first, first + 1)):
            values, scale, zero_point = found
            if scale.ndim > 1:
                shape = (values.shape[0], 1, values.shape[2])
                zero_point = None if zero_point is None else zero_point.reshape(shape)
                yield index, _tensor(values, scale.reshape(shape), zero_point, 1, values.shape[1])
            else:
                yield index, _tensor(values, scale, zero_point, axis=0)


def _of_gather(graph: Graph, node: Node) -> _Found:
    """A table of codes of which the rows that are picked are dequantized."""
    readers = [reader for reader in graph.nodes if node.outputs[0] in reader.inputs]
    if node.is_constant(0) and [reader.op_type for reader in readers] == ["DequantizeLinear"]:
        found = _constants(readers[0], 1, 2)
        if found and found[0].size == 1:
            yield 0, _tensor(node.constant(0), *found, axis=0)


_FINDERS: dict[str, Callable[[Graph, Node], _Found]] = {
    "ConvInteger": _of_integer_product,
    "DequantizeLinear": _of_dequantize_linear,
    "DynamicQuantizeLSTM": _of_lstm,
    "Gather": _of_gather,
    "MatMulInteger": _of_integer_product,
    "QGemm": _of_qgemm,
    "QLinearAdd": _of_elementwise,
    "QLinearConv": _of_qlinear_conv,
    "QLinearMatMul": _of_qlinear_matmul,
    "QLinearMul": _of_elementwise,
}
