"""Imports graphs of one node and compares them with ONNX's reference or ONNX Runtime."""

import numpy as np
from onnx.reference import ReferenceEvaluator

import tf_qops as tfq
from tests.onnx import graphs


def symbolic(shape):
    """A shape whose dimensions may vary."""
    return [f"d{i}" for i in range(len(shape))]


def one_node(op_type, inputs, *, constants=(), outputs=("y",), opset=21, shapes=None, **attributes):
    """A model of one node.

    Args:
        op_type: the operator.
        inputs: name -> array or None (left out), in order.
        constants: names of the inputs that are initializers.
        outputs: names.
        opset: of ONNX's domain.
        shapes: "symbolic" or None.
        **attributes: of the node.
    """
    given = {name: a for name, a in inputs.items() if a is not None}
    names = [name if array is not None else "" for name, array in inputs.items()]
    node = graphs.node(op_type, names, outputs, "node", **attributes)
    fed = {
        name: (a.dtype, symbolic(a.shape) if shapes == "symbolic" else a.shape)
        for name, a in given.items()
        if name not in constants
    }
    held = {name: a for name, a in given.items() if name in constants}
    return graphs.model([node], fed, outputs, held, opset)


def check(proto, arrays, wanted=None, rtol=1e-5, atol=1e-6):
    """Asserts that the imported model gives the wanted results.

    Args:
        proto: the model.
        arrays: its inputs.
        wanted: results; None asks ONNX's reference, "onnxruntime" that.
        rtol, atol: how far floats may be away.

    Returns:
        The imported model.
    """
    if wanted is None:
        names = [i.name for i in proto.graph.input]
        wanted = ReferenceEvaluator(proto).run(None, dict(zip(names, arrays, strict=True)))
    elif isinstance(wanted, str):
        wanted = graphs.run_exactly(proto, *arrays)
    imported = tfq.onnx.import_model(proto)
    results = imported(list(arrays) if len(arrays) > 1 else arrays[0])
    results = results if isinstance(results, list) else [results]
    assert len(results) == len(wanted)
    for result, expected, symbol in zip(results, wanted, imported.outputs, strict=True):
        result, expected = np.asarray(result), np.asarray(expected)
        assert result.dtype == expected.dtype, (result.dtype, expected.dtype)
        assert result.shape == expected.shape, (result.shape, expected.shape)
        for length, known in zip(result.shape, symbol.shape, strict=True):
            assert known in (None, length), (result.shape, symbol.shape)
        if result.dtype.kind == "f":
            np.testing.assert_allclose(result, expected, rtol, atol)
        else:
            np.testing.assert_array_equal(result, expected)
    return imported


def check_node(op_type, inputs, *, wanted=None, rtol=1e-5, atol=1e-6, **options):
    """Checks a model of one node, see `one_node` and `check`."""
    proto = one_node(op_type, inputs, **options)
    constants = options.get("constants", ())
    arrays = [a for n, a in inputs.items() if a is not None and n not in constants]
    return check(proto, arrays, wanted, rtol, atol)
