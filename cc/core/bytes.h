#ifndef TF_QOPS_CC_CORE_BYTES_H_
#define TF_QOPS_CC_CORE_BYTES_H_

#include <cstdint>
#include <cstring>

#include "cc/core/rounding.h"

namespace tf_qops {

// An operand of 8 bits, signed or not.
struct Bytes {
  const void* data;
  bool is_signed;

  int32_t operator[](int64_t i) const {
    return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
  }
  Bytes operator+(int64_t offset) const {
    return {static_cast<const uint8_t*>(data) + offset, is_signed};
  }
};

// The lowest and highest code of an 8-bit type, seen from its zero point.
inline CodeRange ByteRange(bool is_signed, int32_t zero_point) {
  return is_signed ? CodeRange(-128, 127, zero_point) : CodeRange(0, 255, zero_point);
}

// How bytes stand for numbers: (code - zero_point) * scale.
struct ByteFormat {
  bool is_signed = false;
  float scale = 1.0f;
  int32_t zero_point = 0;

  int32_t Code(uint8_t byte) const { return is_signed ? static_cast<int8_t>(byte) : byte; }
  float Difference(uint8_t byte) const { return static_cast<float>(Code(byte) - zero_point); }
  float Value(uint8_t byte) const { return Difference(byte) * scale; }
  // The nearest code, ties to even before the zero point is added; NaN gives the lowest.
  uint8_t Quantize(float value) const {
    return static_cast<uint8_t>(ByteRange(is_signed, zero_point).Quantize(value / scale));
  }

  // Of the same bits: scales of 0 and -0 differ, a NaN is itself.
  bool operator==(const ByteFormat& other) const {
    return is_signed == other.is_signed && zero_point == other.zero_point &&
           std::memcmp(&scale, &other.scale, sizeof(scale)) == 0;
  }
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BYTES_H_
