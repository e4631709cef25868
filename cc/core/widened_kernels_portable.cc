#include "cc/core/widened_kernels.h"

namespace tf_qops {
namespace {

void Dense(const int16_t* const* x, const int64_t* tap_offsets, int64_t taps, int64_t pairs,
           const int16_t* w, int32_t* acc) {
  uint32_t sums[kTileRows][kPanel] = {};
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t p = 0; p < pairs; ++p, w += 2 * kPanel) {
      for (int r = 0; r < kTileRows; ++r) {
        const int16_t* pair = x[r] + tap_offsets[t] + 2 * p;
        for (int j = 0; j < kPanel; ++j) {
          sums[r][j] += static_cast<uint32_t>(pair[0] * w[2 * j] + pair[1] * w[2 * j + 1]);
        }
      }
    }
  }
  for (int i = 0; i < kTileRows * kPanel; ++i) {
    acc[i] = static_cast<int32_t>(sums[i / kPanel][i % kPanel]);
  }
}

void DenseRow(const int16_t* x, int64_t pairs, const int16_t* w, int32_t* acc) {
  uint32_t sums[kPanel] = {};
  for (int64_t p = 0; p < pairs; ++p, x += 2, w += 2 * kPanel) {
    for (int j = 0; j < kPanel; ++j) {
      sums[j] += static_cast<uint32_t>(x[0] * w[2 * j] + x[1] * w[2 * j + 1]);
    }
  }
  for (int j = 0; j < kPanel; ++j) acc[j] = static_cast<int32_t>(sums[j]);
}

void Depthwise(const int16_t* x, const int64_t* tap_offsets, int64_t taps, const int16_t* w,
               int32_t* acc) {
  uint32_t sums[kPanel] = {};
  for (int64_t t = 0; t < taps; ++t, w += 2 * kPanel) {
    for (int j = 0; j < kPanel; ++j) {
      sums[j] += static_cast<uint32_t>(x[tap_offsets[t] + 2 * j] * w[2 * j]);
    }
  }
  for (int j = 0; j < kPanel; ++j) acc[j] = static_cast<int32_t>(sums[j]);
}

void Requantize(const int32_t* acc, const int32_t* bias, const float* scale, const CodeRange& range,
                uint8_t* y) {
  for (int j = 0; j < kPanel; ++j) {
    const uint32_t sum = static_cast<uint32_t>(acc[j]) + static_cast<uint32_t>(bias[j]);
    const float value = static_cast<float>(static_cast<int32_t>(sum)) * scale[j];
    y[j] = static_cast<uint8_t>(range.Quantize(value));
  }
}

template <typename T>
void Widen(const T* from, int64_t count, int32_t zero_point, int16_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero_point);
}

}  // namespace

const WidenedKernels& WidenedKernelsPortable() {
  static constexpr WidenedKernels kKernels{Dense,      DenseRow,      Depthwise,
                                           Requantize, Widen<int8_t>, Widen<uint8_t>};
  return kKernels;
}

}  // namespace tf_qops
