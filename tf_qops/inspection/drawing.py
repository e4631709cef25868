"""Draws a graph as SVG."""

from __future__ import annotations

import collections
import dataclasses
import html
from collections.abc import Mapping, Sequence

from tf_qops.inspection.layout import layered

# Kind of node -> fill, border.
KINDS = {
    "input or output": ("#ffffff", "#5c6b78"),
    "integers": ("#cfe8d8", "#1a7f45"),
    "floats, fused to integers": ("#dcebf7", "#0072b2"),
    "floats": ("#fbe3d3", "#d55e00"),
    "between codes and floats": ("#fdf3c8", "#b58900"),
    "moves values": ("#eceff2", "#8a97a3"),
    "not imported": ("#f6c9c9", "#a61b1b"),
}
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 138, 26, 18, 22
# A row of the legend.
_LEGEND = 30


@dataclasses.dataclass(frozen=True)
class Box:
    """A node to draw.

    Attributes:
        label: in the box.
        kind: a key of `KINDS`.
        tooltip: more about it.
        reads: keys of the boxes that it reads from.
    """

    label: str
    kind: str
    tooltip: str
    reads: Sequence[str]


def draw(boxes: Mapping[str, Box]) -> str:
    """Returns an <svg> element.

    Args:
        boxes: key -> node, each behind those that it reads from.
    """
    edges = [(start, key) for key, box in boxes.items() for start in box.reads if start in boxes]
    layout = layered(list(boxes), edges)
    width = layout.columns * (_WIDTH + _GAP_X) + _GAP_X
    height = layout.layers * (_HEIGHT + _GAP_Y) + _GAP_Y

    def top_left(place: tuple[float, int]) -> tuple[float, float]:
        column, layer = place
        return _GAP_X + column * (_WIDTH + _GAP_X), _GAP_Y + layer * (_HEIGHT + _GAP_Y)

    lines = []
    for route in layout.routes.values():
        points = [top_left(place) for place in route]
        x, y = points[0][0] + _WIDTH / 2, points[0][1] + _HEIGHT
        path = f"M{x:.1f} {y:.1f}"
        for i, (left, top) in enumerate(points[1:], 1):
            end = left + _WIDTH / 2
            middle = (y + top) / 2
            path += f"C{x:.1f} {middle:.1f} {end:.1f} {middle:.1f} {end:.1f} {top:.1f}"
            x, y = end, top
            if i < len(points) - 1:
                y = top + _HEIGHT
                path += f"V{y:.1f}"
        lines.append(f'<path d="{path}"/>')
    parts = [f'<g fill="none" stroke="#9aa7b2" stroke-width="1.2">{"".join(lines)}</g>']
    for key, box in boxes.items():
        x, y = top_left(layout.places[key])
        parts.append(_box(box, x, y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui, sans-serif" '
        f'font-size="12">{"".join(parts)}</svg>'
    )


def _box(box: Box, x: float, y: float) -> str:
    fill, border = KINDS[box.kind]
    label = box.label if len(box.label) <= 20 else f"{box.label[:19]}…"
    return (
        f"<g><title>{html.escape(box.tooltip)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" '
        f'fill="{fill}" stroke="{border}"/>'
        f'<text x="{x + _WIDTH / 2:.1f}" y="{y + _HEIGHT / 2 + 4:.1f}" text-anchor="middle" '
        f'fill="#1c2733">{html.escape(label)}</text></g>'
    )


def legend(boxes: Mapping[str, Box]) -> str:
    """Returns an <svg> element that explains the colours that occur."""
    counts = collections.Counter(box.kind for box in boxes.values())
    used = [kind for kind in KINDS if counts[kind]]
    parts, x = [], 0
    for kind in used:
        fill, border = KINDS[kind]
        parts.append(
            f'<rect x="{x + 1}" y="8" width="18" height="13" rx="3" fill="{fill}" '
            f'stroke="{border}"/><text x="{x + 26}" y="19" fill="#1c2733">{kind}</text>'
        )
        x += 44 + 7 * len(kind)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{_LEGEND}" '
        f'font-family="system-ui, sans-serif" font-size="12">{"".join(parts)}</svg>'
    )
