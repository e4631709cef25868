#ifndef TF_QOPS_CC_CORE_DEQUANTIZE_RANGE_H_
#define TF_QOPS_CC_CORE_DEQUANTIZE_RANGE_H_

#include <cstdint>

#include "cc/core/range_mode.h"

namespace tf_qops {

// A mode and its range, brought to one form: value = (f32(code) + add) * scale + plus, each
// operation rounded to float32. Where a mode adds nothing, `add` is 0 (a code is never -0) and
// `plus` is -0, which leaves every float as it is. F is float, or stands for one in HLO.
template <typename F>
struct RangeAffine {
  float add;
  F scale;
  F plus;

  F Dequantize(F code) const { return (code + add) * scale + plus; }
};

// tf.raw_ops.Dequantize's arithmetic. MIN_FIRST rounds min to a whole number of steps, half away
// from zero; SCALED keeps a NaN of min but not of max, as std::max does.
template <typename F>
RangeAffine<F> AffineOf(RangeMode mode, const CodeLimits& c, F min, F max) {
  if (mode == RangeMode::kMinCombined) return {c.half, (max - min) / (c.high - c.low), min};
  if (mode == RangeMode::kMinFirst) {
    const F scale = DivideInDouble(max - min, c.steps);
    const F whole = RoundHalfAwayFromZero(min / scale) * scale;
    return {0.0f, scale, SelectEqual(min, max, min, whole) - scale * c.low};
  }
  const F from_max = max / c.high;
  const F nothing = ConstantLike(max, -0.0f);
  if (!c.is_signed) return {0.0f, from_max, nothing};
  const F from_min = min / c.narrow_low;
  return {0.0f, Larger(from_min, from_max), nothing};
}

// Elements [begin, end) of x, each with its slice's affine map.
template <typename T, typename Out>
void DequantizeRange(const T* x, const RangeAffine<float>* affine, const Granularity& g,
                     int64_t begin, int64_t end, Out* y) {
  ForEachRun(g, begin, end, [&](int64_t first, int64_t count, int64_t parameter, int64_t step) {
    const RangeAffine<float>* from = affine + parameter;
    if (step == 0) {
      const RangeAffine<float> one = *from;
      for (int64_t k = first; k < first + count; ++k) {
        y[k] = FromFloat32<Out>(one.Dequantize(static_cast<float>(Codes<T>::Read(x[k]))));
      }
    } else {
      for (int64_t k = first; k < first + count; ++k, ++from) {
        y[k] = FromFloat32<Out>(from->Dequantize(static_cast<float>(Codes<T>::Read(x[k]))));
      }
    }
  });
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_DEQUANTIZE_RANGE_H_
