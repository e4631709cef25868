#ifndef TF_QOPS_CC_CORE_ROUNDING_H_
#define TF_QOPS_CC_CORE_ROUNDING_H_

#include <cstdint>

namespace tf_qops {

// max(value, low), then min(., high). NaN gives `low`: comparisons with NaN are false. Everything
// that turns a float into an integer clamps this way, since the conversion instructions of
// different CPUs disagree about NaN and overflow.
inline float Clamp(float value, float low, float high) {
  const float at_least = value > low ? value : low;
  return at_least < high ? at_least : high;
}

// To the nearest integer, ties to even, for |value| <= 2^22: there a float32 sum with 1.5 * 2^23
// has no room for a fraction. Compiles to two additions on every CPU.
inline float RoundHalfEven(float value) {
  constexpr float kMagic = 12582912.0f;
  return (value + kMagic) - kMagic;
}

// Values of an integer type of at most 16 bits, seen from its zero point.
struct CodeRange {
  float low;
  float high;
  int32_t zero_point;

  CodeRange(int64_t lowest, int64_t highest, int32_t zero)
      : low(static_cast<float>(lowest - zero)),
        high(static_cast<float>(highest - zero)),
        zero_point(zero) {}

  // Rounds, saturates and adds the zero point. The limits are integers, so clamping before
  // rounding gives the same code as after it, and keeps the rounding in its range.
  int32_t Quantize(float value) const {
    return static_cast<int32_t>(RoundHalfEven(Clamp(value, low, high))) + zero_point;
  }
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_ROUNDING_H_
