"""The layers of a Keras model that have weights, and how they arrange what ONNX has."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import keras
import numpy as np

from tf_qops import layers
from tf_qops.onnx import weighted_nodes as kinds

_Arrange = Callable[[np.ndarray], np.ndarray]
_Key = tuple[str, tuple[int, ...], int]
_Description = tuple[_Key, dict[str, _Arrange]]


@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """A weight of a layer.

    Attributes:
        variable: the weight.
        arrange: brings an array from the layout of `WeightedNode` to the layer's.
    """

    variable: keras.Variable
    arrange: _Arrange


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedLayer:
    """A layer that can take the weights of an operator.

    Attributes:
        layer: the layer.
        key: what the operator must have, see `WeightedNode.key`.
        weights: role -> weight.
    """

    layer: keras.layers.Layer
    key: _Key
    weights: Mapping[str, Target]


def all_layers(model: keras.Model) -> list[keras.layers.Layer]:
    """Returns the layers of a model and of the models in it, in order."""
    return list(model._flatten_layers(include_self=False))


def weighted_layer(layer: keras.layers.Layer) -> WeightedLayer | None:
    """Returns a layer's weights, or None for a layer that fits no operator or is not built."""
    for layer_types, describe in _DESCRIBE:
        if layer.built and isinstance(layer, layer_types):
            key, roles = describe(layer)
            weights = {
                role: Target(getattr(layer, role), arrange)
                for role, arrange in roles.items()
                if getattr(layer, role, None) is not None
            }
            return WeightedLayer(layer, key, weights)
    return None


def _as_vector(length: int) -> _Arrange:
    """Arranges a bias, which ONNX may have as [1, n], [n, 1, 1] or one number for all."""
    return lambda values: np.broadcast_to(values.reshape(-1), (length,))


def _scalar_or_vector(values: np.ndarray) -> np.ndarray:
    """Arranges a scale or zero point, of which a single one may be [1]."""
    return values.reshape(()) if values.size == 1 else values


def _same(values: np.ndarray) -> np.ndarray:
    return values


def _convolution(layer: keras.layers.Layer) -> _Description:
    *places, channels, filters = layer.kernel.shape
    spatial = range(2, len(places) + 2)
    roles = {
        "kernel": lambda values: values.transpose(*spatial, 1, 0),
        "bias": _as_vector(filters),
    }
    return (kinds.CONVOLUTION, (filters, channels, *places), layer.groups), roles


def _depthwise(layer: keras.layers.Layer) -> _Description:
    *places, channels, multiplier = layer.kernel.shape
    spatial = range(2, len(places) + 2)

    def arrange(values: np.ndarray) -> np.ndarray:
        return values.reshape(channels, multiplier, *places).transpose(*spatial, 0, 1)

    filters = channels * multiplier
    roles = {"kernel": arrange, "bias": _as_vector(filters)}
    return (kinds.CONVOLUTION, (filters, 1, *places), channels), roles


def _transposed(layer: keras.layers.Layer) -> _Description:
    *places, filters, channels = layer.kernel.shape
    spatial = range(2, len(places) + 2)
    roles = {
        "kernel": lambda values: values.transpose(*spatial, 1, 0),
        "bias": _as_vector(filters),
    }
    return (kinds.TRANSPOSED, (channels, filters, *places), 1), roles


def _qlinear_convolution(layer: keras.layers.Layer) -> _Description:
    parameters = ("x_scale", "x_zero_point", "w_scale", "w_zero_point", "y_scale", "y_zero_point")
    roles = {
        "kernel": _same,
        "bias": _as_vector(layer.filters),
        **dict.fromkeys(parameters, _scalar_or_vector),
    }
    return (kinds.CONVOLUTION, tuple(layer.kernel.shape), layer.groups), roles


def _dense(layer: keras.layers.Layer) -> _Description:
    roles = {"kernel": _same, "bias": _as_vector(layer.units)}
    return (kinds.DENSE, tuple(layer.kernel.shape), 1), roles


def _normalization(kind: str) -> Callable[[keras.layers.Layer], _Description]:
    def describe(layer: keras.layers.Layer) -> _Description:
        names = ("gamma", "beta", "moving_mean", "moving_variance")
        present = [w for name in names if (w := getattr(layer, name, None)) is not None]
        shape = tuple(present[0].shape) if present else ()
        return (kind, shape, 1), dict.fromkeys(names, _same)

    return describe


def _embedding(layer: keras.layers.Layer) -> _Description:
    return (kinds.EMBEDDING, tuple(layer.embeddings.shape), 1), {"embeddings": _same}


_DESCRIBE = (
    ((layers.QLinearConv1D, layers.QLinearConv2D, layers.QLinearConv3D), _qlinear_convolution),
    ((keras.layers.DepthwiseConv1D, keras.layers.DepthwiseConv2D), _depthwise),
    (
        (
            keras.layers.Conv1DTranspose,
            keras.layers.Conv2DTranspose,
            keras.layers.Conv3DTranspose,
        ),
        _transposed,
    ),
    ((keras.layers.Conv1D, keras.layers.Conv2D, keras.layers.Conv3D), _convolution),
    (keras.layers.Dense, _dense),
    (keras.layers.BatchNormalization, _normalization(kinds.BATCH_NORMALIZATION)),
    (keras.layers.LayerNormalization, _normalization(kinds.LAYER_NORMALIZATION)),
    (keras.layers.Embedding, _embedding),
)
