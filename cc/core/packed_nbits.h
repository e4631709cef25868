#ifndef TF_QOPS_CC_CORE_PACKED_NBITS_H_
#define TF_QOPS_CC_CORE_PACKED_NBITS_H_

#include <cstdint>
#include <vector>

#include "cc/core/aligned_vector.h"
#include "cc/core/cpu.h"
#include "cc/core/matmul_nbits.h"
#include "cc/core/nbits_kernels.h"
#include "cc/core/parallel.h"

namespace tf_qops {

// The right operand of MatMulNBits in the order in which the kernels read it; the codes keep their
// width.
struct PackedNBits {
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t bits = 0;
  std::vector<int64_t> order;        // The k of each position; empty where positions are k.
  std::vector<int64_t> group_sizes;  // Positions of each block that has any.
  AlignedVector<uint32_t> words;     // [panel][word][kNBitsPanel]
  AlignedVector<float> scales;       // [panel][group][kNBitsPanel]
  AlignedVector<float> zero_points;  // The same, or one panel's where all are alike.
  int64_t panel_words = 0;
  bool whole_zero_points = true;

  int64_t panels() const { return (columns + kNBitsPanel - 1) / kNBitsPanel; }
  NBitsPanel Panel(int64_t panel) const;
};

PackedNBits PackNBits(const NBitsWeights& w);

// The values of MatMulNBitsReference, for any number of rows and threads.
void PackedMatMulNBits(const PackedNBits& w, const float* a, int64_t rows, const float* bias,
                       float* y, const Workers& workers, InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PACKED_NBITS_H_
