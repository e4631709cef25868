"""What the layers share: quantization parameters as weights, and shapes from the operators."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_qops._library import build_info
from tf_qops.layers import narrow

# numpy's own choices for Python numbers: such values have no type of their own.
_UNTYPED = (np.dtype("int64"), np.dtype("float64"))

# Configurations are text: larger arrays are written as shape and dtype only.
_LARGEST_IN_CONFIG = 1000


def as_array(name: str, value: Any, dtype: str | None) -> np.ndarray | None:
    """Returns value as an array that keeps its dtype, or has `dtype` if it has none of its own.

    Args:
        name: the argument's name, for messages.
        value: number, sequence, array, tensor, what `_to_config` made of an array, or None.
        dtype: for Python numbers; None leaves them as numpy makes them.
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        if "shape" in value:
            return np.zeros(value["shape"], value["dtype"])
        return np.array(value["value"], value["dtype"])
    array = np.asarray(value)
    if dtype is None or array.dtype not in _UNTYPED:
        return array
    target = tf.as_dtype(dtype)
    if (
        target.is_integer
        and ((array != np.floor(array)) | (array < target.min) | (array > target.max)).any()
    ):
        raise ValueError(f"{name} must hold values of {dtype}. Received: {name}={value!r}")
    return array.astype(target.as_numpy_dtype)


def _to_config(array: np.ndarray) -> dict[str, Any]:
    """Returns an array as JSON has it, or its shape alone if it is large."""
    if array.size > _LARGEST_IN_CONFIG:
        return {"dtype": array.dtype.name, "shape": array.shape}
    return {"dtype": array.dtype.name, "value": array.tolist()}


def scale_array(name: str, value: Any) -> np.ndarray:
    """Returns a scale as an array: its own floating-point type, float32 for Python numbers."""
    array = as_array(name, value, "float32")
    if array is None or not tf.as_dtype(array.dtype).is_floating:
        raise ValueError(f"{name} must be a number or floats. Received: {name}={value!r}")
    return array


def zero_point_array(name: str, value: Any, dtype: str | None) -> np.ndarray | None:
    """Returns a zero point as an array of its own dtype, or of `dtype` for Python numbers."""
    return as_array(name, value, dtype)


def format_parameters(
    x_scale: Any,
    x_zero_point: Any,
    w_scale: Any,
    w_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
    output_dtype: str | None,
) -> dict[str, np.ndarray]:
    """Returns scales and zero points of input, kernel and output as arrays.

    Python numbers as zero points are int8 for the kernel, `output_dtype` or uint8 for the output;
    x_zero_point may stay int64, to take the input's dtype.

    Raises:
        ValueError: a scale that is no float, or a y_zero_point of another dtype than the output.
    """
    y_zero_point = zero_point_array("y_zero_point", y_zero_point, output_dtype or "uint8")
    if y_zero_point.dtype.name != (output_dtype or y_zero_point.dtype.name):
        raise ValueError(
            "y_zero_point must have the dtype of the output. "
            f"Received: y_zero_point of {y_zero_point.dtype}, output_dtype={output_dtype}"
        )
    return {
        "x_scale": scale_array("x_scale", x_scale),
        "x_zero_point": zero_point_array("x_zero_point", x_zero_point, None),
        "w_scale": scale_array("w_scale", w_scale),
        "w_zero_point": zero_point_array("w_zero_point", w_zero_point, "int8"),
        "y_scale": scale_array("y_scale", y_scale),
        "y_zero_point": y_zero_point,
    }


