#ifndef TF_QOPS_CC_CORE_BYTE_KERNELS_H_
#define TF_QOPS_CC_CORE_BYTE_KERNELS_H_

#include <cstdint>

#include "cc/core/binary.h"
#include "cc/core/bytes.h"
#include "cc/core/cpu.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// From a sum of codes to the code of their mean:
//   y = clamp(rint(f32(sum - offset) / divisor * factor + plus)) + range.zero_point
struct MeanScaling {
  int32_t offset;
  float divisor;
  float factor;
  float plus;
  CodeRange range;
};

// Inner loops on bytes. Codes are read as `byte ^ flip`, never negative: flip is 0x80 for signed
// ones, which adds 128 to them.
struct ByteKernels {
  // BinaryReference for `count` elements of c; a step is 1, or 0 where an operand is repeated.
  void (*binary)(BinaryKind kind, const BinaryFormats& formats, const uint8_t* a, int64_t a_step,
                 const uint8_t* b, int64_t b_step, int64_t count, uint8_t* c);
  // y[i] = table[x[i]].
  void (*look_up)(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y);
  // sums[i] += x[i] ^ flip.
  void (*accumulate)(const uint8_t* x, int64_t count, uint8_t flip, int32_t* sums);
  // The sum of x[i] ^ flip, for counts below 2^23.
  int32_t (*sum)(const uint8_t* x, int64_t count, uint8_t flip);
  void (*mean)(const int32_t* sums, int64_t count, const MeanScaling& scaling, uint8_t* y);
  // Widens [*low, *high] to hold all of x; NaN is passed over.
  void (*find_range)(const float* x, int64_t count, float* low, float* high);
  // y[i] = range.Quantize(x[i] / scale).
  void (*quantize)(const float* x, int64_t count, float scale, const CodeRange& range, uint8_t* y);
};

const ByteKernels& ByteKernelsPortable();
const ByteKernels& ByteKernelsAvx2();

inline const ByteKernels& ByteKernelsOf(InstructionSet isa) {
#ifdef TF_QOPS_X86
  if (isa >= InstructionSet::kAvx2) return ByteKernelsAvx2();
#endif
  (void)isa;
  return ByteKernelsPortable();
}

inline uint8_t FlipOf(bool is_signed) { return is_signed ? 0x80 : 0; }

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BYTE_KERNELS_H_
