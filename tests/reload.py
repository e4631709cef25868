"""Saves models in both of Keras's ways and runs them in one fresh process."""

import os
import pathlib
import subprocess
import sys

import numpy as np

import tf_qops as tfq

KINDS = ("keras", "savedmodel")

_RUN = """
import pathlib, sys
import keras, numpy as np, tensorflow as tf
import tf_qops as tfq
tfq.register()
for folder in map(pathlib.Path, sys.argv[1:]):
    x = np.load(folder / "x.npy")
    np.save(folder / "keras.npy", keras.models.load_model(folder / "model.keras")(x))
    loaded = tf.saved_model.load(folder / "model")
    np.save(folder / "savedmodel.npy", loaded.serve(x))
"""


def run(code, *arguments, **environment):
    """Runs Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=pathlib.Path(tfq.__file__).parents[1],
    )


def outputs(folder, models):
    """What saved models give in a fresh process.

    Args:
        folder: for the files: NAME/model.keras and the SavedModel NAME/model.
        models: name -> (model of one input and one output, its input).

    Returns:
        (name, kind) -> output.
    """
    folders = []
    for name, (model, x) in models.items():
        folders.append(pathlib.Path(folder) / name)
        folders[-1].mkdir()
        model.save(folders[-1] / "model.keras")
        model.export(folders[-1] / "model", verbose=False)
        np.save(folders[-1] / "x.npy", x)
    done = run(_RUN, *folders)
    assert done.returncode == 0, done.stderr[-2000:]
    return {(f.name, kind): np.load(f / f"{kind}.npy") for f in folders for kind in KINDS}
