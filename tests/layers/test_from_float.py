"""QLinearConv*.from_float: exact codes, results near the float layer's."""

import keras
import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract


def built(layer_type, *arguments, channels=4, seed=1, **options):
    """A Keras layer with random weights and bias."""
    layer = layer_type(*arguments, **options)
    rank = layer.rank
    shape = [None] * (rank + 2)
    shape[1 if layer.data_format == "channels_first" else -1] = channels
    layer.build(tuple(shape))
    rng = np.random.default_rng(seed)
    layer.set_weights([rng.normal(size=w.shape).astype(np.float32) for w in layer.weights])
    return layer


def onnx_kernel(layer):
    """The float kernel, [filters, channels / groups, ...], one filter at a time."""
    kernel = layer.get_weights()[0]
    if isinstance(layer, (keras.layers.DepthwiseConv1D, keras.layers.DepthwiseConv2D)):
        channels, multiplier = kernel.shape[-2:]
        return np.stack(
            [kernel[..., c, m][np.newaxis] for c in range(channels) for m in range(multiplier)]
        )
    return np.stack([np.moveaxis(kernel[..., m], -1, 0) for m in range(kernel.shape[-1])])


class CodesTest(parameterized.TestCase):
    @parameterized.product(weight_dtype=("int8", "uint8"), per_channel=(True, False))
    def test_kernel_and_bias(self, weight_dtype, per_channel):
        layer = built(keras.layers.Conv2D, 6, 3)
        quantized = tfq.layers.QLinearConv2D.from_float(
            layer, 0.02, 100, 0.1, 7, per_channel=per_channel, weight_dtype=weight_dtype
        )
        kernel = onnx_kernel(layer)
        largest = np.abs(kernel).max(axis=(1, 2, 3) if per_channel else None)
        scale = largest / np.float32(127)
        zero = {"int8": 0, "uint8": 128}[weight_dtype]
        codes = np.rint(kernel / scale.reshape(-1, 1, 1, 1)) + zero
        np.testing.assert_array_equal(quantized.kernel, codes.astype(weight_dtype))
        np.testing.assert_array_equal(quantized.w_scale, scale)
        np.testing.assert_array_equal(quantized.w_zero_point, np.full_like(scale, zero))
        self.assertEqual(quantized.kernel.dtype, weight_dtype)
        self.assertEqual(np.abs(codes - zero).max(), 127)
        unit = (np.float32(0.02) * scale).astype(np.float64)
        np.testing.assert_array_equal(quantized.bias, np.rint(layer.get_weights()[1] / unit))
        self.assertEqual(quantized.bias.dtype, "int32")

    def test_half_way_biases_go_to_the_even_code(self):
        layer = built(keras.layers.Conv2D, 4, 1, channels=1)
        layer.set_weights([np.full((1, 1, 1, 4), 127.0), np.array([0.5, 1.5, -2.5, 3.0])])
        quantized = tfq.layers.QLinearConv2D.from_float(layer, 1.0, 0, 1.0, 0)
        np.testing.assert_array_equal(quantized.bias, [0, 2, -2, 3])

    @parameterized.parameters(True, False)
    def test_filters_of_zeros_keep_their_bias(self, per_channel):
        layer = built(keras.layers.Conv2D, 3, 3)
        kernel, bias = layer.get_weights()
        kernel[..., 1:] = 0
        kernel[..., 0] /= 1e20  # here too the bias would not fit into int32
        bias[:] = 0.5, -0.75, 0
        layer.set_weights([kernel, bias])
        quantized = tfq.layers.QLinearConv2D.from_float(
            layer, 0.02, 0, 1 / 128, 100, per_channel=per_channel
        )
        y = quantized(np.full((1, 3, 3, 4), 255, np.uint8))
        np.testing.assert_array_equal(np.ravel(y), [164, 4, 100])

    def test_a_layer_of_zeros(self):
        layer = built(keras.layers.Conv2D, 2, 1)
        layer.set_weights([np.zeros_like(w) for w in layer.get_weights()])
        quantized = tfq.layers.QLinearConv2D.from_float(layer, 0.02, 0, 1.0, 5)
        np.testing.assert_array_equal(quantized(np.ones((1, 1, 1, 4), np.uint8)), [[[[5, 5]]]])


