"""docs/command_line.md shows what the commands print.

python tests/cli/test_document.py --write puts in what they print now.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import pytest
from absl.testing import absltest

from tests.onnx import graphs

ROOT = pathlib.Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "command_line.md"
WIDTH = "100"
BLOCK = re.compile(r"```console\n\$ tf-qops (.*)\n([\s\S]*?)```")
# What depends on the machine, and what stands for it in the comparison.
MASKS = (
    (r"[\d.]+ ms", "# ms"),
    (r"# ms *│ *\d+ *│ *[\d.]+", "# ms │ # │ #"),
    (r"(?m)^.*\d cores, .*$", "MACHINE"),
    (r"\d+(\.\d+){1,3}\S*", "#"),
    (r"\d\.?\d*e-\d+", "#"),
    (r"-?\d+ dB|∞", "# dB"),
    (r"[\d,]+ of [\d,]+", "# of #"),
    (r"\(\d+ kB\)", "(# kB)"),
    (r"(?m)^(│ reference +│ [a-z ]+│) \d+", r"\1 #"),
    (r"(?m)^(  |float order: |tie: ).*\n", ""),
    (r"(?m)^│ (openvino|tensorflow(-cpu)?|library|xla library|instruction sets?|compiler|"
     r"architecture|xla) .*\n", ""),
    (r"(?m)^Left out: openvino.*\n", ""),
    (r"(?m)^.*(Not installed|used by, how to get it).*\n", ""),
    (r"[ ━─┃│┏┓┗┛┡┩└┘╇┳┴╈┼├┤]+", " "),
    (r"\n\s*", "\n"),
)  # fmt: skip


def printed(command, folder):
    """What a command prints in a folder that has the network of the examples."""
    shutil.copy(graphs.DIGITS, folder)
    done = subprocess.run(
        [sys.executable, "-m", "tf_qops", *shlex.split(command)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"COLUMNS": WIDTH, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def masked(text):
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.slow
class DocumentTest(absltest.TestCase):
    maxDiff = None

    def test_the_commands_print_what_the_document_shows(self):
        blocks = BLOCK.findall(DOCUMENT.read_text(encoding="utf-8"))
        self.assertLen(blocks, 5)
        for command, shown in blocks:
            with self.subTest(command):
                got = printed(command, self.create_tempdir().full_path)
                self.assertEqual(masked(got), masked(shown))
                self.assertGreater(len(masked(shown)), 100)


def write():
    def block(match):
        with tempfile.TemporaryDirectory() as folder:
            output = printed(match[1], folder)
        # Paths of this machine, in a table whose columns stay.
        fill = " " * (len(str(ROOT)) - 1)
        output = re.sub(rf"{re.escape(str(ROOT))}(\S+ *)", rf"…\1{fill}", output)
        return f"```console\n$ tf-qops {match[1]}\n{output}```"

    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(BLOCK.sub(block, text), encoding="utf-8")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        absltest.main()
