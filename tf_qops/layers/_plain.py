"""A layer whose arguments are its configuration."""

from __future__ import annotations

import inspect
from typing import Any

from tf_qops.layers._base import OperatorLayer


class PlainLayer(OperatorLayer):
    """A layer without weights that keeps each argument as the attribute of its name."""

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        parameters = inspect.signature(type(self).__init__).parameters.values()
        names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        return super().get_config() | {name: getattr(self, name) for name in names[1:]}
