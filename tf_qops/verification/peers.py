"""Other runtimes, and what they compute at each tensor of a graph."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
import onnx

from tf_qops._progress import steps
from tf_qops.verification.pieces import Piece, opened

# The first opset whose DequantizeLinear the reference evaluator has, and operators that mean the
# same from 13 on.
_FIRST_LINEAR = 19
_UNCHANGED = {
    *("Add", "AveragePool", "Clip", "Concat", "Conv", "DequantizeLinear", "Gemm", "Identity"),
    *("GlobalAveragePool", "MatMul", "MaxPool", "Mul", "QuantizeLinear", "Relu", "Sigmoid", "Sub"),
    *("QLinearConv", "QLinearMatMul", "Softmax", "Transpose"),
}

EXACT = {"session.x64quantprecision": "1"}


@dataclasses.dataclass(frozen=True, eq=False)
class Recorded:
    """What a peer has at the tensors of a graph.

    Attributes:
        values: by name.
        borrowed: those that it has from another peer, or made of such.
        foreign: those that it has from another peer.
        remark: why it has none of its own there.
    """

    values: Mapping[str, np.ndarray]
    borrowed: Collection[str] = ()
    foreign: Collection[str] = ()
    remark: str = ""


class Peer(Protocol):
    """Another runtime.

    Attributes:
        name: of the runtime.
        version: its version.
    """

    name: str
    version: str

    def run(
        self, model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray] | None:
        """Returns the outputs of the model as it is, by name; None if it only has tensors."""

    def record(
        self,
        model: onnx.ModelProto,
        feeds: Mapping[str, np.ndarray],
        tensors: Sequence[str],
        pieces: Sequence[Piece],
        others: Mapping[str, np.ndarray],
    ) -> Recorded:
        """Returns the tensors.

        Args:
            model: the graph.
            feeds: its inputs.
            tensors: names of those wanted.
            pieces: the graph between them.
            others: what another peer has, to go on from where this one cannot.
        """


def session(model: onnx.ModelProto | str, config: Mapping[str, str], threads: int = 0):
    """Returns an ONNX Runtime session on the CPU.

    Args:
        model: a model or the path of one.
        config: entries of the session, `EXACT` for sums that never saturate.
        threads: that it computes with; 0 for as many as there are cores.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if threads:
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    for key, value in config.items():
        options.add_session_config_entry(key, value)
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


class OnnxRuntime:
    """ONNX Runtime: as it comes, or in the mode in which no intermediate sum saturates."""

    def __init__(self, exact: bool):
        import onnxruntime

        self.name = "onnxruntime exact" if exact else "onnxruntime"
        self.version = onnxruntime.__version__
        self._config = EXACT if exact else {}

    def run(self, model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the outputs of the model as it is, by name."""
        opened_session = session(model, self._config)
        names = [output.name for output in opened_session.get_outputs()]
        return dict(zip(names, opened_session.run(names, dict(feeds)), strict=True))

    def record(
        self,
        model: onnx.ModelProto,
        feeds: Mapping[str, np.ndarray],
        tensors: Sequence[str],
        pieces: Sequence[Piece],
        others: Mapping[str, np.ndarray],
    ) -> Recorded:
        """Returns all tensors."""
        results = self.run(opened(model, tensors), feeds)
        return Recorded({name: results[name] for name in tensors})


class Reference:
    """The reference evaluator of the onnx package, piece by piece as far as it has operators."""

    name = "reference"
    version = onnx.__version__

    def run(self, model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> None:
        """Returns None: `record` has the outputs too."""
        return None

    def record(
        self,
        model: onnx.ModelProto,
        feeds: Mapping[str, np.ndarray],
        tensors: Sequence[str],
        pieces: Sequence[Piece],
        others: Mapping[str, np.ndarray],
    ) -> Recorded:
        """Returns the tensors; those behind an operator that it lacks follow from another peer."""
        from onnx.reference import ReferenceEvaluator

        values, remark = dict(feeds), ""
        borrowed: set[str] = set()
        foreign: set[str] = set()
        for piece in steps(pieces, "onnx reference"):
            if not all(name in values for name in piece.inputs):
                continue
            given = {name: values[name] for name in piece.inputs}
            try:
                results = ReferenceEvaluator(_newer(piece.model(given))).run(None, given)
                _check_shapes(piece.outputs, results, others)
            except Exception as error:  # RuntimeContextError, TypeError and many more.
                remark = remark or f"{piece.operator.op_type}: {one_line(error)}"
                known = [name for name in piece.outputs if name in others]
                values.update({name: others[name] for name in known})
                foreign.update(known)
                borrowed.update(known)
                continue
            values.update(zip(piece.outputs, map(np.asarray, results), strict=True))
            if not borrowed.isdisjoint(piece.inputs):
                borrowed.update(piece.outputs)
        kept = {name: values[name] for name in tensors if name in values}
        return Recorded(kept, frozenset(borrowed), frozenset(foreign), remark)


def _check_shapes(
    names: Sequence[str], results: Sequence[np.ndarray], others: Mapping[str, np.ndarray]
) -> None:
    """Refuses results of the evaluator whose shapes are not the other peer's: it has faults."""
    for name, result in zip(names, results, strict=True):
        if name in others and np.shape(result) != others[name].shape:
            raise ValueError(f"shape {list(np.shape(result))} for {list(others[name].shape)}")


def _newer(model: onnx.ModelProto) -> onnx.ModelProto:
    """Moves a piece to where the evaluator knows DequantizeLinear, if that changes no meaning."""
    (opset,) = (entry for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    if 13 <= opset.version < _FIRST_LINEAR and _UNCHANGED.issuperset(
        node.op_type for node in model.graph.node
    ):
        opset.version = _FIRST_LINEAR
    return model


def one_line(error: Exception) -> str:
    """Returns the kind and message of an error, shortened."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def peers_named(against: Sequence[str | Peer]) -> tuple[list[Peer], list[str]]:
    """Returns the peers that are installed, and the names of those that are not.

    Raises:
        ValueError: an unknown name.
    """
    found: list[Peer] = []
    missing = []
    for entry in against:
        if not isinstance(entry, str):
            found.append(entry)
        elif entry == "reference":
            found.append(Reference())
        elif entry != "onnxruntime":
            raise ValueError(
                "against must name peers of 'onnxruntime', 'reference', or be objects of their "
                f"kind. Received: {entry!r}"
            )
        elif importlib.util.find_spec("onnxruntime"):
            found += [OnnxRuntime(exact=False), OnnxRuntime(exact=True)]
        else:
            missing.append(entry)
    return found, missing
