#include "cc/core/lstm_activation.h"

#include <algorithm>
#include <cmath>

#include "cc/core/exponential.h"

namespace tf_qops {
namespace {

using Kind = Activation::Kind;

// What ONNX says of a function: its defaults where it has an alpha or a beta.
struct Described {
  const char* name;
  Kind kind;
  bool has_alpha;
  bool has_beta;
  float alpha;
  float beta;
};

// The defaults are those of the ONNX operators of the same names. ScaledTanh has none: 1 and 1.
constexpr Described kDescribed[] = {
    {"relu", Kind::kRelu, false, false, 0.0f, 0.0f},
    {"tanh", Kind::kTanh, false, false, 0.0f, 0.0f},
    {"sigmoid", Kind::kSigmoid, false, false, 0.0f, 0.0f},
    {"affine", Kind::kAffine, true, true, 1.0f, 0.0f},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01f, 0.0f},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1.0f, 0.0f},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1.0f, 1.0f},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", Kind::kElu, true, false, 1.0f, 0.0f},
    {"softsign", Kind::kSoftsign, false, false, 0.0f, 0.0f},
    {"softplus", Kind::kSoftplus, false, false, 0.0f, 0.0f},
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

float Rounded(double value) { return static_cast<float>(value); }

}  // namespace

float Activation::Apply(float x) const {
  switch (kind) {
    case Kind::kRelu:
      return x < 0.0f ? 0.0f : x;
    case Kind::kTanh:
      return Rounded(Tanh(x));
    case Kind::kSigmoid:
      return Rounded(Sigmoid(x));
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kLeakyRelu:
      return x < 0.0f ? alpha * x : x;
    case Kind::kThresholdedRelu:
      return x < alpha ? 0.0f : x;
    case Kind::kScaledTanh:
      return alpha * Rounded(Tanh(beta * x));
    case Kind::kHardSigmoid: {
      const float line = alpha * x + beta;
      return line < 0.0f ? 0.0f : line > 1.0f ? 1.0f : line;
    }
    case Kind::kElu:
      return x < 0.0f ? Rounded(alpha * (Exp(x) - 1.0)) : x;
    case Kind::kSoftsign:
      return x / (1.0f + std::abs(x));
    case Kind::kSoftplus:
      return Rounded((x < 0.0f ? 0.0f : x) + LogOnePlus(Exp(-std::abs(x))));
  }
  return x;
}

void Activation::ApplyToAll(float* values, int64_t count, const ActivationKernels& kernels) const {
  if (kind == Kind::kSigmoid) return kernels.sigmoid(values, count);
  if (kind == Kind::kTanh) return kernels.tanh(values, count);
  for (int64_t i = 0; i < count; ++i) values[i] = Apply(values[i]);
}

Result<std::vector<Activation>> ResolveActivations(const std::vector<std::string>& names,
                                                   const std::vector<float>& alphas,
                                                   const std::vector<float>& betas, int64_t count) {
  std::vector<std::string> all = names;
  if (all.empty()) {
    for (int64_t i = 0; i < count; ++i) all.push_back(i % 3 == 0 ? "Sigmoid" : "Tanh");
  }
  if (static_cast<int64_t>(all.size()) != count) {
    return Invalid("activations must name ", count, " functions. Received: ", all.size());
  }
  std::vector<Activation> resolved;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : all) {
    const auto* described =
        std::find_if(std::begin(kDescribed), std::end(kDescribed),
                     [&](const Described& known) { return Lower(name) == known.name; });
    if (described == std::end(kDescribed)) {
      return Invalid(
          "activations must be Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, "
          "ScaledTanh, HardSigmoid, Elu, Softsign or Softplus. Received: ",
          name);
    }
    Activation one{described->kind, described->alpha, described->beta};
    if (described->has_alpha && alpha < alphas.size()) one.alpha = alphas[alpha++];
    if (described->has_beta && beta < betas.size()) one.beta = betas[beta++];
    resolved.push_back(one);
  }
  return resolved;
}

}  // namespace tf_qops
