"""Prepares pytest: the names that examples in docstrings use, absl's flags, levels of logs."""

import logging
import os
from collections.abc import Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests compare with TensorFlow's own operators, which oneDNN replaces by others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import pytest
import tensorflow as tf
from absl import flags
from absl import logging as absl_logging

import tf_qops as tfq

flags.FLAGS.mark_as_parsed()  # absltest's create_tempdir reads one


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(np=np, tf=tf, tfq=tfq)


@pytest.fixture(autouse=True)
def _levels_of_logs() -> Iterator[None]:
    """Programs run within a test make their process quiet; the next test may expect a warning."""
    loggers = logging.getLogger(), logging.getLogger("tensorflow"), absl_logging.get_absl_logger()
    verbosity, levels = absl_logging.get_verbosity(), [logger.level for logger in loggers]
    yield
    absl_logging.set_verbosity(verbosity)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
