"""The node cases that the onnx package generates for the operators we have."""

import numpy as np
import onnx
import tensorflow as tf
from absl.testing import absltest, parameterized
from onnx.backend.test.case.node import collect_testcases

import tf_qops as tfq

OPERATORS = ("DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear", "QLinearConv")
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


def run(node, inputs):
    options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    tensors = [tf.constant(array(value)) for value in inputs]
    if node.op_type == "DynamicQuantizeLinear":
        return tfq.dynamic_quantize_linear(*tensors)
    if node.op_type == "QLinearConv":
        return tfq.qlinear_conv(*tensors, **options)
    for name in ("output_dtype", "precision"):
        if name in options:
            options[name] = tf.as_dtype(onnx.helper.tensor_dtype_to_np_dtype(options[name]))
    if node.op_type == "QuantizeLinear":
        return tfq.quantize_linear(*tensors, **options)
    return tfq.dequantize_linear(*tensors, **options)


class OnnxBackendTest(parameterized.TestCase):
    @parameterized.named_parameters(cases())
    def test_node(self, node, data_sets):
        for inputs, outputs in data_sets:
            for got, want in zip(tf.nest.flatten(run(node, inputs)), outputs, strict=True):
                got, want = got.numpy(), array(want)
                self.assertEqual(got.dtype, want.dtype)
                np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))

    def test_no_case_was_lost(self):
        self.assertGreaterEqual(len(list(cases())), 30)


if __name__ == "__main__":
    absltest.main()
