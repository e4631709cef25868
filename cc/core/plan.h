#ifndef TF_QOPS_CC_CORE_PLAN_H_
#define TF_QOPS_CC_CORE_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/cpu.h"
#include "cc/core/packed_panels.h"

namespace tf_qops {

// Which algorithm multiplies by which weights: decided once, while they are packed, from their
// values. TF_QOPS_VERBOSE=1 in the environment prints a line for each, TF_QOPS_ALGORITHM forces
// one of those that the instruction set has.

// Algorithms of an instruction set for dense products.
const std::vector<Algorithm>& AlgorithmsOf(InstructionSet isa);

// The one named by TF_QOPS_ALGORITHM.
std::optional<Algorithm> ForcedAlgorithm();

// Products of one shape, all by the same algorithm: [rows, taps * channels] times
// [taps * channels, columns].
struct ProductShape {
  int64_t count;
  int64_t columns;
  int64_t taps;
  int64_t channels;
};

// Groups the quads of panels of bytes, whose data it frees, if that is thought to be faster than
// words or `always`.
bool Group(const ProductShape& shape, bool always, std::vector<PackedPanels>* panels);

// Prints the line of TF_QOPS_VERBOSE.
void Report(const ProductShape& shape, InstructionSet isa, const std::vector<PackedPanels>& panels);

// difference(product, column, tap, channel) is a code minus its zero point. An algorithm that the
// instruction set does not have is not forced.
template <typename Difference>
std::vector<PackedPanels> PackProducts(const ProductShape& shape, InstructionSet isa,
                                       std::optional<Algorithm> forced, Difference&& difference) {
  std::vector<PackedPanels> panels;
  const auto pack = [&](LaneFormat format) {
    panels.clear();
    for (int64_t product = 0; product < shape.count; ++product) {
      panels.push_back(PackPanels(
          format, shape.columns, shape.taps, shape.channels,
          [&](int64_t j, int64_t tap, int64_t c) { return difference(product, j, tap, c); }));
    }
  };
  bool grouped = isa == InstructionSet::kAvx2 && forced != Algorithm::kWidened;
  if (grouped) {
    pack(LaneFormat::kBytes);
    grouped = Group(shape, forced == Algorithm::kGrouped, &panels);
  }
  if (!grouped) pack(ProductKernelsOf(isa).format);
  Report(shape, isa, panels);
  return panels;
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PLAN_H_
