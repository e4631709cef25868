#ifndef TF_QOPS_CC_CORE_ACTIVATION_KERNELS_H_
#define TF_QOPS_CC_CORE_ACTIVATION_KERNELS_H_

#include <cstdint>

#include "cc/core/cpu.h"

namespace tf_qops {

// The activations that recurrent operators have by default, in place; exponential.h's functions,
// rounded to float32.
struct ActivationKernels {
  void (*sigmoid)(float* values, int64_t count);
  void (*tanh)(float* values, int64_t count);
};

const ActivationKernels& ActivationKernelsPortable();
const ActivationKernels& ActivationKernelsAvx2();

inline const ActivationKernels& ActivationKernelsOf(InstructionSet isa) {
#ifdef TF_QOPS_X86
  if (isa >= InstructionSet::kAvx2) return ActivationKernelsAvx2();
#endif
  (void)isa;
  return ActivationKernelsPortable();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_ACTIVATION_KERNELS_H_
