"""Runs a model and its peers, end to end and node by node."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import keras
import numpy as np
import onnx
import tensorflow as tf

from tf_qops import _library
from tf_qops._progress import steps
from tf_qops.onnx.errors import OnnxFileError
from tf_qops.onnx.functions import inlined
from tf_qops.onnx.importer import import_model
from tf_qops.onnx.reader import Graph, read
from tf_qops.verification.feeds import feeds_for
from tf_qops.verification.judge import judged, measured
from tf_qops.verification.models import callable_model
from tf_qops.verification.peers import Peer, Recorded, one_line, peers_named
from tf_qops.verification.pieces import Piece, compared_tensors, cut, opened
from tf_qops.verification.report import Comparison, PeerInfo, VerifyReport

_Tensors = Mapping[str, np.ndarray]


def verify(
    model_or_path: keras.Model | str | os.PathLike[str],
    path: str | os.PathLike[str],
    inputs: Mapping[str, np.ndarray] | str | os.PathLike[str] | None = None,
    against: Sequence[str | Peer] = ("onnxruntime", "reference"),
) -> VerifyReport:
    """Compares a model with other runtimes, tensor by tensor, and says who is right.

    Three comparisons: the outputs of the model as it is; the tensors along the network, each
    runtime fed by itself; and each node by itself, ours fed with the peer's inputs of that node.
    Where the last differ, the first differing value is recomputed in exact arithmetic.

    Args:
        model_or_path: what is verified: a Keras model, a .keras file, a SavedModel, or an ONNX
            file, which is imported.
        path: the ONNX file that it came from.
        inputs: arrays by the names of the graph's inputs, or an .npz file of them. None makes
            them up with a fixed seed: floats over the range of the QuantizeLinear that they go
            to, symbolic dimensions 2 (the first) and 8.
        against: "onnxruntime" (as it comes, and in its exact mode, which saturates no sum),
            "reference" (the evaluator of the onnx package), or objects like `Peer`.

    Returns:
        A report. Printing it shows tables, `to_json()` is all of it.

    Raises:
        FileNotFoundError: no such file.
        OnnxFileError: not an ONNX model, or an inconsistent one.
        UnsupportedOperatorsError: an operator that cannot be imported.
        ValueError: inputs or peers that are not as described; a model that does not fit the file.

    Example:

    >>> digits = "examples/models/digits_int8.onnx"
    >>> report = tfq.verify(digits, digits, against=["onnxruntime"])
    >>> report.findings()
    ()
    """
    with _without_hints():
        return _verify(model_or_path, pathlib.Path(path), inputs, against)


@contextlib.contextmanager
def _without_hints() -> Iterator[None]:
    """Keeps TensorFlow from warning that many models mean many graphs."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def _verify(
    model_or_path: keras.Model | str | os.PathLike[str],
    source: pathlib.Path,
    inputs: Mapping[str, np.ndarray] | str | os.PathLike[str] | None,
    against: Sequence[str | Peer],
) -> VerifyReport:
    graph = read(source)
    model = inlined(onnx.load(source))
    peers, missing = peers_named(against)
    feeds = feeds_for(model, graph, inputs)
    _library.register()

    tensors = compared_tensors(graph)
    pieces = cut(model, graph, tensors)
    imported = import_model(opened(model, tensors))
    names = list(dict.fromkeys([*graph.outputs, *tensors]))
    given = _by_name(graph, feeds)
    ours = dict(zip(names, _flat(imported(given)), strict=True))
    if isinstance(model_or_path, keras.Model) or not _same_file(model_or_path, source):
        run = callable_model(model_or_path, graph)
    else:
        run = callable_model(import_model(source), graph)
    results = dict(zip(graph.outputs, run(feeds), strict=True))

    work = _Work(feeds, pieces, _zero_points(graph))
    infos = [PeerInfo(name, "", "not installed") for name in missing]
    outputs: list[Comparison] = []
    network: list[Comparison] = []
    nodes: list[Comparison] = []
    others: _Tensors = {}
    for peer in peers:
        try:
            theirs = peer.run(model, feeds)
            recorded = peer.record(model, feeds, tensors, pieces, others)
        except Exception as error:  # Each runtime has its own kinds.
            infos.append(PeerInfo(peer.name, peer.version, one_line(error)))
            continue
        others = others or recorded.values
        own = {n: v for n, v in recorded.values.items() if n not in recorded.borrowed}
        infos.append(PeerInfo(peer.name, peer.version, _left_out(tensors, recorded)))
        outputs += work.compared(peer.name, graph.outputs, results, theirs or own)
        network += work.compared(peer.name, tensors, ours, own)
        nodes += work.nodes(peer.name, recorded)
    return VerifyReport(
        path=str(source),
        inputs={name: f"{array.dtype} {list(array.shape)}" for name, array in feeds.items()},
        made_up=inputs is None,
        peers=tuple(infos),
        outputs=tuple(outputs),
        network=tuple(network),
        nodes=tuple(nodes),
    )