class ClosenessTest(parameterized.TestCase):
    @parameterized.parameters(
        (keras.layers.Conv1D, (6, 3), {"padding": "causal", "dilation_rate": 2}),
        (keras.layers.Conv1D, (6, 3), {"padding": "same", "strides": 2, "groups": 2}),
        (keras.layers.Conv2D, (6, 3), {"padding": "same", "strides": 2}),
        (keras.layers.Conv2D, (6, (3, 2)), {"padding": "valid", "groups": 2, "use_bias": False}),
        (keras.layers.Conv2D, (6, 3), {"padding": "same", "dilation_rate": (2, 1)}),
        (keras.layers.Conv3D, (6, 2), {"padding": "same"}),
        (keras.layers.DepthwiseConv1D, (3,), {"depth_multiplier": 2}),
        (keras.layers.DepthwiseConv2D, (3,), {"depth_multiplier": 3, "padding": "same"}),
        (keras.layers.DepthwiseConv2D, ((2, 3),), {"strides": 2}),
    )
    def test_results_are_those_of_exact_codes_and_near_the_float_layer(
        self, layer_type, arguments, options
    ):
        layer = built(layer_type, *arguments, **options)
        rank = layer.rank
        rng = np.random.default_rng(2)
        x_scale, x_zero_point = np.float32(2 / 127), np.int8(3)
        x = rng.integers(-128, 128, (2, *(9, 8, 5)[:rank], 4)).astype(np.int8)
        wanted = layer(contract.dequantize_linear(x, x_scale, x_zero_point)).numpy()
        y_scale, y_zero_point = np.float32((wanted.max() - wanted.min()) / 250), np.uint8(130)
        kind = getattr(tfq.layers, f"QLinearConv{rank}D")
        quantized = kind.from_float(layer, x_scale, x_zero_point, y_scale, y_zero_point)
        self.assertEqual(quantized.name, layer.name)
        y = quantized(x)
        self.assertEqual((y.dtype, y.shape), ("uint8", wanted.shape))
        # Half a step of y, and at most half a step of each weight and of the bias.
        taps = np.prod(quantized.kernel.shape[1:])
        w_scale = np.max(quantized.w_scale)
        bound = y_scale / 2 + (taps * np.abs(x_scale * 131) + x_scale) * w_scale / 2
        floats = contract.dequantize_linear(y.numpy(), y_scale, y_zero_point)
        in_range = (y.numpy() > 0) & (y.numpy() < 255)
        self.assertGreater(in_range.mean(), 0.9)
        self.assertLess(np.abs(floats - wanted)[in_range].max(), bound)
        self.assertLess(np.sqrt(np.mean((floats - wanted)[in_range] ** 2)), y_scale)

    def test_channels_first(self):
        last = built(keras.layers.Conv2D, 6, 3, padding="same", strides=2)
        first = built(
            keras.layers.Conv2D, 6, 3, padding="same", strides=2, data_format="channels_first"
        )
        x = np.random.default_rng(3).integers(0, 256, (2, 4, 7, 6)).astype(np.uint8)
        a = tfq.layers.QLinearConv2D.from_float(first, 0.02, 128, 0.2, 100)(x)
        b = tfq.layers.QLinearConv2D.from_float(last, 0.02, 128, 0.2, 100)(np.moveaxis(x, 1, -1))
        np.testing.assert_array_equal(a, np.moveaxis(b, -1, 1))

    def test_a_relu_is_the_lowest_code(self):
        layer = built(keras.layers.Conv2D, 6, 3, activation="relu")
        x = np.random.default_rng(4).integers(0, 256, (2, 7, 6, 4)).astype(np.uint8)
        wanted = layer(contract.dequantize_linear(x, np.float32(0.02), np.uint8(128))).numpy()
        quantized = tfq.layers.QLinearConv2D.from_float(
            layer, 0.02, 128, wanted.max() / 255, np.int8(-128)
        )
        floats = (quantized(x).numpy() + 128.0) * (wanted.max() / 255)
        self.assertLess(np.abs(floats - wanted).max(), 0.02 * wanted.max())

    def test_half_precision_weights(self):
        layer = built(keras.layers.Conv2D, 2, 3, dtype="float16")
        quantized = tfq.layers.QLinearConv2D.from_float(layer, 0.02, 128, 0.2, 100)
        kernel = onnx_kernel(layer).astype(np.float32)
        np.testing.assert_array_equal(
            quantized.w_scale, np.abs(kernel).max((1, 2, 3)) / np.float32(127)
        )


class RefusalsTest(parameterized.TestCase):
    @parameterized.parameters(("relu", 3), ("tanh", 0))
    def test_activations_that_codes_do_not_imply(self, activation, y_zero_point):
        layer = built(keras.layers.Conv2D, 2, 1, activation=activation)
        with self.assertRaisesRegex(ValueError, f"Received: activation={activation}, y_zero_"):
            tfq.layers.QLinearConv2D.from_float(layer, 1.0, 0, 1.0, y_zero_point)

    @parameterized.parameters(
        (keras.layers.Conv1D, (2, 1), "QLinearConv2D", "a Conv2D or DepthwiseConv2D"),
        (keras.layers.SeparableConv2D, (2, 1), "QLinearConv2D", "Received: SeparableConv2D"),
        (keras.layers.Dense, (2,), "QLinearConv3D", "a Conv3D. Received: Dense"),
    )
    def test_other_layers(self, layer_type, arguments, kind, message):
        with self.assertRaisesRegex(TypeError, message):
            getattr(tfq.layers, kind).from_float(layer_type(*arguments), 1.0, 0, 1.0, 0)

    def test_other_weight_types_and_layers_without_weights(self):
        layer = keras.layers.Conv2D(2, 1)
        with self.assertRaisesRegex(ValueError, "must be built"):
            tfq.layers.QLinearConv2D.from_float(layer, 1.0, 0, 1.0, 0)
        layer.build((None, 1, 1, 1))
        with self.assertRaisesRegex(ValueError, "Received: weight_dtype='int4'"):
            tfq.layers.QLinearConv2D.from_float(layer, 1.0, 0, 1.0, 0, weight_dtype="int4")


if __name__ == "__main__":
    absltest.main()
