"""QLinearDense and the dynamic layers beside plain numpy, in eager, symbolic and saved form."""

import json
import tempfile

import keras
import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract, reload

DYNAMIC_CONVOLUTIONS = (
    tfq.layers.DynamicConv1D,
    tfq.layers.DynamicConv2D,
    tfq.layers.DynamicConv3D,
)


def make_dense(rng, **options):
    layer = tfq.layers.QLinearDense(
        5,
        x_scale=0.02,
        x_zero_point=np.uint8(120),
        w_scale=rng.uniform(0.01, 0.03, 5).astype(np.float32),
        w_zero_point=rng.integers(-5, 5, 5).astype(np.int8),
        y_scale=0.1,
        y_zero_point=np.int8(-3),
        **options,
    )
    layer.build((None, 7))
    layer.assign(kernel=rng.integers(-128, 128, (7, 5)).astype(np.int8))
    if layer.use_bias:
        layer.assign(bias=rng.integers(-3000, 3000, 5).astype(np.int32))
    return layer


def expected_dense(layer, x):
    """The product as a convolution of one place each, which the contract has."""
    v = {w.name: w.numpy() for w in layer.weights}
    y = contract.qlinear_conv(
        x.reshape(-1, x.shape[-1], 1),
        v["x_scale"],
        v["x_zero_point"],
        v["kernel"].T[..., np.newaxis],
        *(v[name] for name in ("w_scale", "w_zero_point", "y_scale", "y_zero_point")),
        v.get("bias"),
        strides=[1],
        dilations=[1],
        pads=[0, 0],
        group=1,
    )
    return y.reshape(*x.shape[:-1], -1)


def dynamically_quantized(x):
    """x in codes, their scale and zero point, as ONNX's DynamicQuantizeLinear says."""
    low, high = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    scale = np.float32((high - low) / np.float32(255))
    zero_point = np.rint(np.clip(-low / scale, 0, 255)).astype(np.float32)
    codes = np.clip(np.rint(x / scale) + zero_point, 0, 255)
    return codes.astype(np.int64), scale, int(zero_point)


