"""The base of layers that are one function of `tf_qops`, with named operands."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from tf_qops.layers import narrow
from tf_qops.layers._base import QuantizedLayer, as_array


class Operator(QuantizedLayer):
    """A function of `tf_qops` as a layer; a subclass says which.

    The function has the formula, and the operands' shapes and dtypes. An operand is either a
    constant, so a non-trainable weight of its name and exact dtype, or an input of the call.

    Args:
        constants: operand -> array. Python floats are float32; Python integers have the dtype of
            the first input, so other zero points must be arrays. None is an operand left out.
        inputs: the operands that the call is given, in its order; None takes those that the
            function needs and `constants` lacks.
        attributes: the function's other arguments by name.
        **kwargs: those of `keras.layers.Layer`.

    Input: a tensor, or a list where there are several. Output: the function's; types that Keras
    lacks are carried by wider ones, as `QuantizeLinear` says.

    Raises:
        ValueError: an operand that the function does not have, that is given twice or missing; an
            argument that is none; another number of inputs than `inputs` has.

    Example:

    >>> constants = {"a_scale": 0.5, "a_zero_point": 0, "b": np.uint8([3]), "b_scale": 1.0}
    >>> layer = tfq.layers.QLinearAdd(constants | {"b_zero_point": 0, "c_scale": 0.5})
    >>> layer.inputs, layer(tf.constant([1, 2], tf.uint8)).numpy().tolist()
    (['a'], [7, 8])
    """

    function: ClassVar[Callable[..., Any]]
    has_xla_kernel: ClassVar[bool] = False

    def __init__(
        self,
        constants: Mapping[str, Any] | None = None,
        inputs: Sequence[str] | None = None,
        attributes: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ):
        constants, attributes = dict(constants or {}), dict(attributes or {})
        if inputs is None:
            inputs = [n for n in self._needed() if n not in {**constants, **attributes}]
        self._check_names([*constants, *inputs, *attributes])
        arrays = {name: as_array(name, value, None) for name, value in constants.items()}
        for name, value in arrays.items():
            if value is not None and value.dtype == np.float64:
                arrays[name] = value.astype(np.float32)
        super().__init__(arrays, **kwargs)
        self.inputs = list(inputs)
        self.attributes = attributes
        self.supports_jit &= self.has_xla_kernel

    @classmethod
    def operands(cls) -> list[str]:
        """Returns the names of the operands, in ONNX's order."""
        return [p.name for p in cls._parameters() if p.kind == p.POSITIONAL_OR_KEYWORD]

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        """Returns the function's operands and other arguments."""
        parameters = inspect.signature(cls.function).parameters
        return [p for name, p in parameters.items() if name != "name"]

    @classmethod
    def _needed(cls) -> list[str]:
        """Returns the names that have no default."""
        return [
            p.name for p in cls._parameters() if p.default is p.empty and p.kind != p.VAR_KEYWORD
        ]

    @classmethod
    def _check_names(cls, given: list[str]) -> None:
        """Refuses names of operands and arguments that are unknown, given twice or missing."""
        known = [p.name for p in cls._parameters()]
        unknown = sorted(set(given) - set(known))
        if unknown and cls._parameters()[-1].kind != inspect.Parameter.VAR_KEYWORD:
            raise ValueError(f"{cls.__name__} takes {known}. Received: {unknown}")
        twice = sorted({name for name in given if given.count(name) > 1})
        if twice:
            raise ValueError(
                f"An operand must be a constant or an input. Received: {twice} as both"
            )
        missing = sorted(set(cls._needed()) - set(given))
        if missing:
            raise ValueError(f"{cls.__name__} needs {cls._needed()}. Received: no {missing}")

    def build(self, input_shape: Any) -> None:
        """Creates the constants as weights."""
        del input_shape
        self.add_parameters()
        # The weights hold the values now; a second copy would stay in memory.
        self._initial = types.MappingProxyType(dict.fromkeys(self._initial))

    def call(self, x: tf.Tensor | Sequence[tf.Tensor]) -> tf.Tensor | list[tf.Tensor]:
        """Returns what the function does."""
        given = list(x) if isinstance(x, (list, tuple)) else [x]
        if len(given) != len(self.inputs):
            raise ValueError(f"inputs must be {self.inputs}. Received: {len(given)} tensors")
        values = dict(zip(self.inputs, given, strict=True))
        values |= {name: self.tensor(name) for name in self._initial}
        dtypes = {name: self.parameter_dtype(name) for name in self._initial}
        for name, value in values.items():
            dtype = dtypes.get(name) or dtypes.get(f"{name}_zero_point")
            if dtype and narrow.carrier(dtype) != dtype:
                values[name] = narrow.restored(value, dtype)
        y = type(self).function(**values, **self.attributes)
        return list(y) if isinstance(y, tuple) else narrow.carried(y)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        config = super().get_config()
        constants = {name: config.pop(name) for name in self._initial}
        return config | {
            "constants": constants,
            "inputs": self.inputs,
            "attributes": self.attributes,
        }
