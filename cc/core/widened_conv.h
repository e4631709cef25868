#ifndef TF_QOPS_CC_CORE_WIDENED_CONV_H_
#define TF_QOPS_CC_CORE_WIDENED_CONV_H_

#include <cstdint>
#include <vector>

#include "cc/core/cpu.h"
#include "cc/core/parallel.h"
#include "cc/core/qlinear_conv.h"

namespace tf_qops {

// QLinearConv on int16 operands: x - x_zero_point and w - w_zero_point lie in [-255, 255], the sum
// of two of their products in int32, so pairs of products may be added at once (vpmaddwd) without
// a correction for zero points and without saturation, for every combination of types.
//
// For up to three spatial dimensions. A band of output rows is computed at a time: the part of x
// it needs is widened, with its padding, into a buffer that stays in the cache, and tiles of
// kTileRows pixels by kPanel filters run over it without gathering columns.

inline constexpr int kTileRows = 4;
inline constexpr int kPanel = 16;  // Filters (dense) or channels (depthwise) computed at once.

// Weights minus their zero points, in the order in which the kernels read them:
//   dense:     [group][panel][tap][channel pair][kPanel][2]
//   depthwise: [panel][tap][kPanel][2], the second of each pair 0
struct WidenedWeights {
  bool depthwise = false;  // One input channel a group; the filters of a group each read it.
  int64_t panels = 0;      // Of a group; of all filters where depthwise.
  int64_t pairs = 0;       // Channel pairs of a group; 1 where depthwise.
  int64_t panel_size = 0;  // int16 elements.
  std::vector<int16_t> data;
};

WidenedWeights WidenWeights(const ConvolutionGeometry& g, Bytes w,
                            const std::vector<int32_t>& w_zero_point);

// Whether this algorithm takes the convolution: up to three spatial dimensions, and rows whose
// buffer stays small (pads and dilations may be anything up to 2^31). QLinearConvReference takes
// all.
bool CanWiden(const ConvolutionGeometry& g);

// The same values as QLinearConvReference.
void WidenedConv(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point,
                 const WidenedWeights& w, const Requantization& requantization,
                 const Workers& workers, InstructionSet isa, void* y);

// The inner loops, one table for each instruction set.
struct WidenedKernels {
  // acc[r][j] = sum over taps t and pairs p of x[r][tap_offsets[t] + 2p + {0, 1}] times the pair
  // of filter j, for kTileRows pixels and kPanel filters.
  void (*dense)(const int16_t* const* x, const int64_t* tap_offsets, int64_t taps, int64_t pairs,
                const int16_t* w, int32_t* acc);
  // acc[j] = sum over taps of x[tap_offsets[t] + 2j] times the weight of channel j.
  void (*depthwise)(const int16_t* x, const int64_t* tap_offsets, int64_t taps, const int16_t* w,
                    int32_t* acc);
  // y[j] of kPanel accumulators, see Requantization::Apply.
  void (*requantize)(const int32_t* acc, const int32_t* bias, const float* scale,
                     const CodeRange& range, uint8_t* y);
  // to[i] = from[i] - zero_point.
  void (*widen_signed)(const int8_t* from, int64_t count, int32_t zero_point, int16_t* to);
  void (*widen_unsigned)(const uint8_t* from, int64_t count, int32_t zero_point, int16_t* to);
};

const WidenedKernels& WidenedKernelsPortable();
const WidenedKernels& WidenedKernelsAvx2();

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_WIDENED_CONV_H_
