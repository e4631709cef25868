#ifndef TF_QOPS_CC_CORE_MINIFLOAT_H_
#define TF_QOPS_CC_CORE_MINIFLOAT_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tf_qops {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// What lies beyond the largest finite number of a format.
enum class Specials {
  kInfinityAndNan,  // IEEE: an exponent of all ones.
  kNanOnly,         // "fn": no infinity, NaN is the code of all ones.
  kUnsignedZero,    // "fnuz": no infinity, no -0; the code of -0 is NaN.
  kNone,            // Every code is a finite number.
};

// A binary floating-point format of at most 16 bits, stored in the low bits of Storage.
template <typename Storage, int kExponentBits, int kMantissaBits, int kBias, Specials kSpecials>
struct MiniFloat {
  Storage bits;

  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kExponentBias = kBias;
  static constexpr bool kHasInfinity = kSpecials == Specials::kInfinityAndNan;
  static constexpr bool kHasSpecials = kSpecials != Specials::kNone;
  static constexpr uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr uint32_t kAllOnes = kSign - 1;
  static constexpr uint32_t kInfinity = kAllOnes ^ ((1u << kMantissaBits) - 1);
  static constexpr uint32_t kLargest = kHasInfinity                      ? kInfinity - 1
                                       : kSpecials == Specials::kNanOnly ? kAllOnes - 1
                                                                         : kAllOnes;

  // Exact. The values below the smallest normal one are normal in float32.
  float ToFloat() const {
    const uint32_t magnitude = bits & kAllOnes;
    const bool negative = (bits & kSign) != 0;
    if (IsNan(magnitude, negative)) return FloatOf(0x7fc00000u);
    const uint32_t sign = negative ? 0x80000000u : 0;
    if (kHasInfinity && magnitude == kInfinity) {
      return FloatOf(sign | 0x7f800000u);
    }
    if (magnitude >> kMantissaBits == 0) {
      const float value = std::ldexp(static_cast<float>(magnitude), 1 - kBias - kMantissaBits);
      return FloatOf(sign | BitsOf(value));
    }
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;
    return FloatOf(sign | ((magnitude << (23 - kMantissaBits)) + kRebias));
  }

  // Rounds to nearest, ties to even. Beyond the largest finite number: that number where
  // `saturate` is set or the format has nothing else, infinity or NaN otherwise. NaN stays NaN;
  // in a format that has none it becomes -0, as in ml_dtypes.
  static MiniFloat FromFloat(float value, bool saturate) {
    const uint32_t source = BitsOf(value);
    const uint32_t sign = source >> 31 != 0 ? kSign : 0;
    const uint32_t magnitude = source & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return Code(NanCode(sign));
    uint32_t code = Round(FloatOf(magnitude), magnitude);
    if (code > kLargest) {
      if (saturate || !kHasSpecials) {
        code = kLargest;
      } else {
        return Code(kHasInfinity ? sign | kInfinity : NanCode(sign));
      }
    }
    if (kSpecials == Specials::kUnsignedZero && code == 0) return Code(0);
    return Code(sign | code);
  }

 private:
  static constexpr MiniFloat Code(uint32_t code) { return {static_cast<Storage>(code)}; }

  static constexpr bool IsNan(uint32_t magnitude, bool negative) {
    switch (kSpecials) {
      case Specials::kInfinityAndNan:
        return magnitude > kInfinity;
      case Specials::kNanOnly:
        return magnitude == kAllOnes;
      case Specials::kUnsignedZero:
        return negative && magnitude == 0;
      case Specials::kNone:
        return false;
    }
    return false;
  }

  static constexpr uint32_t NanCode(uint32_t sign) {
    switch (kSpecials) {
      case Specials::kInfinityAndNan:
        return sign | kInfinity | (1u << (kMantissaBits - 1));
      case Specials::kNanOnly:
        return sign | kAllOnes;
      case Specials::kUnsignedZero:
      case Specials::kNone:
        return kSign;
    }
    return 0;
  }

  // The code of a magnitude, as if exponents had no upper limit.
  static uint32_t Round(float value, uint32_t magnitude) {
    constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(128 - kBias) << 23;
    if (magnitude < kSmallestNormal) {
      const float units = value * FloatOf(static_cast<uint32_t>(126 + kBias + kMantissaBits) << 23);
      return static_cast<uint32_t>(std::nearbyint(units));
    }
    constexpr int kDropped = 23 - kMantissaBits;
    const uint32_t half = (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1u);
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << kMantissaBits;
    return ((magnitude + half) >> kDropped) - kRebias;
  }
};

using Float16 = MiniFloat<uint16_t, 5, 10, 15, Specials::kInfinityAndNan>;
using Float8E5M2 = MiniFloat<uint8_t, 5, 2, 15, Specials::kInfinityAndNan>;
using Float8E5M2Fnuz = MiniFloat<uint8_t, 5, 2, 16, Specials::kUnsignedZero>;
using Float8E4M3Fn = MiniFloat<uint8_t, 4, 3, 7, Specials::kNanOnly>;
using Float8E4M3Fnuz = MiniFloat<uint8_t, 4, 3, 8, Specials::kUnsignedZero>;
using Float4E2M1Fn = MiniFloat<uint8_t, 2, 1, 1, Specials::kNone>;

// The upper half of a float32; its denormals are float32's, and flushed with them.
struct BFloat16 {
  uint16_t bits;

  float ToFloat() const { return FloatOf(static_cast<uint32_t>(bits) << 16); }

  static BFloat16 FromFloat(float value, bool /*saturate*/ = false) {
    const uint32_t source = BitsOf(value);
    if ((source & 0x7fffffffu) > 0x7f800000u) {
      return {static_cast<uint16_t>(source >> 16 | 0x0040u)};
    }
    return {static_cast<uint16_t>((source + 0x7fffu + (source >> 16 & 1u)) >> 16)};
  }
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_MINIFLOAT_H_
