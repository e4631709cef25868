"""Names that Keras and SavedModel take, and the way back to the names of the file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")


def legal(name: str) -> str:
    """Returns a name that Keras, TensorFlow's scopes and SavedModel take.

    Example:

    >>> legal("serving_default_input:0"), legal("/layer/Conv"), legal("_x")
    ('serving_default_input_0', 'layer_Conv', 'x')
    """
    return _ILLEGAL.sub("_", name).lstrip("_.-") or "unnamed"


@dataclasses.dataclass(frozen=True)
class NameMap:
    """Two ways between the names of an ONNX file and those of the Keras model.

    Attributes:
        inputs: ONNX input -> Keras input.
        nodes: ONNX node -> the Keras layer that gives its (first) output.
        outputs: ONNX output -> the Keras layer that gives it.
    """

    inputs: dict[str, str] = dataclasses.field(default_factory=dict)
    nodes: dict[str, str] = dataclasses.field(default_factory=dict)
    outputs: dict[str, str] = dataclasses.field(default_factory=dict)

    def to_onnx(self, keras_name: str) -> str:
        """Returns the ONNX name of an input or node.

        Raises:
            KeyError: no layer of this name comes from the file.
        """
        for names in (self.inputs, self.nodes):
            for onnx_name, name in names.items():
                if name == keras_name:
                    return onnx_name
        raise KeyError(f"No layer comes from the ONNX file by this name. Received: {keras_name!r}")


class UniqueNames:
    """Gives out legal names, each once; those that are legal as they are keep themselves.

    Args:
        wanted: all names of the file, the most important first.

    Example:

    >>> names = UniqueNames(["a/b", "a_b"])
    >>> names.take("a/b"), names.take("a_b"), names.take("a_b")
    ('a_b_1', 'a_b', 'a_b_2')
    """

    def __init__(self, wanted: Sequence[str]):
        self._kept = {name for name in wanted if legal(name) == name}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Returns the name itself, or the nearest that is legal and still free."""
        base = legal(name)
        result = base
        while result in self._taken or (result in self._kept and result != name):
            self._next[base] = self._next.get(base, 0) + 1
            result = f"{base}_{self._next[base]}"
        self._taken.add(result)
        return result
