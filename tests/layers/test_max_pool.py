"""MaxPool: ONNX's windows on floats and integers, beside onnx.reference and ONNX Runtime."""

import keras
import numpy as np
import onnx
import onnxruntime
import tensorflow as tf
from absl.testing import absltest, parameterized
from onnx.reference import ReferenceEvaluator

import tf_qops as tfq

_CASES = (
    ("plain", (6, 7), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("asymmetric_pads", (6, 7), {"kernel_shape": [3, 3], "pads": [0, 2, 1, 1]}),
    ("ceil", (6, 7), {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1}),
    (
        "ceil_last_window_in_the_padding",  # of 3 windows the last would start in the padding
        (4, 4),
        {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 0, 1, 1], "ceil_mode": 1},
    ),
    ("dilations", (9, 8), {"kernel_shape": [2, 3], "dilations": [3, 2], "strides": [1, 2]}),
    ("same_upper", (6, 7), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    ("same_lower", (6, 7), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    ("one_dimension", (9,), {"kernel_shape": [4], "strides": [3], "pads": [1, 2]}),
    ("three_dimensions", (4, 5, 6), {"kernel_shape": [2, 2, 3], "strides": [2, 1, 2]}),
)
_DTYPES = ("int8", "uint8", "float32")


def onnx_model(attributes, shape, dtype):
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MaxPool", ["x"], ["y"], **attributes)],
        "pool",
        [onnx.helper.make_tensor_value_info("x", kind, shape)],
        [onnx.helper.make_tensor_value_info("y", kind, None)],
    )
    opset = [onnx.helper.make_opsetid("", 22)]
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=10)


class MaxPoolTest(parameterized.TestCase):
    @parameterized.product(case=_CASES, dtype=_DTYPES)
    def test_values_are_those_of_onnx_runtime(self, case, dtype):
        _, spatial, attributes = case
        rng = np.random.default_rng(1)
        x = rng.integers(-100, 0, (2, 3, *spatial)).astype(dtype)  # below 0: padding must not win
        session = onnxruntime.InferenceSession(
            onnx_model(attributes, x.shape, dtype).SerializeToString()
        )
        (expected,) = session.run(None, {"x": x})
        layer = tfq.layers.MaxPool(data_format="channels_first", **attributes)
        np.testing.assert_array_equal(layer(x), expected)
        self.assertEqual(layer(x).dtype, dtype)
        self.assertEqual(layer.compute_output_shape(x.shape), expected.shape)

    def test_values_are_those_of_the_reference(self):
        attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 0, 1]}
        x = np.random.default_rng(2).normal(size=(1, 2, 7, 8)).astype(np.float32)
        (expected,) = ReferenceEvaluator(onnx_model(attributes, x.shape, "float32")).run(
            None, {"x": x}
        )
        layer = tfq.layers.MaxPool(data_format="channels_first", **attributes)
        np.testing.assert_array_equal(layer(x), expected)

    @parameterized.parameters("channels_first", "channels_last")
    def test_unknown_places_give_the_same_values(self, data_format):
        order = [0, 2, 3, 1] if data_format == "channels_last" else [0, 1, 2, 3]
        x = np.random.default_rng(3).integers(0, 256, (1, 2, 7, 8)).astype(np.uint8)
        for _, spatial, attributes in _CASES:
            if len(spatial) == 2:
                known = tfq.layers.MaxPool(data_format="channels_first", **attributes)
                layer = tfq.layers.MaxPool(data_format=data_format, **attributes)
                unknown = tf.function(layer, input_signature=[tf.TensorSpec([None] * 4, tf.uint8)])
                y = unknown(tf.transpose(x, order))
                np.testing.assert_array_equal(y, tf.transpose(known(x), order))

    def test_configuration(self):
        layer = tfq.layers.MaxPool([2, 3], [1, 2], [0, 1, 1, 0], ceil_mode=True, dilations=[1, 2])
        again = tfq.layers.MaxPool.from_config(layer.get_config())
        self.assertEqual(again.get_config(), layer.get_config())

    def test_rank_is_checked(self):
        with self.assertRaisesRegex(ValueError, "ndim"):
            tfq.layers.MaxPool([2, 2])(keras.Input((4, 3)))


if __name__ == "__main__":
    absltest.main()
