"""The arguments of `tf-qops`."""

from __future__ import annotations

import argparse

from tf_qops import __version__

_EXIT_CODES = """exit codes:
  0  all is well
  1  something was found: a difference, a threshold exceeded, a broken installation
  2  arguments or files are not as they must be
"""


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="tf-qops",
        description="Quantized models inside TensorFlow: look at them, convert, verify, time.",
        epilog=_epilog(
            "tf-qops inspect model.onnx",
            "tf-qops convert model.onnx model.keras",
            "tf-qops verify model.onnx --html verify.html",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tf_qops {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_inspect, _convert, _verify, _bench, _doctor):
        add(commands)
    return parser


def _epilog(*examples: str) -> str:
    lines = "\n".join(f"  {example}" for example in examples)
    return f"examples:\n{lines}\n\n{_EXIT_CODES}"


def _command(
    commands: argparse._SubParsersAction, name: str, text: str, *examples: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=_epilog(*examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    return parser


def _inspect(commands: argparse._SubParsersAction) -> None:
    parser = _command(
        commands,
        "inspect",
        "show what a model holds and what is odd about its scales",
        "tf-qops inspect model.onnx",
        "tf-qops inspect model.onnx --html model.html",
        "tf-qops inspect model.keras --json",
        "tf-qops inspect model.onnx --strict   # exit code 1 if anything is odd",
    )
    parser.add_argument("model", metavar="MODEL", help="ONNX file, .keras file or SavedModel")
    parser.add_argument("--html", metavar="FILE", help="write a page: graph, histograms, tables")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if anything is odd")


def _convert(commands: argparse._SubParsersAction) -> None:
    parser = _command(
        commands,
        "convert",
        "make a Keras model or SavedModel of an ONNX file",
        "tf-qops convert model.onnx model.keras",
        "tf-qops convert model.onnx saved_model --data-format channels_last",
    )
    parser.add_argument("model", metavar="MODEL", help="ONNX file")
    parser.add_argument(
        "output", metavar="OUT", help="a file that ends in .keras, or the folder of a SavedModel"
    )
    parser.add_argument(
        "--data-format",
        choices=("channels_first", "channels_last"),
        default="channels_first",
        help="order of the dimensions of images (default: as in the file, channels_first)",
    )
    parser.add_argument(
        "--qdq",
        choices=("fuse", "keep"),
        default="fuse",
        help="integers between Q/DQ pairs, or floats as the file has it (default: fuse)",
    )
    parser.add_argument(
        "--trainable", action="store_true", help="fake-quantize layers, to fine-tune"
    )
    parser.add_argument(
        "--portable",
        action="store_true",
        help="a SavedModel of stock TensorFlow operators only, of the same bits, but slower",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace OUT if it exists")


def _verify(commands: argparse._SubParsersAction) -> None:
    parser = _command(
        commands,
        "verify",
        "compare an ONNX file's import with other runtimes, tensor by tensor",
        "tf-qops verify model.onnx",
        "tf-qops verify model.onnx --inputs inputs.npz --threshold 0.001",
        "tf-qops verify model.onnx --model model.keras --html verify.html",
    )
    parser.add_argument("model", metavar="MODEL", help="ONNX file")
    parser.add_argument(
        "--model",
        dest="converted",
        metavar="FILE",
        help=".keras file or SavedModel whose outputs are compared, instead of a new import",
    )
    parser.add_argument("--inputs", metavar="FILE", help=".npz file of inputs by name")
    parser.add_argument(
        "--against",
        nargs="+",
        choices=("onnxruntime", "reference"),
        default=["onnxruntime", "reference"],
        help="peers (default: both)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.05,
        metavar="X",
        help="largest distance of an output, |ours - theirs| / |theirs| (default: %(default)s)",
    )
    parser.add_argument("--html", metavar="FILE", help="write a page: errors along the network")


def _bench(commands: argparse._SubParsersAction) -> None:
    parser = _command(
        commands,
        "bench",
        "time a model beside the other runtimes that are installed",
        "tf-qops bench model.onnx",
        "tf-qops bench model.onnx --threads 1 --seconds 20",
        "tf-qops bench model.onnx --threshold 1.0   # exit code 1 if a peer is faster",
    )
    parser.add_argument("model", metavar="MODEL", help="ONNX file")
    parser.add_argument("--inputs", metavar="FILE", help=".npz file of inputs by name")
    parser.add_argument("--threads", type=int, default=1, help="for each runtime (default: 1)")
    parser.add_argument("--seconds", type=float, default=5, help="in all (default: 5)")
    parser.add_argument(
        "--threshold", type=float, metavar="X", help="exit code 1 if ours / theirs exceeds it"
    )


def _doctor(commands: argparse._SubParsersAction) -> None:
    _command(
        commands,
        "doctor",
        "show what is installed, what is missing and how to get it",
        "tf-qops doctor",
        "tf-qops doctor --json",
    )
