"""What a command shows: results on the output, progress on the error stream."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tf_qops._progress import watched

_Item = TypeVar("_Item")


class Screen:
    """Prints tables, or JSON alone.

    Args:
        json: whether the only output is the JSON of the result.
    """

    def __init__(self, json: bool = False):
        self._json = json
        self._console = Console(soft_wrap=False)
        self._errors = Console(stderr=True)

    def result(self, content: object, as_json: str | Mapping[str, Any]) -> None:
        """Prints a result.

        Args:
            content: what rich prints.
            as_json: the same as JSON text, or as a dictionary.
        """
        if self._json:
            text = as_json if isinstance(as_json, str) else json.dumps(as_json, indent=2)
            print(text)
        else:
            self._console.print(content)

    def say(self, text: str) -> None:
        """Prints a sentence; nowhere if the output is JSON."""
        if not self._json:
            self._console.print(escape(text), soft_wrap=True, highlight=False)

    @contextlib.contextmanager
    def progress(self, description: str) -> Iterator[None]:
        """Shows how far loops inside the block are; the description where there is none."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(
            *columns,
            TimeElapsedColumn(),
            console=self._errors,
            transient=True,
            disable=not self._errors.is_terminal,
        ) as bars:
            waiting = bars.add_task(description, total=None)
            depth = 0

            def watch(items: Sequence[_Item], text: str) -> Iterable[_Item]:
                nonlocal depth
                if depth:
                    yield from items
                    return
                task = bars.add_task(text, total=len(items))
                bars.update(waiting, visible=False)
                depth += 1
                try:
                    for item in items:
                        yield item
                        bars.advance(task)
                finally:
                    depth -= 1
                    bars.remove_task(task)
                    bars.update(waiting, visible=True)

            with watched(watch):
                yield
