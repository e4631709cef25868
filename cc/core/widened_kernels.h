#ifndef TF_QOPS_CC_CORE_WIDENED_KERNELS_H_
#define TF_QOPS_CC_CORE_WIDENED_KERNELS_H_

#include <cstdint>

#include "cc/core/cpu.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// Inner loops on operands widened to int16. Codes minus their zero points lie in [-255, 255], the
// sum of two of their products in int32, so pairs of products may be added at once (vpmaddwd)
// without a correction for zero points and without saturation, for every combination of types.
// Sums wrap modulo 2^32.

inline constexpr int kTileRows = 4;
inline constexpr int kPanel = 16;  // Columns (dense) or channels (depthwise) computed at once.

inline int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Writes a right operand as `dense` reads it, panel after panel: [panel][tap][pair][kPanel][2].
// get(column, tap, channel) is a code minus its zero point.
template <typename Get>
void PackPanels(int64_t columns, int64_t taps, int64_t channels, Get&& get, int16_t* to) {
  for (int64_t first = 0; first < columns; first += kPanel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t pair = 0; pair < (channels + 1) / 2; ++pair) {
        for (int64_t column = first; column < first + kPanel; ++column) {
          for (int64_t channel = 2 * pair; channel < 2 * pair + 2; ++channel) {
            const bool inside = column < columns && channel < channels;
            *to++ = static_cast<int16_t>(inside ? get(column, tap, channel) : 0);
          }
        }
      }
    }
  }
}

struct WidenedKernels {
  // acc[r][j] = sum over taps t and pairs p of x[r][tap_offsets[t] + 2p + {0, 1}] times the pair
  // of column j, for kTileRows rows and kPanel columns; w is [tap][pair][kPanel][2].
  void (*dense)(const int16_t* const* x, const int64_t* tap_offsets, int64_t taps, int64_t pairs,
                const int16_t* w, int32_t* acc);
  // The same for one row and one tap: the product of a vector, which all but reads w.
  void (*dense_row)(const int16_t* x, int64_t pairs, const int16_t* w, int32_t* acc);
  // acc[j] = sum over taps of x[tap_offsets[t] + 2j] times the weight of channel j; w is
  // [tap][kPanel][2], the second of each pair 0.
  void (*depthwise)(const int16_t* x, const int64_t* tap_offsets, int64_t taps, const int16_t* w,
                    int32_t* acc);
  // y[j] = range.Quantize(f32(acc[j] + bias[j]) * scale[j]) of kPanel accumulators.
  void (*requantize)(const int32_t* acc, const int32_t* bias, const float* scale,
                     const CodeRange& range, uint8_t* y);
  // to[i] = from[i] - zero_point.
  void (*widen_signed)(const int8_t* from, int64_t count, int32_t zero_point, int16_t* to);
  void (*widen_unsigned)(const uint8_t* from, int64_t count, int32_t zero_point, int16_t* to);
};

const WidenedKernels& WidenedKernelsPortable();
const WidenedKernels& WidenedKernelsAvx2();

inline const WidenedKernels& WidenedKernelsOf(InstructionSet isa) {
#ifdef TF_QOPS_X86
  if (isa == InstructionSet::kAvx2) return WidenedKernelsAvx2();
#endif
  (void)isa;
  return WidenedKernelsPortable();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_WIDENED_KERNELS_H_
