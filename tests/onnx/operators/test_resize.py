"""Resize and its older versions."""

import numpy as np
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests.onnx.operators import compare

X = np.random.default_rng(3).normal(size=(2, 3, 4, 5)).astype(np.float32)
COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")


class ResizeTest(parameterized.TestCase):
    @parameterized.product(
        mode=("nearest", "linear", "cubic"),
        coordinates=COORDINATES,
        scales=((1, 1, 2, 2), (1, 1, 0.6, 1.7)),
    )
    def test_scales(self, mode, coordinates, scales):
        inputs = {"x": X, "roi": None, "scales": np.array(scales, np.float32)}
        compare.check_node(
            "Resize", inputs, constants=("scales",), mode=mode, wanted="onnxruntime",
            coordinate_transformation_mode=coordinates,
        )  # fmt: skip

    @parameterized.product(mode=("nearest", "linear", "cubic"), sizes=((2, 3, 8, 10), (2, 3, 3, 7)))
    def test_sizes(self, mode, sizes):
        inputs = {"x": X, "roi": None, "scales": None, "sizes": np.array(sizes, np.int64)}
        compare.check_node("Resize", inputs, constants=("sizes",), mode=mode, wanted="onnxruntime")

    @parameterized.product(
        nearest=("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"),
        coordinates=("half_pixel", "asymmetric"),
    )
    def test_nearest(self, nearest, coordinates):
        inputs = {"x": X, "roi": None, "scales": np.array((1, 1, 1.5, 0.5), np.float32)}
        compare.check_node(
            "Resize", inputs, constants=("scales",), nearest_mode=nearest, wanted="onnxruntime",
            coordinate_transformation_mode=coordinates,
        )  # fmt: skip

    def test_cubic_options(self):
        inputs = {"x": X, "roi": None, "scales": np.array((1, 1, 2, 1.5), np.float32)}
        compare.check_node("Resize", inputs, constants=("scales",), mode="cubic",
                           cubic_coeff_a=-0.5, exclude_outside=1)  # fmt: skip

    def test_axes(self):
        inputs = {"x": X, "roi": None, "scales": np.array((2, 3), np.float32)}
        compare.check_node("Resize", inputs, constants=("scales",), axes=[2, 3], shapes="symbolic")

    def test_integers(self):
        x = np.arange(20, dtype=np.uint8).reshape(1, 1, 4, 5)
        inputs = {"x": x, "roi": None, "scales": np.array((1, 1, 2, 2), np.float32)}
        compare.check_node("Resize", inputs, constants=("scales",))

    @parameterized.parameters(("Resize", 10), ("Upsample", 9))
    def test_older_versions(self, op_type, opset):
        inputs = {"x": X, "scales": np.array((1, 1, 2, 2), np.float32)}
        for mode in ("nearest", "linear"):
            compare.check_node(op_type, inputs, constants=("scales",), opset=opset, mode=mode,
                               wanted="onnxruntime")  # fmt: skip

    def test_what_is_not_exact_is_refused(self):
        inputs = {"x": X, "roi": None, "scales": np.array((1, 1, 2, 2), np.float32)}
        for attributes in (
            {"antialias": 1},
            {"coordinate_transformation_mode": "tf_crop_and_resize"},
        ):
            proto = compare.one_node("Resize", inputs, constants=("scales",), **attributes)
            self.assertLen(tfq.onnx.unsupported_operators(proto), 1)


if __name__ == "__main__":
    absltest.main()
