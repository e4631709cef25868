"""Every example runs and prints what it promises."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest
from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parents[2]


def run(example, *arguments):
    """Runs an example as a user would, and returns what it prints."""
    done = subprocess.run(
        [sys.executable, _ROOT / "examples" / example, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "120", "PYTHONPATH": str(_ROOT)},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


class ExamplesTest(absltest.TestCase):
    def test_digits(self):
        with tempfile.TemporaryDirectory() as folder:
            text = run("01_digits.py", "--output", folder)
            picture = pathlib.Path(folder) / "digits.png"
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        accuracy = float(re.search(r"450 held-out digits: ([\d.]+)%", text)[1])
        self.assertGreaterEqual(accuracy, 97)
        self.assertIn("Integer values that differ: 0\n", text)
        self.assertLess(float(re.search(r"difference of a probability: (\S+)", text)[1]), 1e-5)
        for way in ("Keras", "tf.function", "SavedModel"):
            self.assertRegex(text, rf"{re.escape(way)} +│ {accuracy:.2f}% +│ yes")

    def test_layers(self):
        text = run("02_layers.py")
        # A step from 0 to 1 is 4 = 128 codes, one more than int8 holds; a step down is -128.
        self.assertIn("[0.0, 3.96875, 3.96875, 0.0, 0.0, -4.0, -4.0, 0.0]", text)
        self.assertIn("same bits: yes", text)

    def test_tf_function(self):
        self.assertRegex(run("03_tf_function.py"), r"(?m)^([35]|4) of \1 right")

    def test_load_weights(self):
        text = run("04_load_weights.py")
        self.assertIn("Assigned: 8 weights", text)
        self.assertNotIn("Left", text)
        self.assertGreaterEqual(float(re.search(r"Same prediction: ([\d.]+)%", text)[1]), 99)
        for name in ("Keras", "quantized"):
            self.assertGreaterEqual(float(re.search(rf"{name} network: ([\d.]+)%", text)[1]), 97)

    @pytest.mark.slow
    def test_text_is_read_right_and_convolutions_are_exact(self):
        with tempfile.TemporaryDirectory() as folder:
            text = run("05_read_text.py", "--output", folder)
            picture = pathlib.Path(folder) / "text.png"
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("Read: Invoice 4711: 36.90 EUR\n", text)
        self.assertIn("Read: upside down in the scanner\n", text)
        self.assertIn("Text read right: yes\n", text)
        self.assertIn("Integers that differ from the exact setting: 0\n", text)
        exact, ours = re.search(
            r"all pairs, exact: code (\d+); TensorFlow has (\d+)", text
        ).groups()
        self.assertEqual(exact, ours)
        saturated = re.search(r"all pairs, saturating: code (\d+) \(emulated", text)[1]
        self.assertNotEqual(saturated, exact)

    @pytest.mark.slow
    def test_file_types_are_those_of_the_float_network(self):
        text = run("06_file_type.py")
        agreement = float(re.search(r"float network for \d+ files: ([\d.]+)%", text)[1])
        self.assertGreaterEqual(agreement, 97)
        self.assertIn("Integer layers: 4, 100.0% of the products", text)

    @pytest.mark.slow
    def test_faces_are_found_where_the_float_network_finds_them(self):
        text = run("07_faces.py")
        self.assertIn("Face found as by the float network: 100.0%", text)
        self.assertGreaterEqual(float(re.search(r"overlap with its boxes: (\S+)", text)[1]), 0.9)

    @pytest.mark.slow
    def test_the_keyword_is_heard_as_by_the_float_network(self):
        text = run("08_keyword.py")
        alike = float(re.search(r"Same decision as the float network: ([\d.]+)%", text)[1])
        self.assertGreaterEqual(alike, 90)
        means = re.search(r"hey jarvis +│ ([\d.]+) +│ ([\d.]+)", text).groups()
        self.assertGreater(min(map(float, means)), 0.5)

    @pytest.mark.slow
    def test_the_digits_network_can_be_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            text = run("models/make_digits.py", "--output", f"{folder}/digits.onnx")
            self.assertLess(pathlib.Path(folder, "digits.onnx").stat().st_size, 100_000)
        for kind in ("float", "quantized"):
            self.assertGreaterEqual(float(re.search(rf"{kind}: ([\d.]+)% of", text)[1]), 97)


if __name__ == "__main__":
    absltest.main()
