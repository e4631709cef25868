#ifndef TF_QOPS_CC_OPS_LSTM_ATTRIBUTES_H_
#define TF_QOPS_CC_OPS_LSTM_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "cc/core/dynamic_quantize_lstm.h"
#include "cc/ops/attributes.h"

namespace tf_qops {

// Reads DynamicQuantizeLSTM's attributes from an InferenceContext or an OpKernelConstruction.
template <typename Context>
absl::Status GetLstmAttributes(Context* c, LstmAttributes* attributes) {
  std::string direction;
  std::vector<std::string> activations;
  std::vector<float> alphas, betas;
  TF_RETURN_IF_ERROR(c->GetAttr("hidden_size", &attributes->hidden));
  TF_RETURN_IF_ERROR(c->GetAttr("direction", &direction));
  TF_RETURN_IF_ERROR(c->GetAttr("activations", &activations));
  TF_RETURN_IF_ERROR(c->GetAttr("activation_alpha", &alphas));
  TF_RETURN_IF_ERROR(c->GetAttr("activation_beta", &betas));
  TF_RETURN_IF_ERROR(c->GetAttr("clip", &attributes->clip));
  TF_RETURN_IF_ERROR(c->GetAttr("input_forget", &attributes->input_forget));
  attributes->directions = direction == "bidirectional" ? 2 : 1;
  attributes->reverse = direction == "reverse";
  const auto resolved = ResolveActivations(activations, alphas, betas, 3 * attributes->directions);
  if (!resolved.ok()) return ToStatus(resolved.error());
  attributes->activations = *resolved;
  return absl::OkStatus();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_LSTM_ATTRIBUTES_H_
