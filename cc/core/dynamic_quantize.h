#ifndef TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_H_
#define TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_H_

#include <cstdint>

#include "cc/core/cpu.h"
#include "cc/core/parallel.h"

namespace tf_qops {

// A float32 range, which holds 0.
struct FloatRange {
  float low = 0.0f;
  float high = 0.0f;
};

// The range of x, whose NaNs are passed over.
FloatRange RangeOfReference(const float* x, int64_t size);
FloatRange RangeOf(const float* x, int64_t size, const Workers& workers, InstructionSet isa);

// DynamicQuantizeLinear's choice for uint8 codes of a range, all in float32:
//   scale = (high - low) / 255, or 1 where that is 0
//   zero_point = rint(clamp(-low / scale, 0, 255)), 0 where that is NaN
struct DynamicScale {
  float scale;
  uint8_t zero_point;

  explicit DynamicScale(const FloatRange& range);
};

// y = clamp(rint(x / scale) + zero_point).
void QuantizeToBytes(const DynamicScale& chosen, const float* x, int64_t size, uint8_t* y,
                     const Workers& workers, InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_H_
