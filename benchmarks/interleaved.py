"""Times several ways to the same result in one process, in turn, and keeps the result as JSON."""

import json
import os
import pathlib
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tf_qops as tfq

RESULTS = pathlib.Path(__file__).parent / "results"


def use_threads(count: int) -> None:
    """Limits TensorFlow to `count` intra-op threads; call it before any operator runs."""
    tf.config.threading.set_intra_op_parallelism_threads(count)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def compare(
    runners: dict[str, Callable[[], Any]], seconds: float = 1.0
) -> dict[str, dict[str, float]]:
    """Runs the runners in turn, each round in another order.

    Returns:
      For each runner `median_ms`, `min_ms` and `runs`.
    """
    times: dict[str, list[float]] = {name: [] for name in runners}
    order = list(runners.items())
    for _, run in order:
        run(), run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[order[0][0]]) < 5:
        order = order[1:] + order[:1]
        for name, run in order:
            begin = time.perf_counter()
            run()
            times[name].append(1e3 * (time.perf_counter() - begin))
    return {
        name: {"median_ms": statistics.median(t), "min_ms": min(t), "runs": len(t)}
        for name, t in times.items()
    }


def in_one_graph(
    function: Callable[[tf.Tensor], tf.Tensor], inputs: Sequence[tf.Tensor]
) -> Callable[[], tf.Tensor]:
    """Returns what applies a function to all inputs within one call of a tf.function.

    Such a call costs 0.2 ms by itself, and more for each tensor that Python gives or gets: the
    inputs are captured, and one element of each result is returned (without which TensorFlow
    would leave the operators out).
    """
    captured = list(inputs)

    @tf.function
    def run() -> tf.Tensor:
        results = [function(tensor) for tensor in captured]
        return tf.stack([result[(0,) * result.shape.rank] for result in results])

    return run


def run_all(session: Any, inputs: Iterable[Any]) -> list[Any]:
    """Runs a session of ONNX Runtime, of one input, on each of the inputs."""
    name = session.get_inputs()[0].name
    return [session.run(None, {name: value}) for value in inputs]


def machine() -> dict[str, Any]:
    """Describes what the figures hold for."""
    model = [
        line.split(":", 1)[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith(("model name", "Model"))
    ]
    built = tfq.build_info()
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return {
        "cpu": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "vnni": "avx512_vnni" in flags or "avx_vnni" in flags,
        **{key: built[key] for key in ("version", "tensorflow_installed", "instruction_set")},
        "date": time.strftime("%Y-%m-%d"),
    }


def report(name: str, rows: Iterable[dict[str, Any]], columns: dict[str, str], total: int) -> None:
    """Shows rows as they come and writes them, with the machine, to `results/<name>.json`.

    Args:
      name: Of the benchmark.
      rows: One dictionary each.
      columns: Key in a row to heading.
      total: How many rows will come.
    """
    console = Console()
    table = Table(*columns.values(), title=name)
    kept = []
    for row in track(rows, description=name, total=total, console=console):
        kept.append(row)
        table.add_row(
            *(f"{row[k]:.3g}" if isinstance(row[k], float) else str(row[k]) for k in columns)
        )
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    content = {"machine": machine(), "rows": kept}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
