"""A verification as one HTML page."""

from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Sequence

import numpy as np

from tf_qops import _page
from tf_qops.verification.report import MEANINGS, Comparison, Verdict, VerifyReport

_HIGHEST_DB = 160.0


def write_page(
    report: VerifyReport, path: str | os.PathLike[str], threshold: float = np.inf
) -> None:
    """Writes a page with the errors along the network, signal to noise, verdicts and proofs.

    Args:
        report: what was found.
        path: of the page.
        threshold: as in `VerifyReport.findings`.

    Raises:
        ImportError: matplotlib is missing.
    """
    findings = report.findings(threshold)
    made = "made up with a fixed seed" if report.made_up else "given"
    inputs = ", ".join(f"{name} {spec}" for name, spec in report.inputs.items())
    if findings:
        summary = [_page.paragraph(text, "bad") for text in findings]
    else:
        summary = [_page.paragraph("Nothing found: every difference is explained.", "good")]
    peers = _page.table(
        ("peer", "version", "left out"),
        [(p.name, p.version or "not installed", p.left_out or "nothing") for p in report.peers],
    )
    sections = [
        _page.section("Result", *summary, _page.paragraph(f"Inputs, {made}: {inputs}"), peers),
        _page.section("Outputs, end to end", _outputs(report)),
        _page.section(
            "Error along the network",
            _page.paragraph(
                "Tensors of integers, in steps of their codes. Lines: each runtime fed by itself, "
                "so that differences carry on. Dots: each node of ours fed with the peer's "
                "inputs, so that only its own difference shows.",
                "muted",
            ),
            _page.svg(_error_figure(report), "error"),
        ),
        _page.section(
            "Signal-to-noise ratio",
            _page.paragraph(
                "Each runtime fed by itself. Tensors without any difference stand at the top.",
                "muted",
            ),
            _page.svg(_signal_figure(report), "signal"),
        ),
        _page.section("Verdicts, each node fed with the peer's inputs", _verdicts(report)),
        *_proofs(report),
        _page.section("All tensors", _tensors(report)),
    ]
    _page.write(path, f"{pathlib.Path(report.path).name}: verified", report.path, sections)


def _outputs(report: VerifyReport) -> str:
    return _page.table(
        ("output", "peer", ">different", ">largest", ">distance", ">signal to noise"),
        [
            (
                c.tensor, c.peer, f"{c.different:,} of {c.values:,}", c.largest_text,
                f"{c.distance:.1e}", c.snr_text,
            )
            for c in report.outputs
        ],
    )  # fmt: skip


def _series(report: VerifyReport, entries: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    """Returns the comparisons by peer; peers with the same figures share a name."""
    by_peer = {p.name: [c for c in entries if c.peer == p.name] for p in report.peers}
    merged: dict[tuple, list[str]] = {}
    for name, found in by_peer.items():
        key = tuple((c.tensor, c.different, c.largest, c.snr_db) for c in found)
        if found:
            merged.setdefault(key, []).append(name)
    return {", ".join(names): by_peer[names[0]] for names in merged.values()}


def _order(report: VerifyReport) -> dict[str, int]:
    names = dict.fromkeys(c.tensor for c in (*report.network, *report.nodes))
    return {name: i for i, name in enumerate(names)}


def _error_figure(report: VerifyReport):
    figure = _page.new_figure(3.8)
    axes = figure.subplots()
    order = _order(report)
    peak = 1.0
    for i, (name, found) in enumerate(_series(report, report.network).items()):
        codes = [c for c in found if c.in_steps and np.isfinite(c.largest)]
        xs = [order[c.tensor] for c in codes]
        peak = max([peak, *(c.largest for c in codes)])
        color = _page.COLORS[i % len(_page.COLORS)]
        axes.plot(xs, [c.largest for c in codes], color=color, label=f"{name}: largest")
        axes.plot(xs, [c.mean for c in codes], "--", color=color, lw=1, label=f"{name}: mean")
    for i, (name, found) in enumerate(_series(report, report.nodes).items()):
        codes = [c for c in found if c.in_steps and np.isfinite(c.largest)]
        peak = max([peak, *(c.largest for c in codes)])
        axes.plot(
            [order[c.tensor] for c in codes],
            [c.largest for c in codes],
            "os^Dv"[i % 5],
            ms=5 - i,
            color=_page.COLORS[i % len(_page.COLORS)],
            label=f"{name}: node alone, largest",
        )
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.05, peak * 1.5)
    axes.set_xlabel("tensor, in the order of the network")
    axes.set_ylabel("|ours - peer| in steps")
    _finish(axes)
    return figure