def _same_file(a: str | os.PathLike[str], b: pathlib.Path) -> bool:
    return os.path.exists(a) and os.path.samefile(a, b)


def _left_out(tensors: Sequence[str], recorded: Recorded) -> str:
    """Returns which tensors a peer did not compute, and why."""
    lacking = [n for n in tensors if n not in recorded.values or n in recorded.foreign]
    if not lacking:
        return ""
    return f"{len(lacking)} of {len(tensors)} tensors, the first {lacking[0]} ({recorded.remark})"


def _flat(result: object) -> list[np.ndarray]:
    return [np.asarray(tensor) for tensor in tf.nest.flatten(result)]


def _by_name(graph: Graph, feeds: _Tensors) -> np.ndarray | list[np.ndarray]:
    """Returns a model's inputs in order, one alone as itself."""
    arrays = [feeds[info.name] for info in graph.inputs]
    return arrays[0] if len(arrays) == 1 else arrays


def _zero_points(graph: Graph) -> dict[str, float]:
    """Returns the zero points of the tensors of codes that have one for all."""
    places = {"QuantizeLinear": 2, "QLinearConv": 7, "QLinearMatMul": 7, "QGemm": 8,
              "QLinearAdd": 7, "QLinearMul": 7, "QLinearConcat": 1}  # fmt: skip
    found: dict[str, float] = {}
    for node in graph.nodes:
        place = places.get(node.op_type, 4 if node.op_type.startswith("QLinear") else None)
        if place is not None:
            if node.is_constant(place) and node.constant(place).size == 1:
                found[node.outputs[0]] = float(node.constant(place).reshape(-1)[0])
        elif node.inputs and node.inputs[0] in found and node.op_type != "DequantizeLinear":
            found.update(dict.fromkeys(node.outputs, found[node.inputs[0]]))
    return found


class _Work:
    """What all comparisons of one graph share."""

    def __init__(self, feeds: _Tensors, pieces: Sequence[Piece], zero_points: Mapping[str, float]):
        self._feeds = feeds
        self._pieces = pieces
        self._kinds = {name: piece.kind for piece in pieces for name in piece.outputs}
        self._zero_points = zero_points
        self._models: dict[int, Callable[[_Tensors], _Tensors]] = {}

    def compared(
        self, peer: str, names: Sequence[str], ours: _Tensors, theirs: _Tensors
    ) -> list[Comparison]:
        """Returns the tensors that both have, side by side."""
        return [
            self._measured(peer, name, ours[name], theirs[name])
            for name in names
            if name in ours and name in theirs and theirs[name].dtype.kind in "biuf"
        ]

    def _measured(self, peer: str, name: str, ours: np.ndarray, theirs: np.ndarray) -> Comparison:
        integers = theirs.dtype.kind in "iu"
        zero = self._zero_points.get(name, 0.0) if integers else 0.0
        return measured(peer, name, self._kinds.get(name, ""), ours, theirs, zero)

    def nodes(self, peer: str, recorded: Recorded) -> list[Comparison]:
        """Returns what each piece computes of a peer's inputs, beside what the peer has there."""
        found = []
        values = {**self._feeds, **recorded.values}
        for i, piece in enumerate(steps(self._pieces, f"Nodes beside {peer}")):
            made = [n for n in piece.outputs if n in values and n not in recorded.foreign]
            if not made or not all(name in values for name in piece.inputs):
                continue
            given = {name: values[name] for name in piece.inputs}
            if i not in self._models:
                self._models[i] = _piece_model(piece, given)
            ours = self._models[i](given)
            for name in made:
                if values[name].dtype.kind not in "biuf":
                    continue
                comparison = self._measured(peer, name, ours[name], values[name])
                verdict, proof = judged(piece, given, name, ours[name], values[name])
                found.append(dataclasses.replace(comparison, verdict=verdict, proof=proof))
        return found


def _piece_model(piece: Piece, given: _Tensors) -> Callable[[_Tensors], _Tensors]:
    """Returns a function from the inputs of a piece to its outputs."""
    proto = piece.model(given)
    try:
        model = import_model(proto)
    except OnnxFileError as error:
        raise OnnxFileError(f"{error} It was cut out of the graph at {piece.outputs}") from error

    call = tf.function(lambda tensors: model(tensors), reduce_retracing=True)

    def run(values: _Tensors) -> _Tensors:
        arrays = [values[name] for name in piece.inputs]
        result = call(arrays[0] if len(arrays) == 1 else arrays)
        return dict(zip(piece.outputs, _flat(result), strict=True))

    return run
