"""Finding, checking and loading the shared libraries."""

import ast
import concurrent.futures
import importlib
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

import tensorflow as tf
from absl.testing import absltest

import tf_qops as tfq
from tf_qops import _library

PATH_VARIABLE = "TF_QOPS_LIBRARY"


def run(code: str, **environment: str) -> str:
    """Runs code in a fresh process and returns what it printed."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **environment}
    environment.setdefault(PATH_VARIABLE, "")
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def copy_libraries(loaded: pathlib.Path, folder: str) -> pathlib.Path:
    """Copies what the build made into another folder and returns the main library there."""
    for file in [*loaded.parent.glob("_tf_qops*.so"), loaded.with_name("_build_info.json")]:
        shutil.copy(file, folder)
    return pathlib.Path(folder, loaded.name)


class LoadTest(absltest.TestCase):
    def setUp(self):
        super().setUp()
        self.loaded = pathlib.Path(tfq.build_info()["library"])
        self.folder = self.create_tempdir().full_path
        # The next load() starts afresh, in a process that has the operators.
        self.enter_context(mock.patch.object(_library, "_loaded", None))

    def name_library(self, path: pathlib.Path | str) -> None:
        self.enter_context(mock.patch.dict(os.environ, {PATH_VARIABLE: str(path)}))

    def test_many_threads_load_once_and_get_the_same_wrappers(self):
        with (
            mock.patch.object(tf, "load_op_library", wraps=tf.load_op_library) as loader,
            concurrent.futures.ThreadPoolExecutor(8) as pool,
        ):
            wrappers = list(pool.map(lambda _: _library.load(), range(32)))
        self.assertLen({id(module) for module in wrappers}, 1)
        loader.assert_called_once()

    def test_register_may_be_called_again_and_after_the_package_is_reloaded(self):
        tfq.register()
        tfq.register()
        importlib.reload(_library).register()
        self.assertIs(_library.load(), _library.load())

    def test_missing_named_library_is_reported_with_its_path_and_the_variable(self):
        path = pathlib.Path(self.folder, "nowhere.so")
        self.name_library(path)
        with self.assertRaisesRegex(ImportError, f"{PATH_VARIABLE} must name .*Tried: {path}$"):
            tfq.register()

    def test_missing_built_library_is_reported_with_its_path_and_the_build_command(self):
        path = pathlib.Path(self.folder, "_tf_qops.so")
        self.name_library("")
        with (
            mock.patch.object(_library, "_BUILT_PATH", path),
            self.assertRaisesRegex(ImportError, f"pip install -e .*Tried: {path}$"),
        ):
            tfq.register()

    def test_build_for_another_minor_version_names_both_versions_and_the_rebuild(self):
        path = copy_libraries(self.loaded, self.folder)
        record = path.with_name("_build_info.json")
        record.write_text(record.read_text().replace(tf.__version__, "2.20.1"))
        self.name_library(path)
        with self.assertRaisesRegex(
            ImportError, rf"for TensorFlow 2\.20\.1, found {tf.__version__}.*--no-build-isolation"
        ):
            tfq.register()

    def test_patch_versions_may_differ(self):
        record = pathlib.Path(self.folder, "_build_info.json")
        minor = ".".join(tf.__version__.split(".")[:2])
        record.write_text(json.dumps({"tensorflow_version": f"{minor}.99"}))
        _library._check_version(record.with_name("_tf_qops.so"))

    def test_second_copy_is_refused_and_both_paths_named(self):
        second = copy_libraries(self.loaded, self.folder)
        self.name_library(second)
        with self.assertRaisesRegex(ImportError, f"Loaded: .*{self.loaded}.* Refused: {second}$"):
            tfq.register()


class FreshProcessTest(absltest.TestCase):
    def test_library_that_cannot_be_loaded_is_reported_and_the_next_try_may_succeed(self):
        loaded = pathlib.Path(tfq.build_info()["library"])
        good = copy_libraries(loaded, self.create_tempdir().full_path)
        broken = self.create_tempfile("_tf_qops.so", "not a library").full_path
        printed = run(
            "import os, tf_qops as tfq\n"
            "try: tfq.register()\n"
            "except ImportError as error: print(error)\n"
            f"os.environ['{PATH_VARIABLE}'] = '{good}'\n"
            "print(tfq.build_info()['library'], tfq.build_info()['xla_library'])\n",
            **{PATH_VARIABLE: broken},
        ).splitlines()
        self.assertRegex(printed[0], f"{broken}: .*Rebuild it: pip install")
        xla = good.with_name("_tf_qops_xla.so")
        self.assertEqual(printed[1], f"{good} {xla if xla.exists() else None}")

    def test_missing_tensorflow_is_reported_with_the_install_command(self):
        printed = run(
            "import sys\n"
            "sys.modules['tensorflow'] = None\n"
            "try: import tf_qops\n"
            "except ImportError as error: print(error)\n"
        )
        self.assertEqual(printed, "tf_qops needs TensorFlow: pip install 'tf_qops[cpu]'\n")

    def test_import_loads_neither_libraries_nor_keras_layers(self):
        printed = run(
            "import sys, tf_qops, tf_qops.raw_ops\n"
            "print(tf_qops._library._loaded, 'tf_qops.layers' in sys.modules)\n"
        )
        self.assertEqual(printed, "None False\n")

    def test_register_makes_keras_know_the_layers(self):
        printed = run(
            "import tf_qops as tfq\n"
            "tfq.register()\n"
            "import keras\n"
            "print(keras.saving.get_registered_object('tf_qops>QLinearConv2D').__name__)\n"
        )
        self.assertEqual(printed, "QLinearConv2D\n")

    def test_operators_register_where_keras_does_not_run_on_tensorflow(self):
        printed = run(
            "import tf_qops as tfq\ntfq.register()\nprint(tfq.dequantize_linear(3, 0.5).numpy())\n",
            TF_USE_LEGACY_KERAS="1",
        )
        self.assertEqual(printed, "1.5\n")

    def test_the_variable_forces_the_portable_instruction_set(self):
        printed = run(
            "import tf_qops as tfq\nprint(tfq.build_info()['instruction_set'])\n",
            TF_QOPS_ISA="portable",
        )
        self.assertEqual(printed, "portable\n")

    def test_an_instruction_set_that_is_not_there_is_refused_with_those_that_are(self):
        printed = run(
            "import tf_qops\n"
            "try:\n"
            "    tf_qops.register()\n"
            "except ImportError as error:\n"
            "    print(error)",
            TF_QOPS_ISA="sse9",
        )
        self.assertRegex(printed, "TF_QOPS_ISA must be one of portable.*Received: sse9")


class BuildInfoTest(absltest.TestCase):
    def test_versions_and_paths(self):
        info = tfq.build_info()
        self.assertEqual(info["version"], tfq.__version__)
        self.assertEqual(info["tensorflow_installed"], tf.__version__)
        self.assertEqual(info["xla"], info["xla_library"] is not None)
        self.assertTrue(pathlib.Path(info["library"]).is_file())

    def test_portable_is_always_usable(self):
        info = tfq.build_info()
        self.assertEqual(info["instruction_sets"][0], "portable")
        self.assertIn(info["instruction_set"], info["instruction_sets"])


class RawOpsTest(absltest.TestCase):
    def test_stub_lists_every_operator_with_its_arguments_and_defaults(self):
        stub = pathlib.Path(tfq.__file__).with_name("raw_ops.pyi").read_text()
        functions = {f.name: f for f in ast.parse(stub).body if isinstance(f, ast.FunctionDef)}
        self.assertCountEqual(functions, dir(tfq.raw_ops))
        for name, function in functions.items():
            arguments = function.args.kwonlyargs
            written = {
                argument.arg: inspect.Parameter.empty
                if default is None
                else eval(ast.unparse(default), {"tf": tf})
                for argument, default in zip(arguments, function.args.kw_defaults, strict=True)
            }
            parameters = inspect.signature(getattr(tfq.raw_ops, name)).parameters
            self.assertEqual(written, {k: v.default for k, v in parameters.items()}, name)

    def test_unknown_operator_is_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Nothing'"):
            _ = tfq.raw_ops.Nothing


if __name__ == "__main__":
    absltest.main()
