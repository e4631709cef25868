"""Builds the native libraries with CMake and tags the wheel for any Python 3 on this platform."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import setuptools

if int(setuptools.__version__.split(".")[0]) < 77:
    sys.exit("tf_qops: setuptools is older than 77: pip install 'setuptools>=77'")

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def _tool(name: str) -> str | None:
    """Returns the path of a program on PATH or among this Python's scripts."""
    return shutil.which(name) or shutil.which(name, path=sysconfig.get_path("scripts"))


def _run(*command: str | os.PathLike) -> None:
    if subprocess.run(command).returncode:
        sys.exit("tf_qops: the native build failed for the reason given above")


class CMakeBuild(build_ext):
    """Builds what CMakeLists.txt describes, in a folder that the next build uses again."""

    def run(self) -> None:
        """Puts the libraries into the package: the source folder's for an editable install."""
        finder = [sys.executable, ROOT / "cmake" / "find_tensorflow.py"]
        found = subprocess.run(finder, capture_output=True, text=True)
        if found.returncode:
            sys.exit(found.stderr.strip())
        version, tensorflow = found.stdout.split(";")
        cmake = _tool("cmake") or sys.exit("tf_qops: cmake is missing: pip install cmake ninja")
        ninja = _tool("ninja")
        # pip's isolated builds see another copy of TensorFlow each time: keep them apart.
        place = "" if tensorflow.startswith(sys.prefix) else "-isolated"
        kind = "ninja" if ninja else "make"
        build = ROOT / "build" / f"cmake-{kind}-tensorflow-{version}{place}"
        prefix = ROOT if self.inplace or self.editable_mode else pathlib.Path(self.build_lib)

        os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
        generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []
        options = [
            f"-DPython3_EXECUTABLE={sys.executable}",
            f"-DTF_QOPS_XLA={os.environ.get('TF_QOPS_XLA', 'AUTO')}",
        ]
        _run(cmake, "-S", ROOT, "-B", build, *generator, *options)
        _run(cmake, "--build", build)
        for library in (prefix / "tf_qops").glob("_tf_qops*.so"):
            library.unlink()  # a running process keeps the old file; a library now off goes
        _run(cmake, "--install", build, "--prefix", prefix.resolve())

    def get_outputs(self) -> list[str]:
        """Returns the installed native files."""
        package = pathlib.Path(self.build_lib) / "tf_qops"
        return [*map(str, package.glob("_tf_qops*.so")), str(package / "_build_info.json")]

    def get_output_mapping(self) -> dict[str, str]:
        """Returns nothing: an editable install builds in the source folder."""
        return {}


class Wheel(bdist_wheel):
    """A wheel for this platform that names no Python version: the libraries do not use Python."""

    def run(self) -> None:
        """Starts from an empty folder, so that no module deleted since is packed."""
        shutil.rmtree(self.get_finalized_command("build").build_lib, ignore_errors=True)
        super().run()

    def get_tag(self) -> tuple[str, str, str]:
        """Returns the wheel's tag."""
        return "py3", "none", super().get_tag()[2]


setuptools.setup(
    ext_modules=[setuptools.Extension("tf_qops._tf_qops", [])],
    cmdclass={"build_ext": CMakeBuild, "bdist_wheel": Wheel},
)
