"""The handwritten digits that the example network learns from, and those it never sees.

scikit-learn ships 1797 real digits of 8 x 8 pixels: UCI's "Optical Recognition of Handwritten
Digits".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Digits(NamedTuple):
    """Images [n, 1, 8, 8] float32 in [0, 1] (ONNX's layout) and their labels [n]."""

    images: np.ndarray
    labels: np.ndarray


def load_split() -> tuple[Digits, Digits]:
    """Returns (1347 digits to train and calibrate with, 450 held out), the same split every time.

    Example:

    >>> train, held_out = load_split()
    >>> train.images.shape, held_out.images.shape
    ((1347, 1, 8, 8), (450, 1, 8, 8))
    """
    digits = load_digits()
    images = (digits.images[:, np.newaxis] / 16.0).astype(np.float32)
    parts = train_test_split(
        images, digits.target, test_size=450, random_state=0, stratify=digits.target
    )
    return Digits(parts[0], parts[2]), Digits(parts[1], parts[3])
