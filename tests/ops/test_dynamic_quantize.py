"""DynamicQuantizeLinear against numpy and ONNX Runtime."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tf_qops as tfq
from tests import contract_bytes, onnxruntime_node
from tests.modes import MODES, call

INFINITY = np.float32(np.inf)


class DynamicQuantizeLinearTest(parameterized.TestCase):
    def check(self, mode, x, want=None):
        got = call(mode, tfq.dynamic_quantize_linear, x)
        want = contract_bytes.dynamic_quantize(x) if want is None else want
        for value, expected, dtype in zip(got, want, (np.uint8, np.float32, np.uint8), strict=True):
            self.assertEqual(value.dtype, dtype)
            np.testing.assert_array_equal(value, expected)

    @parameterized.parameters(*MODES)
    def test_random_ranges(self, mode):
        rng = np.random.default_rng(1)
        for shape in ((1,), (7,), (3, 5, 11), (300, 501)):
            for offset in (0.0, 3.0, -0.4):
                scale = np.float32(10.0 ** rng.integers(-20, 20))
                x = (rng.normal(size=shape) + offset).astype(np.float32) * scale
                self.check(mode, x)

    @parameterized.product(
        mode=MODES,
        case=[
            # sonos/tract/pull/2672: ties are to even in codes and in the zero point.
            ([-127.0, 128.0, 0.5], [0, 255, 127], 1.0, 127),
            ([-253.0, 257.0], [0, 254], 2.0, 126),
            # Ranges are widened to hold 0.
            ([255.0, 510.0], [128, 255], 2.0, 0),
            ([-510.0, -255.0], [0, 127], 2.0, 255),
            # Nothing divides by 0; a denormal number counts as one.
            ([0.0, 0.0], [0, 0], 1.0, 0),
            ([-0.0], [0], 1.0, 0),
            ([1e-40, -1e-39], [0, 0], 1.0, 0),
            ([1e-37, -1e-37], [0, 0], 1.0, 0),
            ([], [], 1.0, 0),
            (255.0, 255, 1.0, 0),
            # NaN is passed over and becomes 0.
            ([np.nan, -127.0, np.nan, 128.0], [0, 0, 0, 255], 1.0, 127),
            ([np.nan], [0], 1.0, 0),
            # What float32 has no scale for.
            ([np.inf, 1.0], [0, 0], INFINITY, 0),
            ([-np.inf, 1.0, np.nan], [0, 0, 0], INFINITY, 0),
            ([np.inf, -np.inf, 0.0], [0, 0, 0], INFINITY, 0),
            ([3e38, -3e38, 5.0], [0, 0, 0], INFINITY, 0),
        ],
    )
    def test_limits(self, mode, case):
        x, *want = case
        self.check(mode, np.array(x, np.float32), want)

    def test_nan_anywhere_is_passed_over(self):
        for at in range(70):
            x = np.linspace(-1, 1, 70, dtype=np.float32)
            x[at] = np.nan
            self.check("eager", x)

    def test_as_onnx_runtime(self):
        rng = np.random.default_rng(2)
        for _ in range(30):
            x = rng.normal(size=int(rng.integers(1, 3000))).astype(np.float32)
            x = np.round(x * 64) * np.float32(rng.choice([0.5, 0.37]))
            want = onnxruntime_node.run(
                "DynamicQuantizeLinear", [x], "", (np.uint8, np.float32, np.uint8)
            )
            self.check("eager", x, want)

    def test_shapes(self):
        traced = tf.function(tfq.dynamic_quantize_linear).get_concrete_function(
            tf.TensorSpec([None, 3], tf.float32)
        )
        self.assertEqual([list(s) for s in traced.output_shapes], [[None, 3], [], []])

    def test_float32_alone(self):
        with self.assertRaisesRegex((TypeError, tf.errors.InvalidArgumentError), "float"):
            tfq.dynamic_quantize_linear(tf.constant([1.0], tf.float16))


if __name__ == "__main__":
    absltest.main()
