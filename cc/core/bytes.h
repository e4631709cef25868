#ifndef TF_QOPS_CC_CORE_BYTES_H_
#define TF_QOPS_CC_CORE_BYTES_H_

#include <cstdint>

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

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BYTES_H_
