#ifndef TF_QOPS_CC_CORE_RANGE_MODE_H_
#define TF_QOPS_CC_CORE_RANGE_MODE_H_

#include <cmath>
#include <cstdint>

#include "cc/core/codes.h"
#include "cc/core/granularity.h"

namespace tf_qops {

// TensorFlow's ways to map the codes of a type onto a range [min, max].
enum class RangeMode { kMinCombined, kMinFirst, kScaled };

// What the modes need to know of a type.
struct CodeLimits {
  float low;
  float high;
  float half;        // 2^(bits - 1) for a signed type, else 0.
  double steps;      // 2^bits - 1.
  float narrow_low;  // The lowest code, or the next one with narrow_range.
  bool is_signed;

  template <typename T>
  static CodeLimits Of(bool narrow_range) {
    constexpr int64_t kLow = Codes<T>::kLow, kHigh = Codes<T>::kHigh;
    return {static_cast<float>(kLow),
            static_cast<float>(kHigh),
            static_cast<float>(-kLow),
            static_cast<double>(kHigh - kLow),
            static_cast<float>(kLow + (narrow_range ? 1 : 0)),
            kLow < 0};
  }
};

// The formulas of the modes are written once, for F = float and for what stands for a float in
// HLO: operators, and these functions.
inline float ConstantLike(float /*like*/, float value) { return value; }
inline float DivideInDouble(float a, double b) { return static_cast<float>(a / b); }
inline float DivideInDouble(double a, float b) { return static_cast<float>(a / b); }
inline float Absolute(float a) { return std::fabs(a); }
inline float RoundHalfAwayFromZero(float a) { return std::round(a); }
inline float RoundHalfToEven(float a) { return std::nearbyint(a); }
inline float RoundDown(float a) { return std::floor(a); }
inline float SelectLess(float a, float b, float then, float otherwise) {
  return a < b ? then : otherwise;
}
inline float SelectEqual(float a, float b, float then, float otherwise) {
  return a == b ? then : otherwise;
}

// std::max and std::min: a NaN as the second argument is dropped, as the first one kept.
template <typename F>
F Larger(F a, F b) {
  return SelectLess(a, b, b, a);
}
template <typename F>
F Smaller(F a, F b) {
  return SelectLess(b, a, b, a);
}

// The shapes of min_range and max_range: scalars or [1] where `per_tensor`, else 1-D with the
// length of x's dimension `axis`.
Result<ResolvedGranularity> ResolveRange(const Shape& x, const Shape& min, const Shape& max,
                                         bool per_tensor, int64_t axis);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_RANGE_MODE_H_
