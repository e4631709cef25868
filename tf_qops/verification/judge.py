"""Says why a tensor of ours differs from a peer's, with the first differing value as proof."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tf_qops.verification import products
from tf_qops.verification.exact import NotExactError, Real, real_outputs
from tf_qops.verification.pieces import Piece
from tf_qops.verification.report import Comparison, Proof, Verdict

# Of the largest value, where operators cannot be recomputed: some hundred roundings of float32.
_FLOAT_TOLERANCE = 1e-5
_TRIED_POSITIONS = 64


def differing(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Returns which values of two tensors are not the same; NaN is the same as NaN."""
    with np.errstate(invalid="ignore"):
        return (ours != theirs) & ~((ours != ours) & (theirs != theirs))


def measured(
    peer: str,
    tensor: str,
    operator: str,
    ours: np.ndarray,
    theirs: np.ndarray,
    zero_point: float = 0.0,
) -> Comparison:
    """Returns the figures of one tensor beside a peer's; infinite ones where the shapes differ."""
    steps = theirs.dtype.kind in "iu"
    if ours.shape != theirs.shape:
        return Comparison(
            peer, tensor, operator, theirs.size, theirs.size, np.inf, np.inf, steps, np.inf, -np.inf
        )
    different = int(differing(ours, theirs).sum())
    signal = np.nan_to_num(theirs.astype(np.float64)) - zero_point
    with np.errstate(invalid="ignore"):
        error = np.where(
            differing(ours, theirs), ours.astype(np.float64) - theirs.astype(np.float64), 0.0
        )
    noise, power = np.linalg.norm(error), np.linalg.norm(signal)
    with np.errstate(divide="ignore"):
        ratio = float(20 * np.log10(power / noise)) if noise else None
    return Comparison(
        peer=peer,
        tensor=tensor,
        operator=operator,
        values=ours.size,
        different=different,
        largest=float(np.abs(error).max(initial=0.0)),
        mean=float(np.abs(error).mean()) if error.size else 0.0,
        in_steps=steps,
        distance=float(noise / (power or 1.0)) if noise else 0.0,
        snr_db=ratio,
    )


def judged(
    piece: Piece,
    inputs: Mapping[str, np.ndarray],
    tensor: str,
    ours: np.ndarray,
    theirs: np.ndarray,
) -> tuple[Verdict, Proof | None]:
    """Returns why two results of a piece differ, if they do.

    Args:
        piece: what both computed.
        inputs: from which both computed it.
        tensor: the output in question.
        ours: our values.
        theirs: the peer's.
    """
    if ours.shape != theirs.shape:
        line = f"ours has shape {list(ours.shape)}, the peer's {list(theirs.shape)}"
        return Verdict.OURS_DIFFERS, Proof((), np.nan, np.nan, None, (line,))
    different = differing(ours, theirs)
    if not different.any():
        return Verdict.SAME, None
    try:
        real = real_outputs(piece, inputs)[tensor]
        right, peer_right = (real.allows(v) | ~different for v in (ours, theirs))
    except (NotExactError, ValueError) as error:
        return _unproved(ours, theirs, different, str(error))
    if not right.all():
        place = _first(~right)
        lines = _sum_lines(piece, inputs, place)
        return Verdict.OURS_DIFFERS, _proof(place, ours, theirs, real, lines)
    if not peer_right.all():
        return _peer_at_fault(piece, inputs, real, ours, theirs, ~peer_right)
    place = _first(different)
    verdict = Verdict.TIE if theirs.dtype.kind in "iu" else Verdict.FLOAT_ORDER
    return verdict, _proof(place, ours, theirs, real, [])


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _sum_lines(piece: Piece, inputs: Mapping[str, np.ndarray], place: tuple[int, ...]) -> list[str]:
    terms = products.terms_of(piece, inputs, place)
    return [] if terms is None else [products.sum_line(terms)]


def _proof(
    place: tuple[int, ...], ours: np.ndarray, theirs: np.ndarray, real: Real, lines: list[str]
) -> Proof:
    exact, slack = float(real.value[place]), float(real.slack[place])
    name = "the code before rounding" if real.codes else "the value"
    lines = [*lines, f"exactly, {name} is {exact:.9g} (float32 may be off by {slack:.1g})"]
    lines.append(f"ours {ours[place]}, the peer's {theirs[place]}")
    return Proof(place, float(ours[place]), float(theirs[place]), exact, tuple(lines))


def _peer_at_fault(
    piece: Piece,
    inputs: Mapping[str, np.ndarray],
    real: Real,
    ours: np.ndarray,
    theirs: np.ndarray,
    wrong: np.ndarray,
) -> tuple[Verdict, Proof]:
    """Looks for a wrong value of the peer that saturating 16 bits explain."""
    for place in map(tuple, np.argwhere(wrong)[:_TRIED_POSITIONS].tolist()):
        terms = products.terms_of(piece, inputs, place)
        if terms is None:
            break
        for total, pairs in terms.saturating() if terms.step is not None else []:
            moved = real.value[place] + (total - terms.exact) * terms.step
            saturated = Real(np.asarray(moved), np.asarray(real.slack[place]), real.codes)
            if pairs and saturated.allows(theirs[place]):
                lines = [products.sum_line(terms), *products.saturation_lines(terms, total, pairs)]
                lines.append(f"that sum gives {moved:.9g}, which the peer has")
                return Verdict.PEER_SATURATES, _proof(place, ours, theirs, real, lines)
    place = _first(wrong)
    lines = _sum_lines(piece, inputs, place)
    return Verdict.PEER_DIFFERS, _proof(place, ours, theirs, real, lines)


def _unproved(
    ours: np.ndarray, theirs: np.ndarray, different: np.ndarray, reason: str
) -> tuple[Verdict, Proof]:
    """Judges by a tolerance, where the exact value is not known."""
    place = _first(different)
    line = f"not recomputed ({reason.splitlines()[0] if reason else 'unknown'})"
    values = f"ours {ours[place]}, the peer's {theirs[place]}"
    proof = Proof(place, float(ours[place]), float(theirs[place]), None, (line, values))
    if theirs.dtype.kind != "f":
        return Verdict.NOT_RECOMPUTED, proof
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        error = np.abs(ours.astype(np.float64) - theirs)
    near = (error <= _FLOAT_TOLERANCE * largest) | ~different
    return (Verdict.FLOAT_ORDER if near.all() else Verdict.NOT_RECOMPUTED), proof