class OperatorLayer(keras.layers.Layer):
    """A layer around an operator: nothing is cast, shapes and dtypes are the operator's own.

    Values of types that Keras lacks come and go in the type that carries them, see `narrow`.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(autocast=False, **kwargs)
        self._input_dtype: str | None = None
        self._packed: dict[str, tuple[str, tuple[int, ...]]] = {}

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        x, args = keras.tree.map_structure(narrow.carried, (x, args))
        kwargs = {name: narrow.carried(value) for name, value in kwargs.items()}
        first = x[0] if isinstance(x, (list, tuple)) and x else x
        if not self.built and hasattr(first, "dtype"):
            self._input_dtype = keras.backend.standardize_dtype(first.dtype)
        return super().__call__(x, *args, **kwargs)

    def add_fixed_weight(self, name: str, value: np.ndarray) -> keras.Variable:
        """Returns a new non-trainable weight that starts as `value`, in its exact dtype.

        Values of 4- and 2-bit and float8 types are kept packed in uint8; `tensor` unpacks them.
        """
        return self._add_exact_weight(name, value, trainable=False)

    def add_learned_weight(
        self, name: str, value: np.ndarray, constraint: keras.constraints.Constraint | None = None
    ) -> keras.Variable:
        """Returns a new trainable weight of floats that starts as `value`; never cast."""
        return self._add_exact_weight(name, value, trainable=True, constraint=constraint)

    def _add_exact_weight(self, name: str, value: np.ndarray, **options: Any) -> keras.Variable:
        """Returns a new weight that starts as `value`."""
        if narrow.is_packed(value.dtype.name):
            self._packed[name] = (value.dtype.name, value.shape)
            value = narrow.pack(value)
        return self.add_weight(
            name=name,
            shape=value.shape,
            dtype=value.dtype.name,
            initializer=lambda shape, dtype: tf.constant(value),
            autocast=False,
            **options,
        )

    def assign(self, **values: np.ndarray) -> None:
        """Assigns weights of the built layer by name, in their exact dtype and shape.

        Raises:
            ValueError: a value of another dtype or shape than the weight has.
        """
        for name, value in values.items():
            variable = getattr(self, name)
            dtype, shape = self._packed.get(name, (variable.dtype, tuple(variable.shape)))
            if (value.dtype.name, value.shape) != (dtype, tuple(shape)):
                raise ValueError(
                    f"{name} must be {dtype} of shape {list(shape)}. "
                    f"Received: {value.dtype} of shape {list(value.shape)}"
                )
            variable.assign(narrow.pack(value) if name in self._packed else value)

    def tensor(self, name: str) -> tf.Tensor | None:
        """Returns a weight's current value, in the type that carries it; for use inside `call`."""
        variable = getattr(self, name)
        if variable is None:
            return None
        value = tf.convert_to_tensor(variable)
        return narrow.unpack(value, *self._packed[name]) if name in self._packed else value

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Traces `call`: the operators' shape functions are the one source of shapes and dtypes."""
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def input_dtype_for_shapes(self) -> str:
        """Returns a dtype that `call` accepts."""
        return self._input_dtype or "float32"

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Returns the shape of the output for an input of this shape; builds the layer."""
        if not self.built:
            self.build(input_shape)
        x = keras.KerasTensor(input_shape, dtype=self.input_dtype_for_shapes())
        return self.compute_output_spec(x).shape


class QuantizedLayer(OperatorLayer):
    """A layer that holds its quantization parameters as non-trainable weights of exact dtype.

    It can be compiled by XLA where the library has XLA kernels.

    Args:
        parameters: name -> array (or None), in the order in which they become weights. Zero
            points still in int64 take the dtype of the layer's first input, uint8 if the layer
            is built by hand.
        **kwargs: those of `keras.layers.Layer`.
    """

    def __init__(self, parameters: Mapping[str, np.ndarray | None], **kwargs: Any):
        super().__init__(**kwargs)
        # A proxy, so that Keras does not track numpy arrays as state of the layer.
        self._initial = types.MappingProxyType(dict(parameters))
        self.supports_jit = build_info()["xla"]
        for name in parameters:
            setattr(self, name, None)

    def add_parameters(self) -> None:
        """Creates the weights of all parameters; `build` calls it."""
        for name, value in self._initial.items():
            if value is not None:
                if value.dtype == np.int64:
                    value = as_array(name, value, self._input_dtype or "uint8")
                setattr(self, name, self.add_fixed_weight(name, value))

    def parameter_dtype(self, name: str) -> str | None:
        """Returns the dtype of a parameter; that of its values, where they are kept packed."""
        if getattr(self, name) is None:
            return None if self._initial[name] is None else self._initial[name].dtype.name
        return self._packed.get(name, (getattr(self, name).dtype,))[0]

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments; parameters as {"dtype", "value"} with their current values.

        A parameter of more than 1000 elements is written as {"dtype", "shape"}. A layer made of
        that starts with zeros there, as kernels do, until its weights are loaded or assigned.
        """
        config = super().get_config()
        for name, value in self._initial.items():
            if getattr(self, name) is not None:
                value = np.asarray(self.tensor(name).numpy(), self.parameter_dtype(name))
            config[name] = None if value is None else _to_config(value)
        return config
