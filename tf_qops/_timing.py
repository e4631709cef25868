"""Times several ways to the same result in one process, in turn."""

from __future__ import annotations

import os
import pathlib
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_qops._library import build_info


def use_threads(count: int) -> None:
    """Limits TensorFlow to `count` intra-op threads; call it before any operator runs."""
    tf.config.threading.set_intra_op_parallelism_threads(count)
    tf.config.threading.set_inter_op_parallelism_threads(1)


class Rounds:
    """Runs things in turn, each round in another order, and keeps how long each took.

    Args:
        runners: name -> what is timed.
    """

    def __init__(self, runners: Mapping[str, Callable[[], Any]]):
        self._order = list(runners.items())
        self._times: dict[str, list[float]] = {name: [] for name in runners}
        for _, run in self._order:
            run(), run()

    def run(self, seconds: float, least: int = 1) -> None:
        """Runs rounds until the time is over, `least` of them at least."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or least > 0:
            least -= 1
            self._order = self._order[1:] + self._order[:1]
            for name, run in self._order:
                begin = time.perf_counter()
                run()
                self._times[name].append(1e3 * (time.perf_counter() - begin))

    def figures(self, against: str = "") -> dict[str, dict[str, float]]:
        """Returns `median_ms`, `min_ms` and `runs` for each runner.

        Args:
            against: a runner; each then also has `ratio`, the median over the rounds of its time
                to that of this one.
        """
        times = self._times
        return {
            name: {"median_ms": statistics.median(t), "min_ms": min(t), "runs": len(t)}
            | ({"ratio": _ratio(t, times[against])} if against else {})
            for name, t in times.items()
        }


def _ratio(times: list[float], others: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(times, others, strict=True))


def compare(
    runners: Mapping[str, Callable[[], Any]], seconds: float = 1.0
) -> dict[str, dict[str, float]]:
    """Returns the figures of `Rounds` that take some seconds, and at least five rounds."""
    rounds = Rounds(runners)
    rounds.run(seconds, least=5)
    return rounds.figures()


def machine() -> dict[str, Any]:
    """Describes what the figures hold for."""
    model = [
        line.split(":", 1)[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith(("model name", "Model"))
    ]
    built = build_info()
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return {
        "cpu": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "vnni": "avx512_vnni" in flags or "avx_vnni" in flags,
        **{key: built[key] for key in ("version", "tensorflow_installed", "instruction_set")},
        "date": time.strftime("%Y-%m-%d"),
    }
