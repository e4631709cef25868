"""Prepares pytest: the names that examples in docstrings use, absl's flags."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests compare with TensorFlow's own operators, which oneDNN replaces by others.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import pytest
import tensorflow as tf
from absl import flags

import tf_qops as tfq

flags.FLAGS.mark_as_parsed()  # absltest's create_tempdir reads one


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(np=np, tf=tf, tfq=tfq)
