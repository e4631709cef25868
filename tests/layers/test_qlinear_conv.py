"""QLinearConv layers: values in every padding and layout, shapes, configurations, errors."""

import json

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract

LAYERS = (tfq.layers.QLinearConv1D, tfq.layers.QLinearConv2D, tfq.layers.QLinearConv3D)


def make_layer(rng, filters=6, channels=4, rank=2, **options):
    """A layer with random weights, zero points everywhere, one scale per filter."""
    groups = options.get("groups", 1)
    layer = LAYERS[rank - 1](
        filters,
        options.pop("kernel_size", 3),
        x_scale=0.02,
        x_zero_point=np.uint8(120),
        w_scale=rng.uniform(0.01, 0.03, filters).astype(np.float32),
        w_zero_point=rng.integers(-5, 5, filters).astype(np.int8),
        y_scale=0.1,
        y_zero_point=np.int8(-3),
        **options,
    )
    places = (None,) * rank
    layer.build(
        (None, channels, *places)
        if layer.data_format == "channels_first"
        else (None, *places, channels)
    )
    shape = (filters, channels // groups, *layer.kernel_size)
    layer.kernel.assign(rng.integers(-128, 128, shape).astype(np.int8))
    if layer.use_bias:
        layer.bias.assign(rng.integers(-3000, 3000, filters).astype(np.int32))
    return layer


def expected(layer, x, pads):
    """What the contract gives for an NCHW input."""
    values = {w.name: w.numpy() for w in layer.weights}
    order = ("x_scale", "x_zero_point", "kernel", "w_scale", "w_zero_point")
    return contract.qlinear_conv(
        x,
        *(values[name] for name in (*order, "y_scale", "y_zero_point")),
        values.get("bias"),
        strides=layer.strides,
        dilations=layer.dilation_rate,
        pads=pads,
        group=layer.groups,
    )


class ValuesTest(parameterized.TestCase):
    @parameterized.product(
        case=(
            ({"padding": "valid"}, [0, 0, 0, 0]),
            ({"padding": "same"}, [1, 1, 1, 1]),
            ({"padding": "same", "strides": 2}, [0, 1, 1, 1]),  # 8 x 7: the odd row at the end
            ({"padding": "same_lower", "strides": 2}, [1, 1, 0, 1]),
            ({"padding": (2, 0, 1, 3), "strides": (1, 2)}, [2, 0, 1, 3]),
            ({"padding": "same", "dilation_rate": 2}, [2, 2, 2, 2]),
            ({"groups": 2, "use_bias": False}, [0, 0, 0, 0]),
        ),
        data_format=("channels_first", "channels_last"),
    )
    def test_values_are_those_of_the_contract(self, case, data_format):
        options, pads = case
        rng = np.random.default_rng(2)
        layer = make_layer(rng, data_format=data_format, **options)
        x = rng.integers(0, 256, (2, 4, 8, 7)).astype(np.uint8)
        if data_format == "channels_first":
            y = layer(x)
        else:
            y = tf.transpose(layer(tf.transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2])
        np.testing.assert_array_equal(y, expected(layer, x, pads))
        self.assertEqual(y.dtype, tf.int8)

    def test_depthwise(self):
        rng = np.random.default_rng(3)
        layer = make_layer(rng, filters=8, groups=4, data_format="channels_first")
        x = rng.integers(0, 256, (1, 4, 5, 5)).astype(np.uint8)
        np.testing.assert_array_equal(layer(x), expected(layer, x, [0] * 4))

    @parameterized.product(
        case=(
            (1, {"strides": 2, "padding": (2, 1)}, [2, 1]),
            (1, {"dilation_rate": 3, "padding": "same", "groups": 2}, [3, 3]),
            (3, {"padding": "valid", "strides": (2, 1, 1)}, [0] * 6),
            (3, {"padding": (1, 0, 2, 0, 1, 1), "groups": 4, "filters": 8}, [1, 0, 2, 0, 1, 1]),
        ),
        data_format=("channels_first", "channels_last"),
    )
    def test_one_and_three_dimensions(self, case, data_format):
        rank, options, pads = case
        rng = np.random.default_rng(8)
        layer = make_layer(rng, rank=rank, data_format=data_format, **options)
        x = rng.integers(0, 256, (2, 4, *(8, 5, 4)[:rank])).astype(np.uint8)
        wanted = expected(layer, x, pads)
        if data_format == "channels_last":
            x, wanted = np.moveaxis(x, 1, -1), np.moveaxis(wanted, 1, -1)
        np.testing.assert_array_equal(layer(x), wanted)
        y = layer(keras.Input(batch_shape=(None, *x.shape[1:]), dtype="uint8"))
        self.assertEqual((y.shape, y.dtype), ((None, *wanted.shape[1:]), "int8"))
        self.assertEqual(layer.input_spec.ndim, rank + 2)

    def test_nothing_is_cast_under_mixed_precision(self):
        rng = np.random.default_rng(4)
        layer = make_layer(rng, data_format="channels_first", dtype="mixed_float16")
        x = rng.integers(0, 256, (1, 4, 5, 5)).astype(np.uint8)
        np.testing.assert_array_equal(layer(x), expected(layer, x, [0] * 4))
        self.assertEqual(layer.w_scale.dtype, "float32")


class DtypesTest(parameterized.TestCase):
    def test_numbers_take_the_dtype_of_input_kernel_and_output(self):
        layer = tfq.layers.QLinearConv2D(
            1, 1, x_scale=1, w_scale=1, y_scale=1, x_zero_point=-1, output_dtype="int8"
        )
        y = layer(np.zeros((1, 1, 1, 1), np.int8))
        dtypes = {w.name: w.dtype for w in layer.weights}
        self.assertEqual(
            dtypes,
            {
                "kernel": "int8",
                "bias": "int32",
                "x_scale": "float32",
                "x_zero_point": "int8",
                "w_scale": "float32",
                "w_zero_point": "int8",
                "y_scale": "float32",
                "y_zero_point": "int8",
            },
        )
        self.assertEqual(y.dtype, tf.int8)

    def test_the_kernel_has_the_dtype_of_its_zero_point(self):
        layer = tfq.layers.QLinearConv2D(
            1, 1, x_scale=1, w_scale=1, w_zero_point=np.uint8(128), y_scale=1
        )
        layer.build((None, 4, 4, 2))
        self.assertEqual((layer.kernel.dtype, layer.kernel.shape), ("uint8", (1, 2, 1, 1)))
        self.assertEqual(layer.y_zero_point.dtype, "uint8")

    def test_kernels_keep_onnx_layout_whatever_the_data_format(self):
        for data_format in ("channels_first", "channels_last"):
            layer = make_layer(np.random.default_rng(5), groups=2, data_format=data_format)
            self.assertEqual(layer.kernel.shape, (6, 2, 3, 3))
        self.assertFalse(layer.supports_jit)


class SymbolicTest(parameterized.TestCase):
    @parameterized.parameters(
        ("channels_last", (None, 9, None, 4), (None, 5, None, 6)),
        ("channels_first", (2, 4, 9, 8), (2, 6, 5, 4)),
    )
    def test_shapes_and_dtype_of_a_symbolic_call(self, data_format, shape, wanted):
        layer = make_layer(
            np.random.default_rng(6), data_format=data_format, strides=2, padding="same"
        )
        y = layer(keras.Input(batch_shape=shape, dtype="uint8"))
        self.assertEqual((y.shape, y.dtype), (wanted, "int8"))
        self.assertEqual(layer.compute_output_shape(shape), wanted)

    def test_the_data_format_is_that_of_keras(self):
        layer = tfq.layers.QLinearConv2D(1, 1, x_scale=1, w_scale=1, y_scale=1)
        self.assertEqual(layer.data_format, keras.config.image_data_format())


class ConfigTest(parameterized.TestCase):
    @parameterized.parameters(
        {},
        {"padding": [1, 0, 2, 1], "strides": (2, 1), "data_format": "channels_last"},
        {"groups": 2, "use_bias": False, "dilation_rate": 2, "padding": "same"},
        {"rank": 1, "padding": [2, 1]},
        {"rank": 3, "kernel_size": (1, 2, 3), "strides": (3, 2, 1)},
    )
    def test_the_configuration_makes_a_layer_with_the_same_parameters(self, **options):
        layer = make_layer(np.random.default_rng(7), **options)
        text = json.dumps(keras.saving.serialize_keras_object(layer))
        again = keras.saving.deserialize_keras_object(json.loads(text))
        self.assertEqual(json.loads(json.dumps(again.get_config())), json.loads(text)["config"])
        for one, other in zip(again.weights, layer.weights, strict=True):
            self.assertEqual(
                (one.name, one.dtype, one.shape), (other.name, other.dtype, other.shape)
            )
            if one.name not in ("kernel", "bias"):
                np.testing.assert_array_equal(one, other)


class ErrorsTest(parameterized.TestCase):
    @parameterized.named_parameters(
        ("padding_word", {"padding": "full"}, "padding must be"),
        ("padding_length", {"padding": [1, 1]}, "padding must be"),
        ("padding_negative", {"padding": [-1, 0, 0, 0]}, "padding must be"),
        ("strides", {"strides": 0}, "strides must be 2 positive"),
        ("kernel_size", {"kernel_size": (1, 2, 3)}, "kernel_size must be 2 positive"),
        ("dilation_rate", {"dilation_rate": (1, 0)}, "dilation_rate must be 2 positive"),
        ("groups", {"groups": 2, "filters": 3}, "multiple of groups"),
        ("data_format", {"data_format": "NCHW"}, "data_format must be"),
        ("output", {"output_dtype": "int8", "y_zero_point": np.uint8(0)}, "output_dtype=int8"),
        ("zero_point", {"w_zero_point": 200}, "w_zero_point must hold values of int8"),
    )
    def test_wrong_arguments_are_named(self, arguments, message):
        arguments = {"filters": 2, "kernel_size": 1, "x_scale": 1, "w_scale": 1} | arguments
        with self.assertRaisesRegex(ValueError, message):
            tfq.layers.QLinearConv2D(**{"y_scale": 1} | arguments)

    @parameterized.parameters([(None, None, None, 3)], [(None, 4, 4, None)])
    def test_channels_must_be_known_and_fit_the_groups(self, shape):
        layer = tfq.layers.QLinearConv2D(2, 1, groups=2, x_scale=1, w_scale=1, y_scale=1)
        with self.assertRaisesRegex(ValueError, "number of channels"):
            layer.build(shape)

    def test_floats_are_refused(self):
        layer = tfq.layers.QLinearConv2D(1, 1, x_scale=1, w_scale=1, y_scale=1)
        with self.assertRaises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
            layer(keras.Input((4, 4, 1)))


if __name__ == "__main__":
    absltest.main()
