#ifndef TF_QOPS_CC_CORE_QUANTIZE_RANGE_H_
#define TF_QOPS_CC_CORE_QUANTIZE_RANGE_H_

#include <cstdint>
#include <limits>

#include "cc/core/range_mode.h"

namespace tf_qops {

// QuantizeV2's options beside the mode.
struct RangeQuantization {
  RangeMode mode;
  bool half_to_even;  // Else half away from zero.
  float ensure_minimum_range;
};

// QuantizeV2's arithmetic for one range, each operation rounded to float32. The range is widened
// to hold 0 and to be no narrower than `ensure_minimum_range` of its larger end (or of 1).
template <typename F>
class RangeQuantizer {
 public:
  RangeQuantizer(const RangeQuantization& options, const CodeLimits& limits, F min, F max)
      : options_(options), limits_(limits) {
    const F zero = ConstantLike(min, 0.0f);
    const F end = Larger(ConstantLike(min, 1.0f), Larger(Absolute(min), Absolute(max)));
    min_ = Smaller(zero, min);
    max_ = Larger(zero, Larger(max, min_ + end * options.ensure_minimum_range));
    switch (options.mode) {
      case RangeMode::kMinCombined:
        scale_ = DivideInDouble(limits.steps, max_ - min_);
        break;
      case RangeMode::kMinFirst:
        scale_ = SelectEqual(min_, max_, zero, DivideInDouble(limits.steps, max_ - min_));
        break;
      case RangeMode::kScaled: {
        // As large as both ends allow; an end of 0 allows anything.
        const F any = ConstantLike(min, std::numeric_limits<float>::max());
        const F from_min = SelectLess(zero, min_ * limits.narrow_low,
                                      ConstantLike(min, limits.narrow_low) / min_, any);
        const F from_max =
            SelectLess(zero, max_ * limits.high, ConstantLike(max, limits.high) / max_, any);
        scale_ = Smaller(from_min, from_max);
        min_ = ConstantLike(min, limits.narrow_low) / scale_;
        max_ = ConstantLike(max, limits.high) / scale_;
        break;
      }
    }
  }

  // The range that the codes have in the end.
  F min() const { return min_; }
  F max() const { return max_; }

  // The code of x as a whole float, beyond the type's limits perhaps by rounding.
  F Quantize(F x) const {
    if (options_.mode == RangeMode::kMinFirst) {
      return Round(x * scale_) - (Round(min_ * scale_) - limits_.low);
    }
    const F inside = Larger(Smaller(x, max_), min_);
    if (options_.mode == RangeMode::kScaled) return Round(inside * scale_);
    const F steps = (inside - min_) * scale_;
    // Not negative; the sum is rounded before its fraction is dropped, as TensorFlow does it.
    if (!limits_.is_signed && !options_.half_to_even) return RoundDown(steps + 0.5f);
    return Round(steps - limits_.half);
  }

 private:
  F Round(F value) const {
    return options_.half_to_even ? RoundHalfToEven(value) : RoundHalfAwayFromZero(value);
  }

  RangeQuantization options_;
  CodeLimits limits_;
  F min_{}, max_{}, scale_{};
};

// A whole float as a code; beyond the limits the nearest one, and the lowest for NaN.
template <typename T>
T SaturatedCode(float whole) {
  if (!(whole > static_cast<float>(Codes<T>::kLow))) return static_cast<T>(Codes<T>::kLow);
  if (whole >= static_cast<float>(Codes<T>::kHigh)) return static_cast<T>(Codes<T>::kHigh);
  return static_cast<T>(whole);
}

// Elements [begin, end) of x, each with its slice's range.
template <typename T>
void QuantizeRange(const float* x, const RangeQuantizer<float>* ranges, const Granularity& g,
                   int64_t begin, int64_t end, T* y) {
  ForEachRun(g, begin, end, [&](int64_t first, int64_t count, int64_t parameter, int64_t step) {
    const RangeQuantizer<float>* range = ranges + parameter;
    for (int64_t k = first; k < first + count; ++k, range += step) {
      y[k] = SaturatedCode<T>(range->Quantize(x[k]));
    }
  });
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_QUANTIZE_RANGE_H_
