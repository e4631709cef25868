"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator


@contextlib.contextmanager
def written_whole(target: str | os.PathLike[str]) -> Iterator[pathlib.Path]:
    """Gives a path to write a file or folder to, which takes the target's place at the end.

    If the block is left by an error or Ctrl-C, nothing is left behind and an older target stays.

    Args:
        target: a path, in a folder that exists.

    Raises:
        FileNotFoundError: the folder does not exist.
    """
    target = pathlib.Path(target)
    folder = target.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"The folder must exist. Received: {str(target)!r}")
    temporary = folder / f".{target.stem}.{os.getpid()}{target.suffix}"
    try:
        yield temporary
        if target.is_dir() and not target.is_symlink():
            old = temporary.with_name(f"{temporary.name}.old")
            target.rename(old)
            temporary.rename(target)
            shutil.rmtree(old)
        else:
            temporary.replace(target)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)
