"""Finds, checks and loads the shared libraries, once a process."""

import contextlib
import contextvars
import ctypes
import importlib
import json
import os
import pathlib
import threading
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import tensorflow as tf
from absl import logging
from tensorflow.python.framework import op_def_registry

_PATH_VARIABLE = "TF_QOPS_LIBRARY"
_INSTRUCTION_SET_VARIABLE = "TF_QOPS_ISA"
_BUILT_PATH = pathlib.Path(__file__).resolve().with_name("_tf_qops.so")
_AN_OPERATOR = "TfQops>DequantizeLinear"
_REBUILD = "pip install --no-build-isolation --no-deps --force-reinstall FOLDER_OF_TF_QOPS_SOURCES"


class _Loaded(NamedTuple):
    wrappers: types.ModuleType
    path: pathlib.Path


_lock = threading.Lock()
_loaded: _Loaded | None = None
_replacement: contextvars.ContextVar[Any] = contextvars.ContextVar("replacement", default=None)


def _xla_path(path: pathlib.Path) -> pathlib.Path | None:
    """Returns the XLA library beside the main one, if it was built."""
    xla_path = path.with_name("_tf_qops_xla.so")
    return xla_path if xla_path.is_file() else None


def _build_record(path: pathlib.Path) -> dict[str, Any]:
    """Returns what CMake wrote down beside the library, nothing for a library built otherwise."""
    record = path.with_name("_build_info.json")
    return json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}


def _check_present(path: pathlib.Path) -> None:
    if path.is_file():
        return
    if path != _BUILT_PATH:
        advice = f"{_PATH_VARIABLE} must name the built library or be unset"
    else:
        advice = "run `pip install -e .` in the folder of sources, or start Python outside of it"
    raise ImportError(f"tf_qops: the library of operators is missing: {advice}. Tried: {path}")


def _check_version(path: pathlib.Path) -> None:
    built = _build_record(path).get("tensorflow_version")
    if built and built.split(".")[:2] != tf.__version__.split(".")[:2]:
        raise ImportError(
            f"tf_qops: {path} was built for TensorFlow {built}, found {tf.__version__}; a build "
            f"serves one minor version. Rebuild it: {_REBUILD}"
        )


def _check_alone(path: pathlib.Path) -> None:
    """Refuses a second copy: TensorFlow would load it without a word and then fail every call."""
    if op_def_registry.get(_AN_OPERATOR) is None:
        return
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    files = dict.fromkeys(line.split(maxsplit=5)[-1] for line in maps)
    if str(path) not in files:
        copies = [file for file in files if pathlib.Path(file).name.startswith(_BUILT_PATH.stem)]
        raise ImportError(
            "tf_qops: another copy of the operators is already loaded and a process takes only "
            f"one: import a single tf_qops. Loaded: {', '.join(copies) or '?'}. Refused: {path}"
        )


def _instruction_sets(path: pathlib.Path) -> tuple[list[str], str]:
    """Returns what a loaded library can use here, and what it uses."""
    library = ctypes.CDLL(str(path))
    for function in (library.tf_qops_instruction_sets, library.tf_qops_instruction_set):
        function.restype = ctypes.c_char_p
    usable = library.tf_qops_instruction_sets().decode().split(",")
    return usable, library.tf_qops_instruction_set().decode()


def _check_instruction_set(path: pathlib.Path) -> None:
    usable, _ = _instruction_sets(path)
    wanted = os.environ.get(_INSTRUCTION_SET_VARIABLE)
    if wanted and wanted not in usable:
        raise ImportError(
            f"tf_qops: {_INSTRUCTION_SET_VARIABLE} must be one of {', '.join(usable)} on this "
            f"machine. Received: {wanted}"
        )


def _load() -> _Loaded:
    global _loaded
    with _lock:
        if _loaded is None:
            path = pathlib.Path(os.environ.get(_PATH_VARIABLE) or _BUILT_PATH).resolve()
            for check in (_check_present, _check_version, _check_alone):
                check(path)
            try:
                wrappers = tf.load_op_library(str(path))
                if xla_path := _xla_path(path):
                    tf.load_library(str(xla_path))
            except (tf.errors.OpError, RuntimeError) as error:
                raise ImportError(f"tf_qops: {error}. Rebuild it: {_REBUILD}") from error
            _check_instruction_set(path)
            logging.debug("tf_qops: loaded %s", path)
            _loaded = _Loaded(wrappers, path)
        return _loaded


def load() -> types.ModuleType:
    """Loads the libraries at the first call.

    Returns:
      The wrappers that TensorFlow generated: `tf_qops_dequantize_linear` and so on.

    Raises:
      ImportError: The library is missing, was built for another minor version of TensorFlow, is
        already loaded from another path, or cannot be loaded; or TF_QOPS_ISA names no usable
        instruction set.
    """
    replacement = _replacement.get()
    return _load().wrappers if replacement is None else replacement


@contextlib.contextmanager
def replaced(wrappers: Any) -> Iterator[None]:
    """Makes what is traced inside the block of other operators.

    Args:
        wrappers: an object with functions of the names and arguments of the wrappers.
    """
    token = _replacement.set(wrappers)
    try:
        yield
    finally:
        _replacement.reset(token)


def register() -> None:
    """Makes TensorFlow and Keras know all operators and layers of tf_qops, once a process.

    A fresh process needs it before it loads a SavedModel or a .keras file. Where Keras 3 does not
    run on TensorFlow, only the operators are registered.

    >>> tfq.register()

    Raises:
      ImportError: The library is missing, was built for another minor version of TensorFlow, is
        already loaded from another path, or cannot be loaded; or TF_QOPS_ISA names no usable
        instruction set.
    """
    load()
    try:
        importlib.import_module("tf_qops.layers")
    except ImportError as error:
        logging.warning("tf_qops: operators registered, Keras layers not: %s", error)


def build_info() -> dict[str, Any]:
    """Tells how the libraries were built and what they use on this machine.

    Returns:
      A dictionary: `version` of tf_qops, `tensorflow_version` built against,
      `tensorflow_installed`, `compiler`, `architecture`; `xla`, whether the XLA kernels are there;
      `instruction_sets` usable here and the chosen `instruction_set` (the environment variable
      TF_QOPS_ISA forces one); `library` and `xla_library`, their paths.

    >>> info = tfq.build_info()
    >>> info["instruction_set"] in info["instruction_sets"]
    True

    Raises:
      ImportError: As `tfq.register`.
    """
    path = _load().path
    xla_path = _xla_path(path)
    instruction_sets, instruction_set = _instruction_sets(path)
    return {
        **_build_record(path),
        "tensorflow_installed": tf.__version__,
        "xla": xla_path is not None,
        "instruction_sets": instruction_sets,
        "instruction_set": instruction_set,
        "library": str(path),
        "xla_library": xla_path and str(xla_path),
    }
