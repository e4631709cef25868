#ifndef TF_QOPS_CC_CORE_LSTM_CELL_H_
#define TF_QOPS_CC_CORE_LSTM_CELL_H_

#include "cc/core/dynamic_quantize_lstm.h"

namespace tf_qops {

inline constexpr int64_t kLstmUnits = 64;  // Whose states StepAll updates at once.

// One direction of an LSTM after its products.
class LstmCell {
 public:
  LstmCell(const LstmAttributes& attributes, const LstmInputs& inputs, int64_t direction)
      : attributes_(attributes),
        activations_(attributes.activations.data() + 3 * direction),
        bias_(inputs.bias == nullptr ? nullptr : inputs.bias + direction * 8 * attributes.hidden),
        peepholes_(inputs.peepholes == nullptr
                       ? nullptr
                       : inputs.peepholes + direction * 3 * attributes.hidden),
        reverse_(attributes.reverse || direction == 1) {}

  // Where a sequence of `length` is at `step`.
  int64_t Time(int64_t step, int64_t length) const { return reverse_ ? length - 1 - step : step; }

  // Updates the state of a unit. gates(g) is the sum of the products of gate i, o, f or c.
  template <typename Gates>
  void Step(int64_t unit, Gates&& gates, float* h, float* c) const {
    const Activation &f = activations_[0], &g = activations_[1], &last = activations_[2];
    const float i = f.Apply(Input(kI, unit, gates(kI), *c));
    const float forget =
        attributes_.input_forget ? 1.0f - i : f.Apply(Input(kF, unit, gates(kF), *c));
    *c = *c * forget + i * g.Apply(Input(kC, unit, gates(kC), *c));
    *h = f.Apply(Input(kO, unit, gates(kO), *c)) * last.Apply(Clip(*c));
  }

  // The same for `count` units from `first` on, at most kLstmUnits. The sum of gate g of unit u
  // is x[g * hidden + u] + h_product[g * hidden + u].
  void StepAll(int64_t first, int64_t count, const float* x, const float* h_product,
               const ActivationKernels& kernels, float* h, float* c) const {
    const Activation &f = activations_[0], &g = activations_[1], &last = activations_[2];
    float i[kLstmUnits], forget[kLstmUnits], block[kLstmUnits], out[kLstmUnits],
        clipped[kLstmUnits];
    const auto gate = [&](Gate which, const Activation& activation, float* values) {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t at = which * attributes_.hidden + first + j;
        values[j] = Input(which, first + j, x[at] + h_product[at], c[first + j]);
      }
      activation.ApplyToAll(values, count, kernels);
    };
    gate(kI, f, i);
    if (!attributes_.input_forget) gate(kF, f, forget);
    gate(kC, g, block);
    for (int64_t j = 0; j < count; ++j) {
      if (attributes_.input_forget) forget[j] = 1.0f - i[j];
      c[first + j] = c[first + j] * forget[j] + i[j] * block[j];
      clipped[j] = Clip(c[first + j]);
    }
    gate(kO, f, out);
    last.ApplyToAll(clipped, count, kernels);
    for (int64_t j = 0; j < count; ++j) h[first + j] = out[j] * clipped[j];
  }

 private:
  enum Gate { kI, kO, kF, kC };

  float Input(Gate gate, int64_t unit, float sum, float c) const {
    const int64_t at = gate * attributes_.hidden + unit;
    if (peepholes_ != nullptr && gate != kC) sum = sum + peepholes_[at] * c;
    if (bias_ != nullptr) sum = sum + (bias_[at] + bias_[4 * attributes_.hidden + at]);
    return Clip(sum);
  }

  float Clip(float value) const {
    const float limit = attributes_.clip;
    if (limit == 0.0f) return value;
    return value > limit ? limit : value < -limit ? -limit : value;
  }

  const LstmAttributes& attributes_;
  const Activation* const activations_;
  const float* const bias_;
  const float* const peepholes_;
  const bool reverse_;
};

// The lengths of all sequences.
inline std::vector<int64_t> LstmLengths(const LstmSizes& sizes, const int32_t* sequence_lens) {
  if (sequence_lens == nullptr) return std::vector<int64_t>(sizes.batch, sizes.steps);
  return {sequence_lens, sequence_lens + sizes.batch};
}

// The state of one direction before its first step: [batch, hidden].
inline std::vector<float> LstmState(const LstmAttributes& attributes, const LstmSizes& sizes,
                                    const float* initial, int64_t direction) {
  const int64_t size = sizes.batch * attributes.hidden;
  if (initial == nullptr) return std::vector<float>(size, 0.0f);
  return {initial + direction * size, initial + (direction + 1) * size};
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_LSTM_CELL_H_
