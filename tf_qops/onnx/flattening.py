"""In which order an image is flattened before a matrix product, in a file and in a model."""

from __future__ import annotations

import math

import keras
import numpy as np

from tf_qops.onnx.reader import Graph, Node

FIRST = "channels_first"
LAST = "channels_last"

# Operators that keep the order of their (first computed) input.
_KEEP_ORDER = {
    "Add",
    "Cast",
    "Clip",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "Elu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Mul",
    "QLinearAdd",
    "QLinearMul",
    "QuantizeLinear",
    "Relu",
    "Sigmoid",
    "Tanh",
}
_IMAGE = ("Conv", "Pool", "BatchNormalization", "Resize", "InstanceNormalization")


def order_in_file(graph: Graph, node: Node) -> str | None:
    """Returns the order of the image whose flattening a product reads, None if it is not known."""
    made_by = {output: n for n in graph.nodes for output in n.outputs}

    def maker(reader: Node) -> Node | None:
        found = next((made_by[name] for name in reader.inputs if name in made_by), None)
        while found is not None and found.op_type in _KEEP_ORDER:
            found = next((made_by[name] for name in found.inputs if name in made_by), None)
        return found

    flatten = maker(node)
    if flatten is None or flatten.op_type not in ("Flatten", "Reshape"):
        return None
    before = maker(flatten)
    if before is None or "Global" in before.op_type:  # which leaves one place
        return None
    if before.op_type == "Transpose":
        order = before.attribute("perm") or ()
        return LAST if tuple(order) == (0, *range(2, len(order)), 1) else None
    return FIRST if any(part in before.op_type for part in _IMAGE) else None


def image_in_model(layer: keras.layers.Layer) -> tuple[str | None, tuple[int, ...]] | None:
    """Returns the order and shape of the image whose flattening a layer reads.

    The order is None where the model does not show what the layer reads. None if there is no
    image, or if its order does not matter for want of channels or places.
    """
    operation, shape = _maker(layer)
    while operation is not None and not isinstance(
        operation, (keras.layers.Flatten, keras.layers.Reshape)
    ):
        inputs = operation._inbound_nodes[0].input_tensors
        if len(inputs) != 1 or inputs[0].shape != shape or hasattr(operation, "kernel"):
            return None
        operation, shape = _maker(operation)
    if operation is None:
        return None, ()
    shape = tuple(operation._inbound_nodes[0].input_tensors[0].shape[1:])
    order = _order(operation)
    places = shape[1:] if order == FIRST else shape[:-1]
    if len(shape) < 2 or None in shape or math.prod(places) in (1, math.prod(shape)):
        return None
    # Keras's Flatten itself moves the channels to the end where it is told that they are first.
    moved = isinstance(operation, keras.layers.Flatten) and operation.data_format == FIRST
    return (LAST, (*shape[1:], shape[0])) if moved else (order, shape)


def _maker(operation: keras.Operation) -> tuple[keras.Operation | None, tuple[int | None, ...]]:
    """Returns the operation that makes an operation's (first) input, and that input's shape."""
    if not operation._inbound_nodes:
        return None, ()
    tensor = operation._inbound_nodes[0].input_tensors[0]
    maker = tensor._keras_history.operation
    return (None if isinstance(maker, keras.layers.InputLayer) else maker), tensor.shape


def _order(operation: keras.Operation) -> str:
    """Returns the data format of the nearest layer that has one, from an operation backwards."""
    while operation is not None:
        data_format = getattr(operation, "data_format", None)
        # What Flatten says by default tells nothing about its input.
        default = data_format == LAST and isinstance(operation, keras.layers.Flatten)
        if data_format and not default:
            return data_format
        operation, _ = _maker(operation)
    return keras.config.image_data_format()


def reordered_rows(kernel: np.ndarray, image: tuple[int, ...], order: str) -> np.ndarray:
    """Returns a kernel [inputs, outputs] with its rows in the order of a model's image.

    Args:
        kernel: with rows in the other order.
        image: the shape in the model.
        order: the order in the model.
    """
    if order == LAST:
        *places, channels = image
        rows = kernel.reshape(channels, *places, -1)
        return np.moveaxis(rows, 0, -2).reshape(kernel.shape)
    channels, *places = image
    return np.moveaxis(kernel.reshape(*places, channels, -1), -2, 0).reshape(kernel.shape)
