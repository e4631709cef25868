"""Normalizations over channels, places or the last dimensions."""

from __future__ import annotations

import keras

from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Tensor, Value, set_weights

ops = keras.ops


def _check_inference(node: Node) -> str | None:
    if node.attribute("training_mode", 0) or (
        node.since_version < 7 and not node.attribute("is_test", 0)
    ):
        return "its training mode is not supported"
    return None if sum(map(bool, node.outputs)) == 1 else "only its first output is supported"


def _moments(x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Returns x with mean 0 and variance 1 along axes, its mean and its standard deviation."""
    mean = ops.mean(x, axis=axes, keepdims=True)
    centred = ops.subtract(x, mean)
    variance = ops.mean(ops.square(centred), axis=axes, keepdims=True)
    deviation = ops.sqrt(ops.add(variance, epsilon))
    return ops.divide(centred, deviation), mean, deviation


def _standardized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> Tensor:
    return _moments(x, axes, epsilon)[0]


@register_handler("BatchNormalization", layout="image", check=_check_inference)
def batch_normalization(call: NodeCall) -> Value:
    """Becomes a Keras BatchNormalization."""
    x = call.channels_last(0) if len(call.shape(0)) > 2 else call.tensor(0)
    epsilon, channels_last = call.attribute("epsilon"), len(call.shape(0)) > 2
    dtypes = {call.dtype(i) for i in range(5)}
    if all(call.is_constant(i) for i in range(1, 5)) and dtypes == {"float32"}:
        layer = keras.layers.BatchNormalization(axis=-1, epsilon=epsilon, **call.options())
        y = layer(x)
        names = ("gamma", "beta", "moving_mean", "moving_variance")
        set_weights(layer, **{name: call.constant(i) for i, name in enumerate(names, 1)})
        return call.output(y, channels_last)
    scale, bias, mean, variance = (call.tensor(i) for i in range(1, 5))
    factor = ops.divide(scale, ops.sqrt(ops.add(variance, epsilon)))
    y = ops.add(ops.multiply(ops.subtract(x, mean), factor), bias)
    return call.output(y, channels_last)


@register_handler("LayerNormalization")
def layer_normalization(call: NodeCall) -> Tensor | tuple[Tensor, ...]:
    """Becomes a Keras LayerNormalization where scale and bias are vectors, else its parts."""
    shape, axis, epsilon = call.shape(0), call.attribute("axis"), call.attribute("epsilon")
    axes = tuple(range(axis % len(shape), len(shape)))
    given = [i for i in (1, 2) if call.has_input(i)]
    alone = sum(map(bool, call.node.outputs)) == 1 and bool(call.node.outputs[0])
    vectors = all(call.is_constant(i) and call.constant(i).shape == shape[-1:] for i in given)
    if alone and vectors and len(axes) == 1 and {call.dtype(i) for i in (0, *given)} == {"float32"}:
        layer = keras.layers.LayerNormalization(
            axis=-1, epsilon=epsilon, center=call.has_input(2), **call.options()
        )
        y = layer(call.tensor(0))
        set_weights(layer, gamma=call.constant(1))
        if call.has_input(2):
            set_weights(layer, beta=call.constant(2))
        return y
    standardized, mean, deviation = _moments(call.tensor(0), axes, epsilon)
    y = ops.multiply(standardized, call.tensor(1))
    y = ops.add(y, call.tensor(2)) if call.has_input(2) else y
    return y, mean, ops.reciprocal(deviation)


@register_handler("RMSNormalization")
def rms_normalization(call: NodeCall) -> Tensor:
    """Becomes x / sqrt(mean(x^2) + epsilon) * scale."""
    x, axis = call.tensor(0), call.attribute("axis")
    axes = tuple(range(axis % len(x.shape), len(x.shape)))
    mean = ops.mean(ops.square(x), axis=axes, keepdims=True)
    root = ops.sqrt(ops.add(mean, call.attribute("epsilon")))
    return ops.multiply(ops.divide(x, root), call.tensor(1))


@register_handler("InstanceNormalization", layout="image")
def instance_normalization(call: NodeCall) -> Value:
    """Standardizes each channel of each image."""
    x = call.channels_last(0)
    places = tuple(range(1, len(x.shape) - 1))
    y = _standardized(x, places, call.attribute("epsilon"))
    y = ops.add(ops.multiply(y, call.tensor(1)), call.tensor(2))
    return call.output(y, channels_last=True)


@register_handler("GroupNormalization", layout="image")
def group_normalization(call: NodeCall) -> Value:
    """Standardizes groups of channels; scale and bias are per group before version 21."""
    x, groups = call.channels_last(0), call.attribute("num_groups")
    channels = x.shape[-1]
    places = tuple(x.shape[1:-1])
    if None in places:
        raise ValueError(f"images must have a static size. Received: {x.shape}.")
    parted = ops.reshape(x, (-1, *places, groups, channels // groups))
    axes = (*range(1, len(places) + 1), len(places) + 2)
    y = _standardized(parted, axes, call.attribute("epsilon"))
    y = ops.reshape(y, (-1, *places, channels))
    scale, bias = call.tensor(1), call.tensor(2)
    if call.shape(1) != (channels,):
        scale, bias = (ops.repeat(t, channels // groups) for t in (scale, bias))
    return call.output(ops.add(ops.multiply(y, scale), bias), channels_last=True)


@register_handler("MeanVarianceNormalization")
def mean_variance_normalization(call: NodeCall) -> Tensor:
    """Becomes (x - mean) / standard deviation."""
    axes = tuple(call.attribute("axes") or (0, 2, 3))
    return _standardized(call.tensor(0), axes, 0.0)


@register_handler("LpNormalization")
def lp_normalization(call: NodeCall) -> Tensor:
    """Divides by a norm; where it is 0, so is the result."""
    x, axis = call.tensor(0), call.attribute("axis")
    if call.attribute("p") == 1:
        norm = ops.sum(ops.abs(x), axis=axis, keepdims=True)
    else:
        norm = ops.sqrt(ops.sum(ops.square(x), axis=axis, keepdims=True))
    return ops.divide(x, ops.where(ops.equal(norm, 0.0), ops.ones_like(norm), norm))
