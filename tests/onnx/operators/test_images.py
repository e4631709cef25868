"""Operators of images: convolutions, pooling, normalizations, padding, blocks of pixels."""

import numpy as np
from absl.testing import absltest, parameterized

from tests.onnx.operators import compare

RNG = np.random.default_rng(1)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


class ConvolutionsTest(parameterized.TestCase):
    @parameterized.product(
        case=(
            ((7, 6), (3, 2), {}),
            ((7, 6), (3, 3), {"pads": [1, 2, 0, 1], "strides": [2, 1]}),
            ((7, 6), (3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
            ((7, 6), (3, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
            ((7, 6), (2, 2), {"auto_pad": "VALID", "dilations": [2, 1]}),
            ((9, 9), (2, 2), {"dilations": [2, 2], "strides": [2, 2]}),
            ((7,), (3,), {"pads": [1, 1], "strides": [2]}),
            ((4, 5, 6), (2, 2, 3), {"pads": [1, 0, 1, 0, 1, 1]}),
            ((1, 9), (1, 3), {"strides": [1, 2]}),
        ),
        group=(1, 2, 4),
        constants=(("w", "b"), ()),
    )
    def test_conv(self, case, group, constants):
        places, kernel, attributes = case
        inputs = {"x": floats(2, 4, *places), "w": floats(8, 4 // group, *kernel), "b": floats(8)}
        compare.check_node(
            "Conv", inputs, constants=constants, group=group, wanted="onnxruntime", rtol=1e-4,
            atol=1e-5, **attributes,
        )  # fmt: skip

    def test_conv_without_bias_and_with_symbolic_places(self):
        inputs = {"x": floats(2, 4, 7, 6), "w": floats(3, 4, 3, 3)}
        for auto_pad in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
            proto = compare.one_node("Conv", inputs, constants=("w",), auto_pad=auto_pad,
                                     strides=[2, 2])  # fmt: skip
            for i in (0, 2, 3):
                proto.graph.input[0].type.tensor_type.shape.dim[i].dim_param = f"d{i}"
            compare.check(proto, [inputs["x"]], "onnxruntime", 1e-4, 1e-5)

    @parameterized.product(
        case=(
            ((3, 4), (3, 2), {}),
            ((3, 4), (3, 3), {"strides": [2, 3]}),
            ((3, 4), (3, 3), {"strides": [2, 2], "pads": [1, 0, 1, 2]}),
            ((3, 4), (3, 3), {"strides": [3, 2], "output_padding": [1, 1]}),
            ((3, 4), (2, 2), {"dilations": [2, 1], "strides": [1, 2]}),
            ((3, 4), (3, 3), {"strides": [2, 2], "output_shape": [7, 8]}),
            ((3, 4), (3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            ((3, 4), (3, 3), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
            ((3, 4), (1, 1), {"strides": [2, 2]}),
            ((5,), (4,), {"strides": [2], "pads": [1, 1]}),
            ((2, 3, 2), (2, 2, 2), {"strides": [2, 2, 2]}),
        ),
        group=(1, 2),
    )
    def test_conv_transpose(self, case, group):
        places, kernel, attributes = case
        inputs = {"x": floats(2, 4, *places), "w": floats(4, 6 // group, *kernel), "b": floats(6)}
        compare.check_node(
            "ConvTranspose", inputs, constants=("w", "b"), group=group, wanted="onnxruntime",
            rtol=1e-4, atol=1e-5, **attributes,
        )  # fmt: skip


class PoolingTest(parameterized.TestCase):
    @parameterized.parameters(
        {},
        {"strides": [2, 3]},
        {"pads": [1, 0, 0, 1]},
        {"pads": [1, 0, 0, 1], "count_include_pad": 1},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"ceil_mode": 1, "strides": [2, 2]},
        {"ceil_mode": 1, "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1},
        {"dilations": [2, 1]},
    )
    def test_average_pool(self, **attributes):
        compare.check_node("AveragePool", {"x": floats(2, 3, 8, 7)}, kernel_shape=[3, 2],
                           wanted="onnxruntime", **attributes)  # fmt: skip

    @parameterized.parameters(((9,), [2]), ((4, 5, 6), [2, 1, 2]))
    def test_average_pool_of_other_ranks(self, places, kernel):
        x = floats(1, 2, *places)
        compare.check_node("AveragePool", {"x": x}, kernel_shape=kernel, wanted="onnxruntime")

    @parameterized.product(spatial=(1, 2, 3), shapes=(None, "symbolic"))
    def test_global_pools(self, spatial, shapes):
        x = floats(2, 3, 4, 5, 6)[(...,) + (0,) * (3 - spatial)]
        for op_type in ("GlobalMaxPool", "GlobalLpPool"):
            if shapes and op_type == "GlobalLpPool":
                continue
            compare.check_node(op_type, {"x": x}, wanted="onnxruntime", shapes=shapes)


class NormalizationsTest(parameterized.TestCase):
    @parameterized.product(shape=((4, 3), (2, 3, 5), (2, 3, 4, 5)), constant=(True, False))
    def test_batch_normalization(self, shape, constant):
        rest = {n: np.abs(floats(3)) for n in ("scale", "bias", "mean", "var")}
        compare.check_node(
            "BatchNormalization", {"x": floats(*shape)} | rest, constants=tuple(rest) * constant
        )

    @parameterized.product(axis=(-1, 1, 2), bias=(True, False), constant=(True, False))
    def test_layer_normalization(self, axis, bias, constant):
        x = floats(2, 3, 4)
        rest = {"scale": floats(*x.shape[axis:]), "b": floats(*x.shape[axis:]) if bias else None}
        if not bias:
            del rest["b"]
        constants = tuple(rest) * constant
        compare.check_node("LayerNormalization", {"x": x} | rest, constants=constants, axis=axis)

    @parameterized.parameters(1, 2, -1)
    def test_rms_normalization(self, axis):
        x = floats(2, 3, 4)
        inputs = {"x": x, "scale": floats(*x.shape[axis:])}
        compare.check_node("RMSNormalization", inputs, opset=23, axis=axis)

    def test_instance_normalization(self):
        inputs = {"x": floats(2, 3, 4, 5), "scale": floats(3), "bias": floats(3)}
        compare.check_node("InstanceNormalization", inputs, epsilon=1e-3)

    @parameterized.parameters((18, 2), (21, 4))
    def test_group_normalization_scales_groups_before_version_21(self, opset, length):
        inputs = {"x": floats(2, 4, 3, 5), "scale": floats(length), "bias": floats(length)}
        wanted = None if opset == 21 else [self._by_group(*inputs.values())]
        compare.check_node("GroupNormalization", inputs, opset=opset, num_groups=2, wanted=wanted)

    @staticmethod
    def _by_group(x, scale, bias):
        parted = x.reshape(2, 2, -1)
        y = parted - parted.mean(-1, keepdims=True)
        y /= np.sqrt(parted.var(-1, keepdims=True) + 1e-5)
        return (y * scale[:, None] + bias[:, None]).reshape(x.shape)

    @parameterized.parameters(1, 2)
    def test_lp_normalization(self, p):
        x = floats(3, 4)
        wanted = [x / np.linalg.norm(x, p, axis=1, keepdims=True)]
        compare.check_node("LpNormalization", {"x": x}, p=p, wanted=wanted)

    @parameterized.parameters((13, -1), (13, 0), (11, 1), (11, 2))
    def test_log_softmax(self, opset, axis):
        compare.check_node(
            "LogSoftmax", {"x": floats(2, 3, 4)}, opset=opset, axis=axis, wanted="onnxruntime"
        )


class PlacesTest(parameterized.TestCase):
    @parameterized.product(
        mode=("constant", "edge", "reflect", "wrap"),
        pads=((1, 2, 0, 2), (0, 0, 0, 0), (2, 1, 1, 3)),
        constants=(("p", "v"), ()),
    )
    def test_pad(self, mode, pads, constants):
        inputs = {"x": floats(4, 5), "p": np.array(pads, np.int64), "v": np.array(7, np.float32)}
        compare.check_node("Pad", inputs, mode=mode, constants=constants, wanted="onnxruntime")

    def test_pad_along_given_axes_of_integers(self):
        x = np.arange(12, dtype=np.int64).reshape(2, 3, 2)
        inputs = {"x": x, "p": np.array([1, 2], np.int64), "v": None, "a": np.array([-2])}
        compare.check_node("Pad", inputs, constants=("p", "a"))

    @parameterized.parameters(((-1, 0, 0, -2),), ((-1, 2, 1, -1),))
    def test_negative_pads_crop(self, pads):
        x = floats(4, 5)
        proto = compare.one_node("Pad", {"x": x, "p": np.array(pads, np.int64)}, constants=("p",))
        compare.check(proto, [x], "onnxruntime")

    def test_pad_of_version_2(self):
        x = floats(2, 3)
        compare.check_node("Pad", {"x": x}, opset=2, pads=[0, 1, 2, 0], value=1.5,
                           wanted=[np.pad(x, [(0, 2), (1, 0)], constant_values=1.5)])  # fmt: skip

    @parameterized.parameters("DCR", "CRD")
    def test_depth_to_space(self, mode):
        compare.check_node("DepthToSpace", {"x": floats(2, 12, 3, 2)}, blocksize=2, mode=mode)

    def test_space_to_depth(self):
        compare.check_node("SpaceToDepth", {"x": floats(2, 3, 4, 6)}, blocksize=2)


if __name__ == "__main__":
    absltest.main()
