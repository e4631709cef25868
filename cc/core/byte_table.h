#ifndef TF_QOPS_CC_CORE_BYTE_TABLE_H_
#define TF_QOPS_CC_CORE_BYTE_TABLE_H_

#include <array>
#include <cstdint>

#include "cc/core/bytes.h"

namespace tf_qops {

// A function from codes of 8 bits to codes of 8 bits, computed once for all 256.
using ByteTable = std::array<uint8_t, 256>;

// y = quantize(function(dequantize(x))), rounded before the zero point of y is added.
template <typename Function>
ByteTable TableOf(const ByteFormat& x, const ByteFormat& y, Function&& function) {
  ByteTable table;
  for (int byte = 0; byte < 256; ++byte) {
    table[byte] = y.Quantize(function(x.Value(static_cast<uint8_t>(byte))));
  }
  return table;
}

// The function of QLinearLeakyRelu.
inline float LeakyRelu(float value, float alpha) { return value < 0.0f ? value * alpha : value; }

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BYTE_TABLE_H_
