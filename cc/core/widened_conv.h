#ifndef TF_QOPS_CC_CORE_WIDENED_CONV_H_
#define TF_QOPS_CC_CORE_WIDENED_CONV_H_

#include <cstdint>
#include <vector>

#include "cc/core/cpu.h"
#include "cc/core/parallel.h"
#include "cc/core/qlinear_conv.h"

namespace tf_qops {

// Convolution on operands widened to int16, see widened_kernels.h.
//
// For up to three spatial dimensions. A band of output rows is computed at a time: the part of x
// it needs is widened, with its padding, into a buffer that stays in the cache, and tiles of
// kTileRows pixels by kPanel filters run over it without gathering columns.

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
// buffer stays small (pads and dilations may be anything up to 2^31). The reference takes all.
bool CanWiden(const ConvolutionGeometry& g);

// The sums of ConvolutionSumsReference.
void WidenedConv(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point,
                 const WidenedWeights& w, const AccumulatorSink& sink, const Workers& workers,
                 InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_WIDENED_CONV_H_
