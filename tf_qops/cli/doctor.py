"""`tf-qops doctor`."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import os
import pathlib
import platform
import sys
from collections.abc import Mapping

from rich.console import Group
from rich.markup import escape
from rich.table import Column, Table

import tf_qops
from tf_qops import build_info
from tf_qops.cli.main import FINDING, OK
from tf_qops.cli.screen import Screen

_LIBRARY = "_tf_qops.so"
# Distributions that some part needs: name -> (what for, how to get it).
_WANTED = {
    "onnx": ("ONNX files", "pip install 'tf_qops[onnx]'"),
    "rich": ("this command, reports", "pip install 'tf_qops[onnx]'"),
    "onnxruntime": ("verify, bench", "pip install onnxruntime"),
    "matplotlib": ("pages of inspect and verify", "pip install 'tf_qops[plot]'"),
    "openvino": ("a peer of bench", "pip install openvino"),
}
_ALSO = ("keras", "numpy", "ml-dtypes")
_TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly")


@dataclasses.dataclass(frozen=True)
class Examination:
    """What is installed.

    Attributes:
        versions: name -> version.
        missing: name -> what for, and how to get it.
        build: of the library, as `tfq.build_info()`; empty where it cannot be loaded.
        environment: variables that change what tf_qops does.
        problems: what keeps something from working.
    """

    versions: Mapping[str, str]
    missing: Mapping[str, str]
    build: Mapping[str, object]
    environment: Mapping[str, str]
    problems: tuple[str, ...]

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        versions = Table("package", "version", title="Installed")
        for name, version in self.versions.items():
            versions.add_row(name, version)
        parts: list[object] = [versions]
        if self.build:
            build = Table("", Column(overflow="fold"), title="Library", show_header=False)
            for name, value in self.build.items():
                text = ", ".join(value) if isinstance(value, list) else str(value)
                build.add_row(name.replace("_", " "), escape(text))
            parts.append(build)
        if self.missing:
            missing = Table("missing", "used by, how to get it", title="Not installed")
            for name, advice in self.missing.items():
                missing.add_row(name, escape(advice))
            parts.append(missing)
        parts += [f"{name}={escape(value)}" for name, value in self.environment.items()]
        parts += [f"[red]Problem:[/red] {escape(problem)}" for problem in self.problems]
        return Group(*parts)


def examine() -> Examination:
    """Looks at what is installed."""
    versions = {"python": platform.python_version(), "tf_qops": tf_qops.__version__}
    names = (*_TENSORFLOWS, *_ALSO, *_WANTED)
    versions |= {name: version for name in names if (version := _version(name))}
    missing = {
        name: f"{use}: {advice}" for name, (use, advice) in _WANTED.items() if name not in versions
    }
    problems = []
    try:
        build = build_info()
    except ImportError as error:
        build = {}
        problems.append(str(error))
    if build and not build["xla"]:
        problems.append("there are no XLA kernels: jit_compile=True will not work. Rebuild with "
                        "TF_QOPS_XLA=ON in the environment")  # fmt: skip
    tensorflows = [name for name in _TENSORFLOWS if name in versions]
    if len(tensorflows) > 1:
        problems.append(
            f"{' and '.join(tensorflows)} overwrite each other: pip uninstall all of them, then "
            f"install one"
        )
    copies = _copies()
    if len(copies) > 1:
        problems.append(
            "several copies of tf_qops lie on Python's path, and a process takes only one. "
            f"Imported is the first: {', '.join(map(str, copies))}"
        )
    environment = {k: v for k, v in sorted(os.environ.items()) if k.startswith("TF_QOPS_")}
    return Examination(versions, missing, build, environment, tuple(problems))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _copies() -> list[pathlib.Path]:
    """Returns the libraries of operators that lie on Python's path, the imported one first."""
    folders = [pathlib.Path(tf_qops.__file__).parent]
    folders += [pathlib.Path(entry or ".", "tf_qops") for entry in sys.path]
    found = [(folder / _LIBRARY).resolve() for folder in folders if (folder / _LIBRARY).is_file()]
    return list(dict.fromkeys(found))


def run(arguments: argparse.Namespace, screen: Screen) -> int:
    """Shows what is installed; returns the exit code."""
    examination = examine()
    screen.result(examination, dataclasses.asdict(examination))
    return FINDING if examination.problems else OK
