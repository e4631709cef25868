#include "cc/core/accumulator_sink.h"

namespace tf_qops {

Requantization::Requantization(std::vector<float> scales, const int32_t* bias_or_null,
                               CodeRange y_range)
    : scale(std::move(scales)), bias(scale.size(), 0), range(y_range) {
  if (bias_or_null != nullptr) std::copy_n(bias_or_null, bias.size(), bias.begin());
  scale.resize(scale.size() + kPanel, 0.0f);
  bias.resize(scale.size(), 0);
}

}  // namespace tf_qops
