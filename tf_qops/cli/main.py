"""Parses the command line, runs a command and turns errors into exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence

from tf_qops.cli.arguments import make_parser
from tf_qops.cli.quiet import load_tensorflow

OK, FINDING, WRONG_USE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `tf-qops`.

    Args:
        argv: the arguments; those of the process if None.

    Returns:
        0 if all is well, 1 if something was found (a difference, a threshold exceeded, a broken
        installation), 2 where arguments or files are not as they must be.
    """
    arguments = make_parser().parse_args(argv)
    try:
        from tf_qops.cli.screen import Screen
    except ModuleNotFoundError as error:
        return _refuse(f"{error}: pip install 'tf_qops[onnx]'")
    screen = Screen(json=arguments.json)
    try:
        load_tensorflow()
        command = importlib.import_module(f"tf_qops.cli.{arguments.command}")
        return command.run(arguments, screen)
    except KeyboardInterrupt:
        return _refuse("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:  # Whoever reads the output has enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (ImportError, OSError, ValueError) as error:
        return _refuse(str(error))


def _refuse(message: str, code: int = WRONG_USE) -> int:
    print(f"tf-qops: {message}", file=sys.stderr)
    return code
