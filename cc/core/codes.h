#ifndef TF_QOPS_CC_CORE_CODES_H_
#define TF_QOPS_CC_CORE_CODES_H_

#include <cstdint>
#include <limits>

#include "cc/core/minifloat.h"

namespace tf_qops {

// An integer of fewer than 8 bits in the low bits of a byte, as TensorFlow stores it. The upper
// bits are ignored when read and zero when written.
template <int kBits, bool kSigned>
struct NarrowInt {
  uint8_t bits;

  int32_t value() const {
    const int32_t low = bits & ((1 << kBits) - 1);
    return kSigned && low >> (kBits - 1) != 0 ? low - (1 << kBits) : low;
  }
  static NarrowInt From(int32_t value) {
    return {static_cast<uint8_t>(value & ((1 << kBits) - 1))};
  }
};

using Int4 = NarrowInt<4, true>;
using UInt4 = NarrowInt<4, false>;
using Int2 = NarrowInt<2, true>;
using UInt2 = NarrowInt<2, false>;

// How a quantized type is read and written: Wide holds any difference of two codes exactly
// (float32 for the float formats, whose differences are rounded to it).
template <typename T>
struct Codes;

template <typename T, typename WideT, int64_t kLowest, int64_t kHighest>
struct IntegerCodes {
  static constexpr bool kInteger = true;
  static constexpr int64_t kLow = kLowest;
  static constexpr int64_t kHigh = kHighest;
  using Wide = WideT;
};

template <typename T, typename WideT = int32_t>
struct PlainCodes
    : IntegerCodes<T, WideT, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()> {
  static WideT Read(T code) { return code; }
  static T Write(WideT value) { return static_cast<T>(value); }
};

template <int kBits, bool kSigned>
struct Codes<NarrowInt<kBits, kSigned>>
    : IntegerCodes<NarrowInt<kBits, kSigned>, int32_t, kSigned ? -(1 << (kBits - 1)) : 0,
                   (1 << (kBits - kSigned)) - 1> {
  static int32_t Read(NarrowInt<kBits, kSigned> code) { return code.value(); }
  static NarrowInt<kBits, kSigned> Write(int32_t value) {
    return NarrowInt<kBits, kSigned>::From(value);
  }
};

template <>
struct Codes<int8_t> : PlainCodes<int8_t> {};
template <>
struct Codes<uint8_t> : PlainCodes<uint8_t> {};
template <>
struct Codes<int16_t> : PlainCodes<int16_t> {};
template <>
struct Codes<uint16_t> : PlainCodes<uint16_t> {};
template <>
struct Codes<int32_t> : PlainCodes<int32_t, int64_t> {};

template <typename S, int kE, int kM, int kB, Specials kS>
struct Codes<MiniFloat<S, kE, kM, kB, kS>> {
  static constexpr bool kInteger = false;
  using Wide = float;
  static float Read(MiniFloat<S, kE, kM, kB, kS> code) { return code.ToFloat(); }
};

// The float types of x, scales and outputs.
inline float ToFloat32(float value) { return value; }
inline float ToFloat32(int32_t value) { return static_cast<float>(value); }
inline float ToFloat32(Float16 value) { return value.ToFloat(); }
inline float ToFloat32(BFloat16 value) { return value.ToFloat(); }

template <typename T>
T FromFloat32(float value) {
  return T::FromFloat(value, /*saturate=*/false);
}
template <>
inline float FromFloat32<float>(float value) {
  return value;
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CODES_H_
