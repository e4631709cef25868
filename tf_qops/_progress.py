"""Long loops that somebody may watch."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_Watcher = Callable[[Sequence[_Item], str], Iterable[_Item]]
_watcher: contextvars.ContextVar[_Watcher | None] = contextvars.ContextVar("watcher", default=None)


def steps(items: Sequence[_Item], description: str) -> Iterable[_Item]:
    """Returns the items of a long loop; whoever watches sees how far it is.

    >>> list(steps([1, 2], "Counting"))
    [1, 2]
    """
    watcher = _watcher.get()
    return items if watcher is None else watcher(items, description)


@contextlib.contextmanager
def watched(watcher: _Watcher) -> Iterator[None]:
    """Lets a function see the loops inside the block.

    Args:
        watcher: takes the items and the description, and yields the items.

    >>> with watched(lambda items, description: map(print, items)):
    ...     _ = list(steps(["a", "b"], "Spelling"))
    a
    b
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
