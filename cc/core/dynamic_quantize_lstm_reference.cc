#include <algorithm>

#include "cc/core/dynamic_quantize.h"
#include "cc/core/dynamic_quantize_lstm.h"
#include "cc/core/lstm_cell.h"

namespace tf_qops {
namespace {

// Float32 values as uint8 codes.
struct Quantized {
  DynamicScale chosen;
  std::vector<int32_t> differences;  // Codes less the zero point.

  Quantized(const float* values, int64_t size) : chosen(RangeOfReference(values, size)) {
    const CodeRange range = ByteRange(false, chosen.zero_point);
    for (int64_t i = 0; i < size; ++i) {
      differences.push_back(range.Quantize(values[i] / chosen.scale) - chosen.zero_point);
    }
  }

  // Row `row`, of `depth` values, times a column of a direction's matrix.
  float Product(int64_t row, int64_t depth, const LstmMatrix& matrix, int64_t direction,
                int64_t columns, int64_t column) const {
    const ByteMatrix weights = matrix.Matrix(direction, depth, columns);
    const int64_t parameter = direction * columns + column;
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int32_t weight = weights.At(k, column) - matrix.zero_points[parameter];
      sum += static_cast<uint32_t>(differences[row * depth + k] * weight);
    }
    return static_cast<float>(static_cast<int32_t>(sum)) *
           (chosen.scale * matrix.scales[parameter]);
  }
};

}  // namespace

void DynamicQuantizeLstmReference(const LstmAttributes& attributes, const LstmSizes& s,
                                  const LstmInputs& inputs, const LstmOutputs& outputs) {
  const int64_t hidden = attributes.hidden, state = s.batch * hidden;
  const std::vector<int64_t> lengths = LstmLengths(s, inputs.sequence_lens);
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  std::fill_n(outputs.y, s.steps * attributes.directions * state, 0.0f);
  std::fill_n(outputs.y_h, attributes.directions * state, 0.0f);
  std::fill_n(outputs.y_c, attributes.directions * state, 0.0f);

  const Quantized x(inputs.x, longest * s.batch * s.inputs);
  for (int64_t d = 0; d < attributes.directions; ++d) {
    const LstmCell cell(attributes, inputs, d);
    std::vector<float> h = LstmState(attributes, s, inputs.initial_h, d);
    std::vector<float> c = LstmState(attributes, s, inputs.initial_c, d);
    for (int64_t step = 0; step < longest; ++step) {
      for (int64_t i = 0; i < state; ++i) {
        if (step > lengths[i / hidden]) h[i] = 0.0f;
      }
      const Quantized codes(h.data(), state);
      for (int64_t i = 0; i < state; ++i) {
        const int64_t sequence = i / hidden, unit = i % hidden, length = lengths[sequence];
        if (step >= length) continue;
        const int64_t time = cell.Time(step, length);
        cell.Step(
            unit,
            [&](int64_t gate) {
              const int64_t column = gate * hidden + unit;
              return x.Product(time * s.batch + sequence, s.inputs, inputs.w, d, 4 * hidden,
                               column) +
                     codes.Product(sequence, hidden, inputs.r, d, 4 * hidden, column);
            },
            &h[i], &c[i]);
        outputs.y[(time * attributes.directions + d) * state + i] = h[i];
        if (step + 1 == length) {
          outputs.y_h[d * state + i] = h[i];
          outputs.y_c[d * state + i] = c[i];
        }
      }
    }
  }
}

}  // namespace tf_qops
