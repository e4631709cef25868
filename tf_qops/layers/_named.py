"""Operator layers whose operands and attributes are arguments of their own."""

from __future__ import annotations

from typing import Any

from tf_qops.layers.operator import Operator


class NamedOperator(Operator):
    """An `Operator` whose subclass names each operand and attribute as an argument."""

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        config = super().get_config()
        operands, attributes = config.pop("constants"), config.pop("attributes")
        del config["inputs"]
        return config | operands | attributes
