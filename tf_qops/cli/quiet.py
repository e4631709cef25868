"""Imports TensorFlow without its notices."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator


def load_tensorflow() -> None:
    """Imports TensorFlow; what it logs below an error is not shown."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if "tensorflow" not in sys.modules:
        with _native_errors_hidden():
            import tensorflow  # noqa: F401
    from absl import logging as absl_logging

    absl_logging.set_verbosity(absl_logging.ERROR)
    logging.getLogger("tensorflow").setLevel(logging.ERROR)


@contextlib.contextmanager
def _native_errors_hidden() -> Iterator[None]:
    """Hides what C++ writes to the error stream: oneDNN's notice heeds no variable."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
