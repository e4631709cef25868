"""Refuses an environment in which the layers cannot work, before any of them is defined."""

import os

_WANTED = "tf_qops.layers needs Keras 3 on TensorFlow"

try:
    import keras
except ImportError as error:  # also for a backend that is chosen but not installed
    raise ImportError(
        f"{_WANTED}: {error}. Received: KERAS_BACKEND={os.environ.get('KERAS_BACKEND')}"
    ) from error


def _check() -> None:
    if not keras.__version__.startswith("3."):
        raise ImportError(f"{_WANTED}: install keras>=3. Received: keras {keras.__version__}")
    if keras.config.backend() != "tensorflow":
        raise ImportError(
            f"{_WANTED}: set KERAS_BACKEND=tensorflow before Keras is imported. "
            f"Received: backend {keras.config.backend()}"
        )
    legacy = os.environ.get("TF_USE_LEGACY_KERAS", "")
    if legacy.lower() in ("1", "true"):
        raise ImportError(f"{_WANTED}: unset it. Received: TF_USE_LEGACY_KERAS={legacy}")


_check()
