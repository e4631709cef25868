"""The subcommands of `tf-qops`, in this process, on real files."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

import keras
import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.inspection.test_inspect import parsed
from tests.onnx import graphs
from tf_qops._files import written_whole
from tf_qops.cli import doctor, main

DIGITS = str(graphs.DIGITS)
COMMANDS = ("inspect", "convert", "verify", "bench", "doctor")


def run(*arguments):
    """The exit code, the output and the error stream of a command."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        mock.patch.dict(os.environ, COLUMNS="120"),
    ):
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as error:  # argparse's way.
            code = error.code
    return code, output.getvalue(), errors.getvalue()


class CommandTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


class UseTest(CommandTest):
    @parameterized.parameters(*COMMANDS)
    def test_help_has_examples_and_exit_codes(self, command):
        code, output, _ = run(command, "--help")
        self.assertEqual(code, 0)
        self.assertIn(f"examples:\n  tf-qops {command}", output)
        self.assertIn("exit codes:\n  0  all is well\n", output)

    @parameterized.parameters(
        ((), "COMMAND"),
        (("shout",), "invalid choice"),
        (("verify",), "MODEL"),
        (("inspect", "a.onnx", "--strikt"), "unrecognized arguments"),
        (("inspect", "nowhere.onnx"), "no such model. Received: 'nowhere.onnx'"),
        (("verify", "nowhere.onnx"), "no such ONNX file. Received: 'nowhere.onnx'"),
        (("convert", "nowhere.onnx", "a.keras"), "no such ONNX file"),
        (("bench", "nowhere.onnx"), "no such ONNX file"),
        (("bench", DIGITS, "--seconds", "0"), "--seconds must be positive"),
        (("convert", DIGITS, "nowhere/a.keras"), "The folder must exist. Received: 'nowhere/"),
        (("verify", DIGITS, "--inputs", "nowhere.npz"), "Received: 'nowhere.npz'"),
    )
    def test_wrong_use_is_one_line_and_code_2(self, arguments, message):
        code, output, errors = run(*arguments)
        self.assertEqual((code, output), (2, ""))
        self.assertIn(message, errors.splitlines()[-1])

    @parameterized.parameters("inspect", "verify", "bench", "convert")
    def test_a_file_that_is_no_model_is_code_2(self, command):
        path = self.folder / "model.onnx"
        path.write_bytes(b"nothing")
        code, _, errors = run(command, path, *["out.keras"] * (command == "convert"))
        self.assertEqual(code, 2)
        self.assertStartsWith(errors, "tf-qops: Not an ONNX model")

    def test_operators_that_cannot_be_imported_are_code_2_and_listed(self):
        nodes = [graphs.node("Shout", ["x"], domain="com.microsoft")]
        onnx.save(graphs.model(nodes, {"x": ("float32", [2])}, microsoft=True),
                  self.folder / "m.onnx")  # fmt: skip
        code, _, errors = run("convert", self.folder / "m.onnx", self.folder / "m.keras")
        self.assertEqual(code, 2)
        self.assertIn("com.microsoft Shout", errors.replace(".Shout", " Shout"))
        self.assertEqual(self.files(), ["m.onnx"])

    def test_ctrl_c_is_code_130(self):
        with mock.patch.object(doctor, "examine", side_effect=KeyboardInterrupt):
            self.assertEqual(run("doctor"), (130, "", "tf-qops: interrupted\n"))

    def test_a_process_prints_the_result_and_nothing_else(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        done = subprocess.run(
            [sys.executable, "-m", "tf_qops", "inspect", DIGITS, "--json"],
            capture_output=True,
            text=True,
            env=environment,
            cwd=pathlib.Path(tfq.__file__).parents[1],
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["kind"], "ONNX")


class InspectTest(CommandTest):
    def test_table_json_and_page(self):
        code, output, errors = run("inspect", DIGITS, "--html", self.folder / "page.html")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("ONNX, quantized: QOperator", output)
        parsed(self.folder / "page.html")
        self.assertEqual(self.files(), ["page.html"])
        code, output, _ = run("inspect", DIGITS, "--json")
        self.assertEqual(json.loads(output)["quantization"], ["QOperator"])

    def test_strict_is_code_1_where_something_is_odd(self):
        constants = {"s": np.float32(0), "z": np.uint8(0)}
        nodes = [graphs.node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                 graphs.node("DequantizeLinear", ["q", "s", "z"])]  # fmt: skip
        path = self.folder / "m.onnx"
        onnx.save(graphs.model(nodes, {"x": ("float32", [2])}, constants=constants), path)
        code, output, _ = run("inspect", path, "--strict")
        self.assertEqual(code, 1)
        self.assertIn("q: 1 of 1 scales are 0", output)
        self.assertEqual(run("inspect", path)[0], 0)
        self.assertEqual(run("inspect", DIGITS, "--strict")[0], 0)


class ConvertTest(CommandTest):
    X = np.random.default_rng(1).uniform(size=(3, 1, 8, 8)).astype(np.float32)

    @parameterized.parameters("m.keras", "m")
    def test_what_is_written_gives_the_bits_of_the_import(self, name):
        code, output, errors = run("convert", DIGITS, self.folder / name)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("tf_qops.register()", output)
        self.assertIn("QLinearConv", output)
        path = self.folder / name
        loaded = keras.models.load_model(path) if path.suffix else tf.saved_model.load(path)
        call = loaded if path.suffix else loaded.serve
        np.testing.assert_array_equal(call(self.X), tfq.onnx.import_model(DIGITS)(self.X))
        self.assertEqual(self.files(), [name])

    def test_options_reach_the_importer(self):
        path = self.folder / "m.keras"
        code, output, _ = run(
            "convert", DIGITS, path, "--data-format", "channels_last", "--qdq", "keep", "--json"
        )
        self.assertEqual(code, 0)
        self.assertEmpty(json.loads(output)["report"]["fused"])
        self.assertEqual(keras.models.load_model(path).input_shape, (None, 8, 8, 1))

    def test_what_exists_is_replaced_only_on_demand_and_only_by_its_kind(self):
        path = self.folder / "m"
        run("convert", DIGITS, path)
        code, _, errors = run("convert", DIGITS, path)
        self.assertEqual(code, 2)
        self.assertIn("--overwrite", errors)
        self.assertEqual(run("convert", DIGITS, path, "--overwrite")[0], 0)
        (self.folder / "precious").mkdir()
        code, _, errors = run("convert", DIGITS, self.folder / "precious", "--overwrite")
        self.assertEqual(code, 2)
        self.assertIn("must be a SavedModel to be replaced", errors)
        self.assertEqual(self.files(), ["m", "precious"])

    @parameterized.parameters("m.keras", "m")
    def test_ctrl_c_leaves_nothing_behind_and_what_was_there(self, name):
        path = self.folder / name
        run("convert", DIGITS, path)

        def interrupted(model, filepath, **kwargs):
            pathlib.Path(filepath).write_bytes(b"half")
            raise KeyboardInterrupt

        with mock.patch.multiple(keras.Model, save=interrupted, export=interrupted):
            self.assertEqual(run("convert", DIGITS, path, "--overwrite")[0], 130)
        self.assertEqual(self.files(), [name])
        self.assertEqual(run("inspect", path)[0], 0)


class VerifyTest(CommandTest):
    def test_table_and_page(self):
        code, output, errors = run("verify", DIGITS, "--html", self.folder / "page.html")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("Nothing found; outputs within a distance of 0.05.", output)
        self.assertEqual(parsed(self.folder / "page.html").tags.count("svg"), 2)

    def test_given_inputs_and_json(self):
        np.savez(self.folder / "x.npz", image=np.zeros((5, 1, 8, 8), np.float32))
        code, output, _ = run(
            "verify", DIGITS, "--inputs", self.folder / "x.npz", "--json",
            "--against", "onnxruntime",
        )  # fmt: skip
        self.assertEqual(code, 0)
        content = json.loads(output)
        self.assertEqual(content["inputs"], {"image": "float32 [5, 1, 8, 8]"})
        self.assertEqual(
            {p["name"] for p in content["peers"]}, {"onnxruntime", "onnxruntime exact"}
        )

    def test_a_distance_beyond_the_threshold_is_code_1(self):
        model = tfq.onnx.import_model(DIGITS)
        model.get_layer("scores").kernel.assign(model.get_layer("scores").kernel * 1.5)
        model.save(self.folder / "m.keras")
        arguments = ("verify", DIGITS, "--model", self.folder / "m.keras")
        code, output, _ = run(*arguments, "--html", self.folder / "page.html")
        self.assertEqual(code, 1)
        self.assertIn("Found: output probabilities: distance", output)
        self.assertIn('<p class="bad">output', (self.folder / "page.html").read_text())
        self.assertEqual(run(*arguments, "--threshold", "10")[0], 0)


class BenchTest(CommandTest):
    def test_peers_are_timed_in_turn(self):
        code, output, _ = run("bench", DIGITS, "--seconds", "0.2", "--threads", threads(), "--json")
        self.assertEqual(code, 0)
        times = json.loads(output)["times"]
        self.assertContainsSubset({"tf_qops", "onnxruntime", "onnxruntime exact"}, times)
        self.assertLen({t["runs"] for t in times.values()}, 1)
        self.assertEqual(times["tf_qops"]["ratio"], 1)

    def test_the_threshold_is_code_1(self):
        arguments = ("bench", DIGITS, "--seconds", "0.1", "--threads", threads(), "--threshold")
        code, output, _ = run(*arguments, "0")
        self.assertEqual(code, 1)
        self.assertIn("Found: ours / onnxruntime is", output)
        self.assertEqual(run(*arguments, "1e9")[0], 0)


def threads():
    """What this process has, for it cannot be changed any more."""
    return tf.config.threading.get_intra_op_parallelism_threads() or 1


class DoctorTest(CommandTest):
    def test_a_sound_installation_is_code_0(self):
        code, output, _ = run("doctor", "--json")
        content = json.loads(output)
        self.assertEqual((code, content["problems"]), (0, []))
        self.assertEqual(content["build"]["library"], tfq.build_info()["library"])
        self.assertEqual(content["versions"]["onnx"], onnx.__version__)

    def test_a_second_copy_and_a_missing_package_are_told(self):
        copy = self.folder / "tf_qops" / "_tf_qops.so"
        copy.parent.mkdir()
        copy.touch()
        missing = dict(doctor._WANTED, nothing=("tests", "pip install nothing"))
        with (
            mock.patch.object(sys, "path", [*sys.path, str(self.folder)]),
            mock.patch.object(doctor, "_WANTED", missing),
        ):
            code, output, _ = run("doctor")
        self.assertEqual(code, 1)
        self.assertIn("Problem: several copies of tf_qops", output)
        self.assertIn("tests: pip install nothing", output)

    def test_a_library_that_cannot_be_loaded_is_told(self):
        with mock.patch.object(doctor, "build_info", side_effect=ImportError("it is missing")):
            code, output, _ = run("doctor")
        self.assertEqual(code, 1)
        self.assertIn("Problem: it is missing", output)


class WrittenWholeTest(CommandTest):
    def test_an_error_leaves_the_old_file(self):
        path = self.folder / "a.txt"
        path.write_text("old")
        with contextlib.suppress(KeyError), written_whole(path) as temporary:
            temporary.write_text("half")
            raise KeyError
        self.assertEqual((self.files(), path.read_text()), (["a.txt"], "old"))
        with written_whole(path) as temporary:
            temporary.write_text("new")
        self.assertEqual((self.files(), path.read_text()), (["a.txt"], "new"))


if __name__ == "__main__":
    absltest.main()
