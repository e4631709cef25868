"""`tf-qops bench`."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import tensorflow as tf
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from tf_qops import _timing
from tf_qops._progress import steps
from tf_qops.cli.main import FINDING, OK
from tf_qops.cli.screen import Screen
from tf_qops.onnx import import_model
from tf_qops.onnx.reader import Graph, read
from tf_qops.verification.feeds import feeds_for
from tf_qops.verification.peers import EXACT, session

OURS = "tf_qops"
_ROUNDS = 10  # So that a progress bar moves.


@dataclasses.dataclass(frozen=True)
class Timing:
    """How long a model takes.

    Attributes:
        machine: what the figures hold for.
        threads: of each runtime.
        inputs: name -> dtype and shape, as text.
        times: runner -> `median_ms`, `min_ms`, `runs`, and `ratio`, its median time to ours.
        left_out: peer -> why.
    """

    machine: Mapping[str, Any]
    threads: int
    inputs: Mapping[str, str]
    times: Mapping[str, Mapping[str, float]]
    left_out: Mapping[str, str]

    def __rich__(self) -> object:
        """Returns the table that rich prints."""
        table = Table(
            "runtime", "median", "fastest", "runs", "time / ours", title="Interleaved runs"
        )
        for name, t in self.times.items():
            table.add_row(
                name, f"{t['median_ms']:.3g} ms", f"{t['min_ms']:.3g} ms", f"{t['runs']:.0f}",
                f"{t['ratio']:.2f}",
            )  # fmt: skip
        m = self.machine
        inputs = ", ".join(f"{name} {spec}" for name, spec in self.inputs.items())
        lines = [
            f"Inputs: {inputs}",
            f"{m['cpu']}, {m['cores']} cores, {self.threads} thread(s), "
            f"{m['instruction_set']}, TensorFlow {m['tensorflow_installed']}",
            *(f"Left out: {name}: {reason}" for name, reason in self.left_out.items()),
        ]
        return Group(table, *map(escape, lines))


def run(arguments: argparse.Namespace, screen: Screen) -> int:
    """Times a model; returns the exit code."""
    for name in ("threads", "seconds"):
        if not getattr(arguments, name) > 0:
            raise ValueError(f"--{name} must be positive. Received: {getattr(arguments, name)}")
    _use_threads(arguments.threads)
    graph = read(arguments.model)
    feeds = feeds_for(onnx.load(arguments.model, load_external_data=False), graph, arguments.inputs)
    with screen.progress("Importing"):
        runners = {OURS: _ours(arguments.model, graph, feeds)}
        left_out = {}
        for name, make in _PEERS.items():
            try:
                runners[name] = make(arguments.model, feeds, arguments.threads)
            except Exception as error:  # Each runtime has its own kinds.
                left_out[name] = " ".join(str(error).split())[:200]
        times = _timed(runners, arguments.seconds)
    timing = Timing(
        machine=_timing.machine(),
        threads=arguments.threads,
        inputs={name: f"{array.dtype} {list(array.shape)}" for name, array in feeds.items()},
        times=times,
        left_out=left_out,
    )
    screen.result(timing, json.dumps(dataclasses.asdict(timing), indent=2))
    slower = [
        name
        for name, t in times.items()
        if arguments.threshold is not None and 1 / t["ratio"] > arguments.threshold
    ]
    slower = [name for name in slower if name != OURS]
    for name in slower:
        ratio = 1 / times[name]["ratio"]
        screen.say(f"Found: ours / {name} is {ratio:.2f}, more than {arguments.threshold:g}")
    return FINDING if slower else OK


def _use_threads(count: int) -> None:
    try:
        _timing.use_threads(count)
    except RuntimeError as error:  # Operators have run in this process.
        if tf.config.threading.get_intra_op_parallelism_threads() != count:
            raise ValueError(
                f"--threads must be set before TensorFlow computes. Received: {count}"
            ) from error


def _timed(runners: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, dict[str, float]]:
    """Returns the figures of interleaved runs."""
    rounds = _timing.Rounds(runners)
    for _ in steps(range(_ROUNDS), "Timing"):
        rounds.run(seconds / _ROUNDS)
    return rounds.figures(against=OURS)


def _ours(path: str, graph: Graph, feeds: Mapping[str, np.ndarray]) -> Callable[[], Any]:
    model = import_model(path)
    call = tf.function(lambda *tensors: model(list(tensors) if len(tensors) > 1 else tensors[0]))
    tensors = [tf.constant(feeds[info.name]) for info in graph.inputs]
    return lambda: [np.asarray(tensor) for tensor in tf.nest.flatten(call(*tensors))]


def _onnxruntime(config: Mapping[str, str]) -> Callable[..., Callable[[], Any]]:
    def make(path: str, feeds: Mapping[str, np.ndarray], threads: int) -> Callable[[], Any]:
        # An idle peer must not hold a core.
        opened = session(path, {**config, "session.force_spinning_stop": "1"}, threads)
        return lambda: opened.run(None, dict(feeds))

    return make


def _openvino(path: str, feeds: Mapping[str, np.ndarray], threads: int) -> Callable[[], Any]:
    if importlib.util.find_spec("openvino") is None:
        raise ModuleNotFoundError("not installed: pip install openvino")
    import openvino

    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    request = core.compile_model(core.read_model(path), "CPU", settings).create_infer_request()
    return lambda: request.infer(list(feeds.values()))


_PEERS = {
    "onnxruntime": _onnxruntime({}),
    "onnxruntime exact": _onnxruntime(EXACT),
    "openvino": _openvino,
}
