"""Resize and Upsample: scales are an attribute, an input, or follow from sizes."""

from __future__ import annotations

import math
from fractions import Fraction

from tf_qops import layers
from tf_qops.onnx.reader import Node
from tf_qops.onnx.registry import register_handler
from tf_qops.onnx.values import NodeCall, Value, channels_last_axis

_COORDINATES = {
    "align_corners",
    "asymmetric",
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
}
_POLICIES = {"not_larger": min, "not_smaller": max}


def _check(node: Node) -> str | None:
    if node.attribute("antialias", 0):
        return "its antialiasing is not supported"
    mode = node.attribute("coordinate_transformation_mode", "half_pixel")
    if mode not in _COORDINATES:
        return f"its coordinates {mode} are not supported"
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch" and policy not in _POLICIES:
        return f"its keep_aspect_ratio_policy {policy} is not known"
    return None


def _kept_ratio(policy: str, sizes: list[int | None], lengths: list[int | None]) -> list[int]:
    """Returns sizes with one factor for all axes, so that none is larger, or none smaller."""
    if None in sizes or None in lengths:
        raise ValueError(f"lengths must be known for {policy}. Received: {lengths} to {sizes}.")
    ratios = (Fraction(s, max(n, 1)) for s, n in zip(sizes, lengths, strict=True))
    factor = _POLICIES[policy](ratios)
    return [math.floor(factor * n + Fraction(1, 2)) for n in lengths]


def _resized(
    call: NodeCall,
    scales: list[float] | None,
    sizes: list[int | None] | None,
    coordinate_mode: str,
    nearest_mode: str,
) -> Value:
    shape = call.shape(0)
    axes = call.attribute("axes") or list(range(len(shape)))
    given = scales if sizes is None else sizes
    if given is None or len(given) != len(axes):
        raise ValueError(f"scales or sizes must be known, one per axis. Received: {given}.")
    policy = call.attribute("keep_aspect_ratio_policy", "stretch")
    if sizes is not None and policy != "stretch":
        given = sizes = _kept_ratio(policy, sizes, [shape[a] for a in axes])
    kept = []
    for i, (axis, value) in enumerate(zip(axes, given, strict=True)):
        # A length that is only known in a run can be an axis's own, as that of a batch is.
        if value is None and shape[axis] is not None:
            raise ValueError(f"sizes must be known. Received: {sizes} for {shape}.")
        if value is not None and (value != 1 if sizes is None else value != shape[axis]):
            kept.append(i)
    resized = [
        int((shape[a] or 1) * s) if sizes is None else s
        for a, s in zip(axes, given, strict=True)
        if s is not None
    ]
    call.bounded(resized)
    if not kept:
        return call.value(0)
    x, channels_last = call.either(0)
    places = [axes[i] % len(shape) for i in kept]
    layer = layers.Resize(
        [channels_last_axis(a, len(shape)) if channels_last else a for a in places],
        None if sizes is not None else [scales[i] for i in kept],
        None if sizes is None else [sizes[i] for i in kept],
        {"bilinear": "linear"}.get(call.attribute("mode"), call.attribute("mode")),
        coordinate_mode,
        nearest_mode,
        call.attribute("cubic_coeff_a", -0.75),
        bool(call.attribute("exclude_outside", 0)),
        **call.options(),
    )
    return call.output(layer(x), channels_last)


def _floats(call: NodeCall, index: int) -> list[float] | None:
    """Returns scales, None where they are left out or empty."""
    if not call.is_constant(index) or not call.constant(index).size:
        return None
    return [float(v) for v in call.constant(index)]


@register_handler("Resize", layout="any", since_version=11, check=_check)
def resize(call: NodeCall) -> Value:
    """Becomes a Resize layer along the axes that change."""
    sizes = call.known(3) if call.has_input(3) else None
    coordinate_mode = call.attribute("coordinate_transformation_mode")
    return _resized(call, _floats(call, 2), sizes, coordinate_mode, call.attribute("nearest_mode"))


@register_handler("Upsample", layout="any", since_version=9)
@register_handler("Resize", layout="any")
def resize_from_the_corner(call: NodeCall) -> Value:
    """Becomes a Resize layer whose first places coincide."""
    return _resized(call, _floats(call, 1), None, "asymmetric", "floor")


@register_handler("Upsample", layout="any")
def upsample(call: NodeCall) -> Value:
    """Takes scales from an attribute, as version 7 does."""
    return _resized(call, call.attribute("scales"), None, "asymmetric", "floor")
