"""Runs the single-operator cases of the onnx package through the importer, and tabulates them.

python -m tests.onnx.backend_suite > docs/onnx_operators.md
"""

import collections
import dataclasses
import sys
import warnings

import numpy as np
import onnx
import tensorflow as tf
from onnx.backend.test.case.node import collect_testcases
from rich.console import Console
from rich.progress import track

import tf_qops as tfq
from tests.onnx.graphs import as_constants
from tf_qops.layers import narrow
from tf_qops.onnx.registry import registered

HEADER = """# ONNX operators

Every operator that `tfq.onnx.import_model` takes, with the versions from which it is read in
another way, and what it gives for the single-operator cases of the onnx package (version
{version}): {right} of {total} give the values, shapes and types that they should.

The cases feed everything as an input, axes and scales too, which graphs of networks hold as
constants. Where a case is refused for that, it is run again with all but its first input as
constants; "constant" counts those that are right then.

Operators without cases are compared with ONNX Runtime or with ONNX's reference in
`tests/onnx`. Written by `python -m tests.onnx.backend_suite`; a test runs it and compares.

| operator | from version | cases | right | constant | the others, and why |
|---|---|---|---|---|---|
"""


_NOT_ROUNDED = (
    "the case divides by a length that is not rounded to an integer yet, against the operator's "
    "description and ONNX Runtime"
)
# Cases that say something else than the specification.
OTHERWISE = {
    f"test_resize_downsample_scales_{mode}_align_corners": _NOT_ROUNDED
    for mode in ("linear", "cubic")
}


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of a case.

    Attributes:
        operator: domain and name.
        name: the case's.
        problem: "" is right.
        constant: whether all but its first input were made constants.
    """

    operator: tuple[str, str]
    name: str
    problem: str
    constant: bool = False


def _array(value):
    """A value of a case, in the type that carries it."""
    array = onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
    return np.asarray(array).astype(narrow.carrier(np.asarray(array).dtype.name))


def _difference(case, got, wanted):
    """What is wrong with a result."""
    if got.shape != wanted.shape:
        return f"shape {got.shape}"
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}"
    if wanted.dtype.kind in "iub":
        return "" if np.array_equal(got, wanted) else "values"
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    close = np.allclose(got, wanted, case.rtol, case.atol, equal_nan=True)
    return "" if close else "values"


def _problem(case, constant):
    """Why a case is not right, a refusal's reason for one; "" if it is."""
    values = (*case.model.graph.input, *case.model.graph.output)
    if case.name in OTHERWISE:
        return OTHERWISE[case.name]
    if not all(value.type.HasField("tensor_type") for value in values):
        return "takes or gives something else than tensors"
    for inputs, outputs in case.data_sets:
        proto, kept = as_constants(case.model, inputs) if constant else (case.model, inputs)
        try:
            model = tfq.onnx.import_model(proto)
        except tfq.onnx.UnsupportedOperatorsError as error:
            return error.operators[0].reason
        except tfq.onnx.OnnxFileError as error:
            return str(error).split(" Received: ")[0].removeprefix("A node cannot be built: ")
        arrays = [_array(value) for value in kept]
        try:
            got = tf.nest.flatten(model(arrays if len(arrays) > 1 else arrays[0]))
        except (ValueError, tf.errors.OpError) as error:
            return f"{type(error).__name__} when it runs"
        for one, wanted in zip(got, outputs, strict=True):
            problem = _difference(case, np.asarray(one), _array(wanted))
            if problem:
                return problem
    return ""


def results(show_progress=False):
    """Yields the results of all cases of operators that are registered."""
    cases = [c for c in collect_testcases() if len(c.model.graph.node) == 1]
    console = Console(stderr=True, quiet=not show_progress)
    for case in track(cases, "backend suite", console=console):
        (node,) = case.model.graph.node
        operator = node.domain, node.op_type
        if operator not in registered():
            continue
        problem = _problem(case, False)
        constant = bool(problem) and len(case.model.graph.input) > 1
        if constant:
            problem = _problem(case, True)
        yield Result(operator, case.name, problem, constant)


def table(found):
    """The document's text."""
    by_operator = collections.defaultdict(list)
    for result in found:
        by_operator[result.operator].append(result)
    lines, total, right = [], 0, 0
    for (domain, op_type), versions in sorted(registered().items()):
        group = by_operator[domain, op_type]
        plain = sum(not (r.problem or r.constant) for r in group)
        constant = sum(r.constant and not r.problem for r in group)
        total, right = total + len(group), right + plain + constant
        problems = collections.defaultdict(list)
        for result in group:
            if result.problem:
                problems[result.problem].append(result.name.removeprefix("test_"))
        others = "; ".join(f"{', '.join(names)}: {p}" for p, names in sorted(problems.items()))
        counts = (len(group), plain, constant or "") if group else ("none", "", "")
        name = f"{domain}.{op_type}" if domain else op_type
        cells = (name, ", ".join(map(str, versions)), *counts, others)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    header = HEADER.format(version=onnx.__version__, right=right, total=total)
    return header + "\n".join(lines) + "\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(table(results(show_progress=True)))
