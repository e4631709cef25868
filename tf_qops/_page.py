"""Self-contained HTML pages: no script from elsewhere, no other file."""

from __future__ import annotations

import html
import io
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tf_qops._files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Distinct also for the colour-blind (Okabe and Ito).
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

# Cells of more characters may be broken anywhere.
_LONG = 24

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #f5f7f9; margin: 0; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; margin: 8px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 12px; }
section { background: white; border: 1px solid #dde3e8; border-radius: 8px; margin: 16px 0;
          padding: 18px 20px; }
p { margin: 6px 0; }
.scroll { overflow: auto; max-height: 640px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid #e8ecef;
         vertical-align: top; }
th { position: sticky; top: 0; background: white; font-weight: 600; color: #4a5a68;
     white-space: nowrap; }
td.long { overflow-wrap: anywhere; min-width: 160px; }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.bad td { color: #a61b1b; font-weight: 600; }
pre { background: #f5f7f9; border-radius: 6px; padding: 10px 12px; overflow: auto;
      white-space: pre-wrap; }
svg { max-width: 100%; height: auto; }
.graph svg { max-width: none; display: block; margin: 0 auto; }
.muted { color: #5c6b78; }
.good { color: #1a7f45; font-weight: 600; }
.bad { color: #a61b1b; font-weight: 600; }
"""


def new_figure(height: float, width: float = 11.0) -> Figure:
    """Returns an empty figure, sizes in inches.

    Raises:
        ImportError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ImportError("tf_qops: pages need matplotlib: pip install 'tf_qops[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure, name: str) -> str:
    """Returns a figure as an <svg> element; `name` makes its ids unique in the page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="', f'id="{name}-', text)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], bad: Iterable[int] = ()) -> str:
    """Returns a table; texts are escaped.

    Args:
        headers: of the columns; those that start with ">" are aligned to the right.
        rows: of cells.
        bad: indices of rows that stand out.
    """
    marked = set(bad)
    right = [header.startswith(">") for header in headers]

    def cell(tag: str, value: object, number: bool) -> str:
        long = ' class="long"' if len(str(value)) > _LONG else ""
        kind = ' class="number"' if number else long
        return f"<{tag}{kind}>{html.escape(str(value))}</{tag}>"

    head = "".join(cell("th", h.lstrip(">"), r) for h, r in zip(headers, right, strict=True))
    lines = []
    for i, row in enumerate(rows):
        cells = "".join(cell("td", v, r) for v, r in zip(row, right, strict=True))
        lines.append(f'<tr class="bad">{cells}</tr>' if i in marked else f"<tr>{cells}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def paragraph(text: str, kind: str = "") -> str:
    """Returns a paragraph of escaped text; kind is "muted", "good" or "bad"."""
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{html.escape(text)}</p>"


def section(title: str, *parts: str) -> str:
    """Returns a part of a page, of a title and pieces of HTML."""
    return f"<section><h2>{html.escape(title)}</h2>\n{''.join(parts)}</section>\n"


def write(path: str | os.PathLike[str], title: str, subtitle: str, sections: Iterable[str]) -> None:
    """Writes a page, whole or not at all."""
    text = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body><main>"
        f"<h1>{html.escape(title)}</h1>\n{paragraph(subtitle, 'muted')}\n"
        f"{''.join(sections)}</main></body></html>\n"
    )
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
