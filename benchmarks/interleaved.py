"""What the benchmarks share: runs in one graph, tables, results kept as JSON."""

import json
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf
from rich.console import Console
from rich.progress import track
from rich.table import Table

from tf_qops._timing import compare, machine, use_threads

__all__ = ["RESULTS", "compare", "in_one_graph", "report", "run_all", "use_threads"]

RESULTS = pathlib.Path(__file__).parent / "results"


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
