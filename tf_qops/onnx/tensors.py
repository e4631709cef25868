"""TensorProto to numpy, with every length checked and external data kept inside its folder."""

from __future__ import annotations

import pathlib
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from tf_qops.onnx.errors import OnnxFileError

# Types that TensorFlow lacks, and one of its types that holds each of their values.
_DECODED = {
    "float6_e2m3fn": "float8_e4m3fn",
    "float6_e3m2fn": "float8_e4m3fn",
    "float8_e8m0fnu": "float32",
}


def to_array(tensor: onnx.TensorProto, folder: pathlib.Path | None) -> np.ndarray:
    """Returns a tensor's values; float6 becomes float8_e4m3fn, float8_e8m0 float32.

    Args:
        tensor: of any ONNX type.
        folder: the model's folder, in which external data must lie; None if there is none.

    Raises:
        OnnxFileError: lengths that do not fit the shape, an unknown type, external data that is
            missing, too short or outside the folder.
    """
    if any(d < 0 for d in tensor.dims):
        raise OnnxFileError(
            f"A tensor's dimensions must not be negative. "
            f"Received: {tensor.name!r} of shape {list(tensor.dims)}"
        )
    try:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor = onnx.TensorProto(
                name=tensor.name,
                data_type=tensor.data_type,
                dims=tensor.dims,
                raw_data=_external_bytes(tensor, folder),
            )
        array = numpy_helper.to_array(tensor)
        if tensor.HasField("raw_data") and len(tensor.raw_data) != _packed_bytes(array):
            raise ValueError(f"it takes {_packed_bytes(array)} bytes")
        return array.astype(_DECODED.get(array.dtype.name, array.dtype))
    except OnnxFileError:
        raise
    except Exception as error:  # onnx raises what numpy and protobuf happen to raise
        raise OnnxFileError(
            f"A tensor's data does not fit its type and shape: {error}. "
            f"Received: {tensor.name!r} of type {tensor.data_type}, shape {list(tensor.dims)}, "
            f"{len(tensor.raw_data)} bytes of raw data"
        ) from error


def _packed_bytes(array: np.ndarray) -> int:
    """Returns the length of an array's raw data, in which small types are packed."""
    bits = 8 * array.dtype.itemsize
    if array.dtype.type.__module__ == "ml_dtypes":
        limits = ml_dtypes.finfo if "float" in array.dtype.name else ml_dtypes.iinfo
        bits = limits(array.dtype).bits
    return -(-array.size * bits // 8)


def _external_bytes(tensor: onnx.TensorProto, folder: pathlib.Path | None) -> bytes:
    """Reads a tensor's bytes from the file beside the model that it names."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    received = f"Received: {tensor.name!r} at location {location!r}"
    if folder is None:
        raise OnnxFileError(f"External data needs the model's path, not a ModelProto. {received}")
    root = folder.resolve()
    path = (root / location).resolve()
    if not location or not path.is_relative_to(root):
        raise OnnxFileError(f"External data must lie inside the model's folder. {received}")
    if not path.is_file():
        raise OnnxFileError(f"External data is missing: no file {path}. {received}")
    size = path.stat().st_size
    offset = int(entries.get("offset", 0))
    length = int(entries.get("length", size - offset))
    if offset < 0 or length < 0 or offset + length > size:
        raise OnnxFileError(
            f"External data reaches beyond its file of {size} bytes. "
            f"{received}, offset={offset}, length={length}"
        )
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def attribute_value(attribute: onnx.AttributeProto, folder: pathlib.Path | None) -> Any:
    """Returns an attribute as a Python value; tensors as arrays, text as str."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return to_array(value, folder)
    if attribute.type == onnx.AttributeProto.STRING:
        return value.decode(errors="replace")
    if attribute.type == onnx.AttributeProto.STRINGS:
        return [text.decode(errors="replace") for text in value]
    return list(value) if isinstance(value, (list, tuple)) else value
