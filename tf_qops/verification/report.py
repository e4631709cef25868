"""What a verification found."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import math
from collections.abc import Mapping

from tf_qops.onnx.report import Report


class Verdict(str, enum.Enum):
    """Why two results differ, if they do."""

    SAME = "same"
    TIE = "tie"
    FLOAT_ORDER = "float order"
    PEER_SATURATES = "the peer saturates"
    PEER_DIFFERS = "the peer differs"
    NOT_RECOMPUTED = "not recomputed"
    OURS_DIFFERS = "ours differs"

    def __str__(self) -> str:
        return self.value


MEANINGS = {
    Verdict.SAME: "every bit is equal",
    Verdict.TIE: "the exact value lies between two codes, closer to the middle than float32 tells",
    Verdict.FLOAT_ORDER: "floats within what the order of float32 operations changes",
    Verdict.PEER_SATURATES: "ours is exact; the peer adds pairs of products in 16 bits, too few",
    Verdict.PEER_DIFFERS: "ours is exact, the peer is not",
    Verdict.NOT_RECOMPUTED: "an operator without exact recomputation; the threshold decides",
    Verdict.OURS_DIFFERS: "ours is not what exact arithmetic gives",
}


@dataclasses.dataclass(frozen=True)
class Proof:
    """The first differing value, recomputed.

    Attributes:
        position: its index in the tensor.
        ours: our value.
        theirs: the peer's.
        exact: the value in exact arithmetic, of codes before rounding; None if not recomputed.
        arithmetic: lines that show how it comes about.
    """

    position: tuple[int, ...]
    ours: float
    theirs: float
    exact: float | None
    arithmetic: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One tensor of ours beside a peer's.

    Attributes:
        peer: its name.
        tensor: the tensor's name in the file.
        operator: that makes it.
        values: how many.
        different: how many are not the same.
        largest: the largest difference: in steps where the tensor holds integers.
        mean: the mean difference, likewise.
        in_steps: whether it holds integers.
        distance: the norm of the difference relative to the norm of the peer's tensor.
        snr_db: signal to noise, of codes less their zero point; None where nothing differs.
        verdict: why they differ; None where the inputs differed before.
        proof: the first difference that decides the verdict.
    """

    peer: str
    tensor: str
    operator: str
    values: int
    different: int
    largest: float
    mean: float
    in_steps: bool
    distance: float
    snr_db: float | None
    verdict: Verdict | None = None
    proof: Proof | None = None

    @property
    def largest_text(self) -> str:
        """The largest difference with its unit."""
        if not self.different:
            return "0"
        if self.in_steps and math.isfinite(self.largest):
            return f"{self.largest:.0f} step{'s' if self.largest != 1 else ''}"
        return f"{self.largest:.1e}"

    @property
    def snr_text(self) -> str:
        """Signal to noise as text."""
        return "∞" if self.snr_db is None else f"{self.snr_db:.0f} dB"


@dataclasses.dataclass(frozen=True)
class PeerInfo:
    """A runtime that was asked.

    Attributes:
        name: of it.
        version: its version; "" where it is not installed.
        left_out: why nothing could be compared with it; "" if something was.
    """

    name: str
    version: str
    left_out: str = ""


