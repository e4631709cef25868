#ifndef TF_QOPS_CC_CORE_NBITS_KERNELS_H_
#define TF_QOPS_CC_CORE_NBITS_KERNELS_H_

#include <cstdint>

#include "cc/core/cpu.h"

namespace tf_qops {

// Inner loops of MatMulNBits over panels of kNBitsPanel columns. A word holds 32 / bits codes of
// consecutive k of one column, the first in the lowest bits; a group is a block's k, in words of
// its own.
//
// Each sum runs over its k one after the other, in fused multiply-adds: they cost what a product
// costs on every CPU with vectors worth having (all with AVX2, all of aarch64), while a separate
// addition would add a fifth to the work. std::fma gives the same bits everywhere, slowly where
// the CPU lacks the instruction.

inline constexpr int kNBitsPanel = 16;
inline constexpr int kNBitsTileRows = 6;  // With two vectors a row, 12 of AVX2's 16 registers.

struct NBitsPanel {
  const uint32_t* words;     // [word][kNBitsPanel]
  const float* scales;       // [group][kNBitsPanel]
  const float* zero_points;  // [group][kNBitsPanel], or one for all where zero_point_step is 0.
  int64_t zero_point_step;
  bool whole_zero_points;  // Each is one of the codes.
};

struct NBitsKernels {
  // y[p][j] = the product of one row x with column j of panel p, for one or two panels.
  void (*row)(const float* x, const int64_t* group_sizes, int64_t groups, const NBitsPanel* panels,
              int count, float* y);
  // weights[i][j] = f32(code) - zero_point[j] of `size` codes of each column.
  void (*expand)(const uint32_t* words, int64_t size, const float* zero_point, float* weights);
  // acc[r][j] = fma(sum over i of x[i][r] * weights[i][j], scale[j], acc[r][j]) of `rows` rows.
  void (*tile)(int64_t rows, const float* x, int64_t size, const float* weights, const float* scale,
               float* acc);
};

const NBitsKernels& NBitsKernelsPortable(int64_t bits);
const NBitsKernels& NBitsKernelsAvx2(int64_t bits);

inline const NBitsKernels& NBitsKernelsOf(InstructionSet isa, int64_t bits) {
#ifdef TF_QOPS_X86
  if (isa >= InstructionSet::kAvx2) return NBitsKernelsAvx2(bits);
#endif
  (void)isa;
  return NBitsKernelsPortable(bits);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_NBITS_KERNELS_H_
