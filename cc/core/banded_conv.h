#ifndef TF_QOPS_CC_CORE_BANDED_CONV_H_
#define TF_QOPS_CC_CORE_BANDED_CONV_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/cpu.h"
#include "cc/core/packed_panels.h"
#include "cc/core/parallel.h"
#include "cc/core/plan.h"
#include "cc/core/qlinear_conv.h"

namespace tf_qops {

// Convolution as products of pixels and filters, for up to three spatial dimensions. A band of
// output rows is computed at a time: the part of x it needs is written, with its padding, as lanes
// into a buffer that stays in the cache (or read where it is), and tiles of pixels and filters run
// over it without gathering columns.

// Weights in the order in which the kernels of an instruction set read them.
struct PackedFilters {
  bool depthwise = false;            // One input channel a group; a group's filters each read it.
  std::vector<PackedPanels> groups;  // One where depthwise.
};

PackedFilters PackFilters(const ConvolutionGeometry& g, Bytes w,
                          const std::vector<int32_t>& w_zero_point, InstructionSet isa,
                          std::optional<Algorithm> forced = ForcedAlgorithm());

// Whether this algorithm takes the convolution: up to three spatial dimensions, and rows whose
// buffer stays small (pads and dilations may be anything up to 2^31). The reference takes all.
bool FitsBands(const ConvolutionGeometry& g);

// The sums of ConvolutionSumsReference. `w` was packed for the same instruction set.
void BandedConv(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, const PackedFilters& w,
                const AccumulatorSink& sink, const Workers& workers, InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BANDED_CONV_H_
