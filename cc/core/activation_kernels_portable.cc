#include "cc/core/activation_kernels.h"
#include "cc/core/exponential.h"

namespace tf_qops {
namespace {

void SigmoidAll(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(Sigmoid(values[i]));
}

void TanhAll(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(Tanh(values[i]));
}

}  // namespace

const ActivationKernels& ActivationKernelsPortable() {
  static constexpr ActivationKernels kKernels{SigmoidAll, TanhAll};
  return kKernels;
}

}  // namespace tf_qops
