"""The node cases that the onnx package generates for the operators we have."""

import functools

import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized
from onnx.backend.test.case.node import collect_testcases

import tf_qops as tfq

OPERATORS = {
    "ConvInteger": tfq.conv_integer,
    "DequantizeLinear": tfq.dequantize_linear,
    "DynamicQuantizeLinear": tfq.dynamic_quantize_linear,
    "MatMulInteger": tfq.matmul_integer,
    "QLinearConv": tfq.qlinear_conv,
    "QLinearMatMul": tfq.qlinear_matmul,
    "QuantizeLinear": tfq.quantize_linear,
}
MODES = {"eager": lambda function: function, "graph": tf.function}
# TensorFlow has no such type; the ONNX importer decodes them to float32.
NOT_IN_TENSORFLOW = {"FLOAT6E2M3", "FLOAT6E3M2", "FLOAT8E8M0"}


def cases():
    """The single nodes of our operators whose types TensorFlow has: (name, node, data sets)."""
    for case in collect_testcases():
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in OPERATORS:
            values = (*case.model.graph.input, *case.model.graph.output)
            types = {onnx.TensorProto.DataType.Name(v.type.tensor_type.elem_type) for v in values}
            if not types & NOT_IN_TENSORFLOW:
                yield case.name, nodes[0], case.data_sets


def array(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def assert_equal(got, want):
    for one, wanted in zip(tf.nest.flatten(got), map(array, want), strict=True):
        one = one.numpy()
        assert one.dtype == wanted.dtype, (one.dtype, wanted.dtype)
        np.testing.assert_array_equal(one.astype(np.float64), wanted.astype(np.float64))


class OnnxBackendTest(parameterized.TestCase):
    @parameterized.named_parameters(
        (f"{name}_{mode}", *case, mode) for name, *case in cases() for mode in MODES
    )
    def test_node(self, node, data_sets, mode):
        options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        for name in {"output_dtype", "precision"} & set(options):
            options[name] = tf.as_dtype(onnx.helper.tensor_dtype_to_np_dtype(options[name]))
        operator = functools.partial(OPERATORS[node.op_type], **options)
        for inputs, outputs in data_sets:
            tensors = [tf.constant(array(value)) for value in inputs]
            assert_equal(MODES[mode](operator)(*tensors), outputs)

    @parameterized.named_parameters(
        (case.name, case.model, case.data_sets)
        for case in collect_testcases()
        if case.name.startswith("test_dynamicquantizelinear") and len(case.model.graph.node) > 1
    )
    def test_the_parts_of_an_operator(self, model, data_sets):
        imported = tfq.onnx.import_model(model)
        for inputs, outputs in data_sets:
            assert_equal(imported(array(inputs[0])), outputs)

    def test_no_case_was_lost(self):
        self.assertGreaterEqual(len(list(cases())), 42)


if __name__ == "__main__":
    absltest.main()
