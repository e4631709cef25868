"""SavedModels of earlier versions load and give the same values."""

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.saved_graphs import graph

VERSIONS = sorted(p.parent.name for p in pathlib.Path(__file__).parent.glob("*/saved_model.pb"))


class SavedGraphsTest(parameterized.TestCase):
    @parameterized.parameters(VERSIONS)
    def test_gives_the_values_of_the_specification(self, version):
        tfq.register()
        loaded = tf.saved_model.load(pathlib.Path(__file__).parent / version)
        got = loaded(tf.constant(graph.X))
        for name, want in graph.expected().items():
            np.testing.assert_array_equal(got[name].numpy(), want, name)

    def test_there_is_one(self):
        self.assertIn("2026-12", VERSIONS)


if __name__ == "__main__":
    absltest.main()
