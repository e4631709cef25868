"""Puts the weights of an ONNX file into a Keras model of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import keras
import numpy as np
import onnx
import tensorflow as tf

from tf_qops.onnx.pairing import MisfitError, Pairing
from tf_qops.onnx.reader import Graph, read
from tf_qops.onnx.report import Assigned, AssignReport, Left
from tf_qops.onnx.weights import QuantizedTensor, quantized_constants


def assign_weights(
    keras_model: keras.Model,
    path: str | os.PathLike[str] | onnx.ModelProto,
    mapping: Mapping[str, str] | None = None,
) -> AssignReport:
    """Assigns the weights of a file to the layers of a built Keras model.

    Weights of a float type are dequantized, those of an integer type take the codes as they are;
    floats in the file (biases, normalizations) are taken too. Kernels are turned from ONNX's layout
    to Keras's, the rows of a Dense after a Flatten put into the order of the model's images.

    Without a mapping, operators and layers are paired by kind and shape: in order where as many
    operators as layers have it, else not at all. What stays without a counterpart is left as it is.

    | operator | layer |
    |---|---|
    | Conv, ConvInteger, QLinearConv | Conv, DepthwiseConv, QLinearConv of any rank |
    | ConvTranspose | Conv1DTranspose to Conv3DTranspose |
    | Gemm, MatMul, MatMulInteger, QGemm, QLinearMatMul | Dense |
    | BatchNormalization, LayerNormalization | the layer of the same name |
    | Gather of rows | Embedding |

    An Add of a constant behind a convolution or product is its bias.

    Args:
        keras_model: a model that is built.
        path: an ONNX file, or a loaded model. External data is read from the file's own folder
            only.
        mapping: assigns only what it names. From the name of a layer to the main constant of an
            operator (its kernel, gamma or table), whose other constants follow; or from the path
            of a weight, or an end of it such as "conv1/kernel", to a constant.

    Returns:
        What went where, what was left on both sides and why.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
        ValueError: a model without weights; a mapping that names what is not there or does not
            fit. The model is then as it was.

    Example:

    >>> layer = keras.layers.Dense(10)
    >>> layer.build((None, 48))
    >>> model = keras.Sequential([layer])
    >>> report = assign_weights(model, "examples/models/digits_int8.onnx")
    >>> [entry.initializer for entry in report.assigned]
    ['scores.weight', 'scores.bias']
    """
    if not keras_model.weights:
        raise ValueError(
            f"keras_model must be built, to have weights. Received: {keras_model.name!r}"
        )
    graph = read(path)
    quantized = quantized_constants(graph)
    pairing = Pairing(keras_model, graph, quantized)
    if mapping is None:
        pairing.match()
    else:
        pairing.follow(mapping)
    assigned = _assign(pairing)
    used = {entry.initializer for entry in assigned.values()}
    no_operator = "no operator corresponds to its layer" if mapping is None else "not mapped"
    no_layer = "no layer corresponds to its operator" if mapping is None else "not mapped"
    left_in_model = (
        Left(w.path, tuple(w.shape), pairing.why_left.get(w.path, no_operator))
        for w in keras_model.weights
        if id(w) not in assigned
    )
    left_in_file = (
        Left(name, values.shape, pairing.why_left.get(name, no_layer))
        for name, values in _weights_of(graph, quantized)
        if name not in used
    )
    return AssignReport(
        tuple(assigned.values()), tuple(left_in_model), tuple(left_in_file), tuple(pairing.remarks)
    )


def _assign(pairing: Pairing) -> dict[int, Assigned]:
    """Assigns what fits, once all values are known; returns it by the identity of the weight."""
    fitting = {}
    for pair in pairing.pairs:
        variable, constant = pair.target.variable, pair.constant
        try:
            values, how = pair.values()
        except MisfitError as error:
            pairing.why_left[variable.path] = pairing.why_left[constant.name] = str(error)
            continue
        entry = Assigned(
            variable.path, values.shape, constant.name, constant.codes.shape, how, pair.found_by
        )
        fitting[id(variable)] = variable, values, entry
    for variable, values, _ in fitting.values():
        variable.assign(values)
    return {key: entry for key, (_, _, entry) in fitting.items()}


def _weights_of(
    graph: Graph, quantized: Mapping[str, QuantizedTensor]
) -> Iterator[tuple[str, np.ndarray]]:
    """Yields the constants that are weights: quantized, or floats but no scales."""
    scales = [tensor.scale.ravel() for tensor in quantized.values()]
    parameters = {
        graph.aliases.get(name, name)
        for node in graph.nodes
        if node.op_type.startswith("Q") or "Quantize" in node.op_type
        for name in node.inputs
    }
    for name, values in graph.constants.items():
        if name in graph.aliases:
            continue
        is_float = tf.as_dtype(values.dtype).is_floating if values.dtype != object else False
        if name in quantized or (
            is_float
            and values.ndim
            and name not in parameters
            and not any(np.array_equal(values.ravel(), scale) for scale in scales)
        ):
            yield name, values
