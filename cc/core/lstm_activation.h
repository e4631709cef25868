#ifndef TF_QOPS_CC_CORE_LSTM_ACTIVATION_H_
#define TF_QOPS_CC_CORE_LSTM_ACTIVATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cc/core/activation_kernels.h"
#include "cc/core/result.h"

namespace tf_qops {

// A function of a recurrent operator, with its parameters.
struct Activation {
  enum class Kind {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus,
  };

  Kind kind;
  float alpha;
  float beta;

  // y = alpha * x + beta and the like are in float32; exponentials in double, rounded once.
  float Apply(float x) const;
  // The same for `count` values, in place.
  void ApplyToAll(float* values, int64_t count, const ActivationKernels& kernels) const;
};

// The functions named, `count` of them; with no names Sigmoid, Tanh, Tanh and again. Functions that
// have an alpha take the next of `alphas`, or their default once those are used up; likewise beta.
// Names are read as ONNX Runtime does, whatever their case.
Result<std::vector<Activation>> ResolveActivations(const std::vector<std::string>& names,
                                                   const std::vector<float>& alphas,
                                                   const std::vector<float>& betas, int64_t count);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_LSTM_ACTIVATION_H_
