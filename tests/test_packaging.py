"""Building, and what an installation holds."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from absl.testing import absltest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(*command: str | pathlib.Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True
    )


def build(kind: str, folder: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Builds a "wheel" or an "sdist" as pip does without isolation."""
    code = f"from setuptools import build_meta; build_meta.build_{kind}({folder!r})"
    return run(sys.executable, "-c", code, **environment)


class ConfigureTest(absltest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.create_tempdir()
        self.build = self.folder.mkdir("build").full_path

    def make_tensorflow(self, version: str) -> str:
        """Makes a TensorFlow of which nothing but the version is there; for PYTHONPATH."""
        self.folder.create_file("tensorflow/__init__.py")
        name = f"tensorflow-{version}.dist-info"
        self.folder.create_file(f"{name}/METADATA", f"Name: tensorflow\nVersion: {version}\n")
        self.folder.create_file(f"{name}/top_level.txt", "tensorflow\n")
        return self.folder.full_path

    def configure(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        python = f"-DPython3_EXECUTABLE={sys.executable}"
        ninja = ("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}")
        command = (shutil.which("cmake"), "-S", ROOT, "-B", self.build, python, *ninja, *options)
        return run(*command, **environment)

    def has_xla(self) -> bool:
        return json.loads(pathlib.Path(self.build, "_build_info.json").read_text())["xla"]

    def test_missing_tensorflow_is_one_line_with_the_install_command(self):
        process = run(sys.executable, "-I", "-S", ROOT / "cmake" / "find_tensorflow.py")
        self.assertEqual(process.returncode, 1)
        self.assertRegex(
            process.stderr, r"^tf_qops: TensorFlow is not installed for .*: pip install .*\n$"
        )

    def test_too_old_tensorflow_ends_the_build_in_one_line(self):
        process = build("wheel", self.build, PYTHONPATH=self.make_tensorflow("2.15.0"))
        self.assertEqual(process.returncode, 1)
        self.assertRegex(
            process.stderr.splitlines()[-1],
            r"^tf_qops: TensorFlow 2\.21 or later is needed, found 2\.15\.0: pip install",
        )
        self.assertNotIn("Traceback", process.stderr)

    def test_cmake_alone_reports_a_too_old_tensorflow(self):
        process = self.configure(PYTHONPATH=self.make_tensorflow("2.15.0"))
        self.assertIn("tf_qops: TensorFlow 2.21 or later is needed", process.stderr)

    def test_missing_compiler_is_one_line_with_the_install_command(self):
        process = self.configure(PATH="", CXX="")
        self.assertIn("tf_qops: no C++ compiler found: apt-get install g++", process.stderr)

    def test_core_needs_no_tensorflow(self):
        process = self.configure(
            "-DTF_QOPS_CORE_ONLY=ON", PYTHONPATH=self.make_tensorflow("2.15.0")
        )
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_xla_is_built_with_the_installed_tensorflow_unless_switched_off(self):
        self.configure()
        self.assertTrue(self.has_xla())
        self.configure("-DTF_QOPS_XLA=OFF")
        self.assertFalse(self.has_xla())

    def test_tensorflow_without_xla_headers_is_built_without_xla_and_refused_where_asked_for(self):
        tensorflow = self.make_tensorflow("2.21.1")
        self.configure(PYTHONPATH=tensorflow)
        self.assertFalse(self.has_xla())
        process = self.configure("-DTF_QOPS_XLA=ON", PYTHONPATH=tensorflow)
        self.assertRegex(process.stderr, r"TF_QOPS_XLA=ON, but TensorFlow 2\.21\.1 has no XLA")

    def test_other_architectures_take_the_portable_files_alone(self):
        self.configure(
            "-DTF_QOPS_CORE_ONLY=ON",
            "-DCMAKE_SYSTEM_NAME=Linux",
            "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        )
        commands = pathlib.Path(self.build, "compile_commands.json").read_text()
        self.assertIn("_portable.cc", commands)
        self.assertNotIn("avx2", commands)
        self.assertNotIn("TF_QOPS_X86", commands)


@pytest.mark.slow
class DistributionTest(absltest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.create_tempdir().full_path

    def built(self, kind: str) -> pathlib.Path:
        process = build(kind, self.folder)
        self.assertEqual(process.returncode, 0, process.stderr)
        (file,) = pathlib.Path(self.folder).iterdir()
        return file

    def test_wheel_serves_any_python_and_works_where_it_is_unpacked(self):
        wheel = self.built("wheel")
        self.assertRegex(wheel.name, r"^tf_qops-[\d.]+-py3-none-linux_\w+\.whl$")
        target = self.create_tempdir().full_path
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
            names = set(archive.namelist())
        package = ROOT / "tf_qops"
        modules = {str(file.relative_to(ROOT)) for file in package.rglob("*.py*") if file.is_file()}
        expected = {name for name in modules if not name.endswith(".pyc")} | {
            "tf_qops/_tf_qops.so",
            "tf_qops/_tf_qops_xla.so",
            "tf_qops/_build_info.json",
            "tf_qops/py.typed",
        }
        self.assertEqual({name for name in names if name.startswith("tf_qops/")}, expected)
        code = (
            "import tensorflow as tf, tf_qops as tfq\n"
            "f = tf.function(lambda x: tfq.dequantize_linear(x, 0.5), jit_compile=True)\n"
            "print(tfq.__file__, f(tf.constant([3], tf.int8)).numpy())\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", code],
            cwd=target,
            env={**os.environ, "PYTHONPATH": target},
            capture_output=True,
            text=True,
        )
        self.assertEqual(process.stdout, f"{target}/tf_qops/__init__.py [1.5]\n", process.stderr)

    def test_source_distribution_holds_all_that_a_build_and_the_tests_need(self):
        archive = self.built("sdist")
        with tarfile.open(archive) as tar:
            names = {name.partition("/")[2] for name in tar.getnames()}
        folders = ("cc", "cmake", "docs", "examples", "tests", "tf_qops")
        tracked = run("git", "ls-files", *folders, "CMakeLists.txt", "Makefile").stdout.splitlines()
        self.assertNotEmpty(tracked)
        self.assertEqual(set(tracked) - names, set())


class ConfigurationTest(absltest.TestCase):
    def test_pre_commit_runs_the_versions_of_the_extra_dev(self):
        pins = re.compile(r"[\w-]+==[\d.]+(?=[\"\]])")
        hooks = set(pins.findall((ROOT / ".pre-commit-config.yaml").read_text()))
        self.assertContainsSubset(hooks, pins.findall((ROOT / "pyproject.toml").read_text()))
        self.assertLen(hooks, 2)


if __name__ == "__main__":
    absltest.main()