def make_dynamic_conv(rng, rank=2, channels=4, groups=1, **options):
    layer = DYNAMIC_CONVOLUTIONS[rank - 1](
        6,
        2,
        groups=groups,
        w_scale=rng.uniform(0.01, 0.03, 6).astype(np.float32),
        w_zero_point=rng.integers(100, 150, 6).astype(np.uint8),
        **options,
    )
    shape = [None] * (rank + 2)
    shape[1 if layer.data_format == "channels_first" else -1] = channels
    layer.build(tuple(shape))
    kernel_shape = (6, channels // groups, *[2] * rank)
    layer.assign(kernel=rng.integers(0, 256, kernel_shape).astype(np.uint8))
    if layer.use_bias:
        layer.assign(bias=rng.normal(size=6).astype(np.float32))
    return layer


def expected_dynamic_conv(layer, x):
    """Sums window by window; x has its channels first, strides are 1, nothing is padded."""
    codes, scale, zero_point = dynamically_quantized(x)
    rank, group_size = x.ndim - 2, x.shape[1] // layer.groups
    kernel = layer.kernel.numpy().astype(np.int64)
    kernel -= layer.w_zero_point.numpy().astype(np.int64).reshape(-1, *[1] * (rank + 1))
    windows = np.lib.stride_tricks.sliding_window_view(
        codes - zero_point, (2,) * rank, axis=tuple(range(2, x.ndim))
    )
    sums = []
    for i, filter_ in enumerate(kernel):
        first = i // (len(kernel) // layer.groups) * group_size
        part = windows[:, first : first + group_size]
        weights = filter_.reshape(group_size, *[1] * rank, *filter_.shape[1:])
        sums.append((part * weights).sum(axis=(1, *range(-rank, 0))))
    along = (-1, *[1] * rank)
    factor = (scale * layer.w_scale.numpy()).reshape(along)
    y = np.stack(sums, 1).astype(np.float32) * factor
    return y if layer.bias is None else y + layer.bias.numpy().reshape(along)


class QLinearDenseTest(parameterized.TestCase):
    @parameterized.product(shape=((3, 7), (2, 3, 7), (2, 1, 3, 7)), use_bias=(True, False))
    def test_values_are_those_of_the_contract(self, shape, use_bias):
        rng = np.random.default_rng(1)
        layer = make_dense(rng, use_bias=use_bias)
        x = rng.integers(0, 256, shape).astype(np.uint8)
        np.testing.assert_array_equal(layer(x), expected_dense(layer, x))
        y = layer(keras.Input(batch_shape=(None, *shape[1:]), dtype="uint8"))
        self.assertEqual((y.shape, y.dtype), ((None, *shape[1:-1], 5), "int8"))
        self.assertEqual(layer.compute_output_shape((None, 7)), (None, 5))

    @parameterized.product(weight_dtype=("int8", "uint8"), per_channel=(True, False))
    def test_from_float_is_near_the_float_layer(self, weight_dtype, per_channel):
        rng = np.random.default_rng(2)
        dense = keras.layers.Dense(5, activation="relu", bias_initializer="normal")
        codes = rng.integers(0, 256, (20, 7)).astype(np.uint8)
        wanted = dense((codes.astype(np.float32) - 120) * 0.02).numpy()
        layer = tfq.layers.QLinearDense.from_float(
            dense, 0.02, 120, 0.05, 0, per_channel=per_channel, weight_dtype=weight_dtype
        )
        self.assertEqual((layer.name, layer.kernel.dtype), (dense.name, weight_dtype))
        self.assertEqual(layer.w_scale.shape, (5,) if per_channel else ())
        np.testing.assert_allclose(layer(codes).numpy() * 0.05, wanted, atol=0.06)

    def test_wrong_arguments_are_named(self):
        scales = {"x_scale": 1, "w_scale": 1, "y_scale": 1}
        with self.assertRaisesRegex(ValueError, "units must be positive. Received: units=0"):
            tfq.layers.QLinearDense(0, **scales)
        with self.assertRaisesRegex(ValueError, "y_zero_point must have the dtype"):
            tfq.layers.QLinearDense(1, **scales, y_zero_point=np.uint8(1), output_dtype="int8")
        with self.assertRaisesRegex(ValueError, r"number of inputs must be known.*None, None"):
            tfq.layers.QLinearDense(1, **scales).build((None, None))
        with self.assertRaisesRegex(TypeError, "must be a Dense. Received: ReLU"):
            tfq.layers.QLinearDense.from_float(keras.layers.ReLU(), 1, 0, 1, 0)
        dense = keras.layers.Dense(1, activation="tanh")
        with self.assertRaisesRegex(ValueError, "must be built"):
            tfq.layers.QLinearDense.from_float(dense, 1, 0, 1, 0)
        dense.build((None, 2))
        with self.assertRaisesRegex(ValueError, "activation must be linear.*activation=tanh"):
            tfq.layers.QLinearDense.from_float(dense, 1, 0, 1, 0)


class DynamicDenseTest(parameterized.TestCase):
    @parameterized.parameters(((3, 7),), ((2, 3, 7),))
    def test_values_are_those_of_numpy(self, shape):
        rng = np.random.default_rng(3)
        layer = tfq.layers.DynamicDense(
            5, w_scale=rng.uniform(0.01, 0.03, 5).astype(np.float32), w_zero_point=np.int8(4)
        )
        x = rng.normal(size=shape).astype(np.float32)
        layer.build(x.shape)
        kernel = rng.integers(-128, 128, (7, 5)).astype(np.int8)
        bias = rng.normal(size=5).astype(np.float32)
        layer.assign(kernel=kernel, bias=bias)
        codes, scale, zero_point = dynamically_quantized(x)
        sums = (codes - zero_point) @ (kernel.astype(np.int64) - 4)
        wanted = sums.astype(np.float32) * (scale * layer.w_scale.numpy()) + bias
        np.testing.assert_allclose(layer(x), wanted, rtol=1e-6, atol=1e-6)

    @parameterized.product(weight_dtype=("int8", "uint8"), use_bias=(True, False))
    def test_from_float_is_near_the_float_layer(self, weight_dtype, use_bias):
        dense = keras.layers.Dense(5, "tanh", use_bias, bias_initializer="normal")
        x = np.random.default_rng(4).normal(size=(20, 7)).astype(np.float32)
        wanted = dense(x).numpy()
        layer = tfq.layers.DynamicDense.from_float(dense, weight_dtype=weight_dtype)
        np.testing.assert_allclose(layer(x), wanted, atol=0.05)
        again = keras.layers.deserialize(json.loads(json.dumps(keras.layers.serialize(layer))))
        self.assertEqual(again.get_config(), layer.get_config())

    def test_the_output_has_the_compute_dtype(self):
        layer = tfq.layers.DynamicDense(2, w_scale=1.0, dtype="mixed_float16")
        y = layer(keras.Input((3,)))
        self.assertEqual((y.dtype, y.shape), ("float16", (None, 2)))


class DynamicConvTest(parameterized.TestCase):
    @parameterized.product(
        rank=(1, 2, 3),
        data_format=("channels_first", "channels_last"),
        options=({}, {"groups": 2, "use_bias": False}),
    )
    def test_values_are_those_of_numpy(self, rank, data_format, options):
        rng = np.random.default_rng(5)
        layer = make_dynamic_conv(rng, rank, data_format=data_format, **options)
        x = rng.normal(size=(2, 4, *(5, 4, 3)[:rank])).astype(np.float32)
        wanted = expected_dynamic_conv(layer, x)
        if data_format == "channels_last":
            x, wanted = np.moveaxis(x, 1, -1), np.moveaxis(wanted, 1, -1)
        np.testing.assert_allclose(layer(x), wanted, rtol=1e-6, atol=1e-6)
        y = layer(keras.Input(batch_shape=(None, *x.shape[1:])))
        self.assertEqual((y.shape, y.dtype), ((None, *wanted.shape[1:]), "float32"))

    @parameterized.parameters(
        (keras.layers.Conv1D(6, 3, padding="causal", dilation_rate=2), (2, 9, 4)),
        (keras.layers.Conv2D(6, 3, strides=2, padding="same", activation="relu"), (2, 8, 7, 4)),
        (keras.layers.DepthwiseConv2D(3, depth_multiplier=2), (2, 8, 7, 4)),
        (keras.layers.Conv3D(6, 2, use_bias=False), (2, 4, 4, 4, 2)),
    )
    def test_from_float_is_near_the_float_layer(self, conv, shape):
        x = np.random.default_rng(6).normal(size=shape).astype(np.float32)
        wanted = conv(x).numpy()
        layer = DYNAMIC_CONVOLUTIONS[x.ndim - 3].from_float(conv)
        np.testing.assert_allclose(layer(x), wanted, atol=0.06)
        self.assertEqual(layer.activation, conv.activation)

    def test_wrong_arguments_are_named(self):
        with self.assertRaisesRegex(ValueError, "padding must be"):
            tfq.layers.DynamicConv2D(1, 1, padding="full", w_scale=1)
        with self.assertRaisesRegex(TypeError, "must be a Conv1D or DepthwiseConv1D"):
            tfq.layers.DynamicConv1D.from_float(keras.layers.Dense(1))
        conv = keras.layers.Conv1D(1, 1)
        conv.build((None, 1, 1))
        with self.assertRaisesRegex(ValueError, "weight_dtype must be one of"):
            tfq.layers.DynamicConv1D.from_float(conv, weight_dtype="int4")


class SavingTest(parameterized.TestCase):
    def test_a_fresh_process_gives_the_same_bits(self):
        rng = np.random.default_rng(7)
        x = keras.Input((6, 5, 4))
        y = make_dynamic_conv(rng, data_format="channels_last", activation="relu")(x)
        y = keras.layers.GlobalAveragePooling2D()(y)
        y = tfq.layers.DynamicDense(7, w_scale=np.float32(0.02))(y)
        q = tfq.layers.QuantizeLinear(0.02, 120, output_dtype="uint8")(y)
        y = tfq.layers.DequantizeLinear(0.1, np.int8(-3))(make_dense(rng)(q))
        model = keras.Model(x, y)
        model.layers[3].assign(kernel=rng.integers(-128, 128, (6, 7)).astype(np.int8))
        value = rng.normal(size=(2, 6, 5, 4)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            outputs = reload.outputs(folder, {"model": (model, value)})
        for kind in reload.KINDS:
            np.testing.assert_array_equal(outputs["model", kind], model(value))


if __name__ == "__main__":
    absltest.main()