def _signal_figure(report: VerifyReport):
    figure = _page.new_figure(3.8)
    axes = figure.subplots()
    order = _order(report)
    for i, (name, found) in enumerate(_series(report, report.network).items()):
        values = [
            _HIGHEST_DB if c.snr_db is None else min(max(c.snr_db, -20.0), _HIGHEST_DB)
            for c in found
        ]
        axes.plot(
            [order[c.tensor] for c in found],
            values,
            "o-",
            ms=4,
            lw=1,
            color=_page.COLORS[i % len(_page.COLORS)],
            label=name,
        )
    axes.axhline(_HIGHEST_DB, color="#9aa7b2", lw=0.8, ls=":")
    axes.text(
        1, _HIGHEST_DB + 4, "no difference", color="#5c6b78", fontsize=9, ha="right",
        transform=axes.get_yaxis_transform(),
    )  # fmt: skip
    axes.set_ylim(top=_HIGHEST_DB + 16)
    axes.set_xlabel("tensor, in the order of the network")
    axes.set_ylabel("signal to noise, dB")
    _finish(axes)
    return figure


def _finish(axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e8ecef")
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.16), ncols=3, frameon=False, fontsize=9)


def _verdicts(report: VerifyReport) -> str:
    counts = {p.name: report.verdicts(p.name) for p in report.peers}
    found = [v for v in Verdict if any(v in c for c in counts.values())]
    rows = [(v, *(c.get(v, 0) for c in counts.values()), MEANINGS[v]) for v in found]
    bad = [i for i, v in enumerate(found) if v == Verdict.OURS_DIFFERS]
    return _page.table(("verdict", *(f">{name}" for name in counts), "meaning"), rows, bad)


def _proofs(report: VerifyReport) -> list[str]:
    """Returns a section with the arithmetic of the first tensor of each verdict and peer."""
    first: dict[tuple[str, str], Comparison] = {}
    for c in report.nodes:
        if c.proof is not None:
            first.setdefault((c.verdict, c.operator), c)
    parts = []
    for c in first.values():
        place = ", ".join(map(str, c.proof.position))
        lines = html.escape("\n".join(c.proof.arithmetic))
        parts.append(_page.paragraph(f"{c.verdict}: {c.tensor}[{place}], {c.operator}, {c.peer}"))
        parts.append(f"<pre>{lines}</pre>")
    return [_page.section("First differing values, recomputed", *parts)] if parts else []


def _tensors(report: VerifyReport) -> str:
    alone = {(c.tensor, c.peer): c for c in report.nodes}
    network = {(c.tensor, c.peer): c for c in report.network}
    keys = dict.fromkeys([*network, *alone])
    order = _order(report)
    rows, bad = [], []
    for tensor, peer in sorted(keys, key=lambda key: order[key[0]]):
        c, node = network.get((tensor, peer)), alone.get((tensor, peer))
        if node is not None and node.verdict == Verdict.OURS_DIFFERS:
            bad.append(len(rows))
        rows.append((
            order[tensor], tensor, (c or node).operator, peer,
            c.largest_text if c else "", c.snr_text if c else "",
            node.largest_text if node else "", node.verdict if node else "",
        ))  # fmt: skip
    headers = (
        ">no.", "tensor", "operator", "peer", ">by itself: largest", ">signal to noise",
        ">node alone: largest", "verdict",
    )  # fmt: skip
    return _page.table(headers, rows, bad)
