"""What became of a float operator."""

from __future__ import annotations

import dataclasses

from tf_qops.onnx.reader import Node

MICROSOFT = "com.microsoft"


class NotFusedError(Exception):
    """An operator stays float; the message says why."""


@dataclasses.dataclass(frozen=True, eq=False)
class Fused:
    """Operators that an integer one replaces.

    Attributes:
        into: its type.
        nodes: the float operator first.
    """

    into: str
    nodes: tuple[Node, ...]