@dataclasses.dataclass(frozen=True)
class VerifyReport(Report):
    """What `tfq.verify` found; printing it shows tables.

    Attributes:
        path: the ONNX file.
        inputs: name -> dtype and shape, as text.
        made_up: whether the inputs were made up.
        peers: who was asked.
        outputs: the model's outputs beside those of each peer, end to end.
        network: the tensors along the network, each runtime fed by itself.
        nodes: the same tensors, ours computed from the peer's own inputs of each node.
        remarks: what else one should know.
    """

    path: str
    inputs: Mapping[str, str]
    made_up: bool
    peers: tuple[PeerInfo, ...]
    outputs: tuple[Comparison, ...]
    network: tuple[Comparison, ...]
    nodes: tuple[Comparison, ...]
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Returns everything as JSON; numbers that are not finite become null."""
        return json.dumps(_plain(dataclasses.asdict(self)), indent=2)

    def verdicts(self, peer: str) -> Mapping[Verdict, int]:
        """Returns how many tensors of the nodes got each verdict beside a peer."""
        counts = collections.Counter(c.verdict for c in self.nodes if c.peer == peer)
        return {verdict: counts[verdict] for verdict in Verdict if counts[verdict]}

    def findings(self, threshold: float = math.inf) -> tuple[str, ...]:
        """Returns what is wrong: sentences, none if all is well.

        Args:
            threshold: the largest distance of an output from that of a peer without faults, and
                of a node that cannot be recomputed.
        """
        wrong = [
            f"{c.tensor} ({c.operator}): ours differs from {c.peer} in {c.different} of "
            f"{c.values} values, by up to {c.largest_text}"
            for c in self.nodes
            if c.verdict == Verdict.OURS_DIFFERS
            or (c.verdict == Verdict.NOT_RECOMPUTED and not c.distance <= threshold)
        ]
        faulty = {Verdict.PEER_SATURATES, Verdict.PEER_DIFFERS}
        for c in self.outputs:
            if not c.distance <= threshold and not faulty & self.verdicts(c.peer).keys():
                wrong.append(
                    f"output {c.tensor}: distance {c.distance:.1e} from {c.peer} is more than "
                    f"{threshold:g}"
                )
        if not self.outputs and not self.nodes:
            wrong.append("nothing could be compared")
        return tuple(wrong)

    def __rich__(self) -> object:
        """Returns the tables that rich prints."""
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Column, Table

        made = "made up, seed 0" if self.made_up else "given"
        listed = ", ".join(f"{name} {spec}" for name, spec in self.inputs.items())
        parts: list[object] = [escape(f"Inputs ({made}): {listed}")]
        outputs = Table(
            Column("output", overflow="fold"), "peer", "different", "largest", "distance", "signal",
            title="End to end",
        )  # fmt: skip
        for c in self.outputs:
            outputs.add_row(
                escape(c.tensor), c.peer, f"{c.different:,} of {c.values:,}", c.largest_text,
                f"{c.distance:.1e}", c.snr_text,
            )  # fmt: skip
        nodes = Table("peer", "verdict", "tensors", title="Each node fed with the peer's inputs")
        for peer in self.peers:
            for verdict, count in self.verdicts(peer.name).items():
                nodes.add_row(peer.name, str(verdict), str(count))
        parts += [outputs, nodes]
        shown = [c for c in self.nodes if c.verdict not in (None, Verdict.SAME)]
        if shown:
            parts.append(self._differences(shown))
        parts += [escape(line) for line in self._proofs(shown)]
        parts += [
            escape(f"Left out: {peer.name}: {peer.left_out}")
            for peer in self.peers
            if peer.left_out
        ]
        parts += [escape(f"Note: {remark}") for remark in self.remarks]
        return Group(*parts)

    @staticmethod
    def _differences(shown: list[Comparison]) -> object:
        """Returns the table of nodes that differ."""
        from rich.markup import escape
        from rich.table import Column, Table

        table = Table(
            Column("verdict", no_wrap=True), Column("tensor", overflow="fold"), "operator", "peer",
            "different", Column("largest", no_wrap=True), title="Nodes that differ",
        )  # fmt: skip
        alike: dict[tuple[str, ...], list[Comparison]] = {}
        for c in shown:
            key = (str(c.verdict), c.tensor, str(c.different), c.largest_text)
            alike.setdefault(key, []).append(c)
        for (verdict, tensor, _, largest), entries in alike.items():
            c = entries[0]
            table.add_row(
                verdict, escape(tensor), c.operator, "\n".join(entry.peer for entry in entries),
                f"{c.different:,} of {c.values:,}", largest,
                style="red" if c.verdict == Verdict.OURS_DIFFERS else "",
            )  # fmt: skip
        return table

    @staticmethod
    def _proofs(shown: list[Comparison]) -> list[str]:
        """Returns the arithmetic of the first tensor of each verdict."""
        first: dict[Verdict, Comparison] = {}
        for c in shown:
            if c.proof is not None:
                first.setdefault(c.verdict, c)
        lines = []
        for verdict, c in first.items():
            place = ", ".join(map(str, c.proof.position))
            lines.append(f"{verdict}: {c.tensor}[{place}] beside {c.peer}")
            lines += [f"  {line}" for line in c.proof.arithmetic]
        return lines


def _plain(value: object) -> object:
    """Returns a value as JSON has it."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
