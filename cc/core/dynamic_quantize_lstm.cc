#include "cc/core/dynamic_quantize_lstm.h"

#include <algorithm>
#include <limits>

#include "cc/core/dynamic_quantize.h"
#include "cc/core/lstm_cell.h"

namespace tf_qops {
namespace {

// Gives `dims`, where they are unknown, what `shape` tells; false where the two disagree.
bool Unify(const Shape& shape, std::initializer_list<int64_t*> dims) {
  if (!shape) return true;
  if (shape->size() != dims.size()) return false;
  bool ok = true;
  auto got = shape->begin();
  for (int64_t* dim : dims) {
    if (*dim == kUnknown) *dim = *got;
    ok = ok && (*got == kUnknown || *got == *dim);
    ++got;
  }
  return ok;
}

// Writes f32(acc) * scale, of a scale for each column.
class ScaledSink : public AccumulatorSink {
 public:
  ScaledSink(const std::vector<float>& scales, float* y) : scales_(scales), y_(y) {}

  void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
             int64_t columns) const override {
    const float* scale = scales_.data() + column;
    float* to = y_ + row * scales_.size() + column;
    for (int64_t r = 0; r < rows; ++r, acc += stride, to += scales_.size()) {
      for (int64_t j = 0; j < columns; ++j) to[j] = static_cast<float>(acc[j]) * scale[j];
    }
  }

 private:
  const std::vector<float>& scales_;
  float* const y_;
};

// What is quantized afresh for a product: rows of floats.
class QuantizedRows {
 public:
  QuantizedRows(int64_t rows, int64_t depth, const Workers& workers, InstructionSet isa)
      : rows_(rows),
        depth_(depth),
        codes_(rows * depth),
        zeros_(rows),
        workers_(workers),
        isa_(isa) {}

  void Quantize(const float* values) {
    const DynamicScale chosen(RangeOf(values, rows_ * depth_, workers_, isa_));
    QuantizeToBytes(chosen, values, rows_ * depth_, codes_.data(), workers_, isa_);
    std::fill(zeros_.begin(), zeros_.end(), chosen.zero_point);
    scale_ = chosen.scale;
  }

  // y = f32(rows . matrix) * (scale * that of the column).
  void Multiply(const PackedPanels& matrix, const float* scales, float* y) const {
    std::vector<float> both(matrix.columns);
    for (int64_t n = 0; n < matrix.columns; ++n) both[n] = scale_ * scales[n];
    const ByteMatrix rows{{codes_.data(), false}, rows_, depth_, depth_, 1};
    PackedMatMul(rows, zeros_.data(), matrix, 0, ScaledSink(both, y), workers_, isa_);
  }

 private:
  const int64_t rows_;
  const int64_t depth_;
  std::vector<uint8_t> codes_;
  std::vector<int32_t> zeros_;
  float scale_ = 1.0f;
  const Workers& workers_;
  const InstructionSet isa_;
};

}  // namespace

Result<ResolvedLstm> ResolveLstm(const LstmAttributes& a, const LstmShapes& s) {
  int64_t steps = kUnknown, batch = kUnknown, inputs = kUnknown;
  int64_t directions = a.directions, hidden = a.hidden, gates = 4 * a.hidden;
  int64_t both_biases = 8 * a.hidden, peepholes = 3 * a.hidden;
  if (hidden < 1 || hidden > std::numeric_limits<int32_t>::max()) {
    return Invalid("hidden_size must be in [1, ", std::numeric_limits<int32_t>::max(),
                   "]. Received: ", hidden);
  }
  if (!(a.clip >= 0.0f)) return Invalid("clip must be positive. Received: ", a.clip);
  const auto wrong = [&](const char* name, const char* want, const Shape& shape) {
    return Invalid(name, " must be of shape ", want, ". Received: shape ", Show{shape},
                   ", hidden_size=", a.hidden, ", directions=", a.directions, ", x of shape ",
                   Show{s.x});
  };
  if (!Unify(s.x, {&steps, &batch, &inputs})) {
    return Invalid("x must have 3 dimensions. Received: shape ", Show{s.x});
  }
  if (!Unify(s.w, {&directions, &inputs, &gates})) {
    return wrong("w", "[directions, inputs, 4 * hidden_size]", s.w);
  }
  if (!Unify(s.r, {&directions, &hidden, &gates})) {
    return wrong("r", "[directions, hidden_size, 4 * hidden_size]", s.r);
  }
  if (s.bias && !Unify(*s.bias, {&directions, &both_biases})) {
    return wrong("bias", "[directions, 8 * hidden_size]", *s.bias);
  }
  if (s.sequence_lens && !Unify(*s.sequence_lens, {&batch})) {
    return wrong("sequence_lens", "[batch]", *s.sequence_lens);
  }
  if (s.initial_h && !Unify(*s.initial_h, {&directions, &batch, &hidden})) {
    return wrong("initial_h", "[directions, batch, hidden_size]", *s.initial_h);
  }
  if (s.initial_c && !Unify(*s.initial_c, {&directions, &batch, &hidden})) {
    return wrong("initial_c", "[directions, batch, hidden_size]", *s.initial_c);
  }
  if (s.peepholes && !Unify(*s.peepholes, {&directions, &peepholes})) {
    return wrong("peepholes", "[directions, 3 * hidden_size]", *s.peepholes);
  }
  const std::pair<const char*, const Shape&> parameters[] = {{"w_scale", s.w_scale},
                                                             {"w_zero_point", s.w_zero_point},
                                                             {"r_scale", s.r_scale},
                                                             {"r_zero_point", s.r_zero_point}};
  for (const auto& [name, shape] : parameters) {
    if (shape && !shape->empty() && !Unify(shape, {&directions}) &&
        !Unify(shape, {&directions, &gates})) {
      return wrong(name, "[directions] or [directions, 4 * hidden_size]", shape);
    }
  }
  return ResolvedLstm{Dims{steps, directions, batch, hidden},
                      Dims{directions, batch, hidden},
                      {steps, batch, inputs}};
}

std::vector<PackedPanels> PackLstmMatrix(const LstmMatrix& matrix, int64_t directions, int64_t rows,
                                         int64_t columns, InstructionSet isa) {
  std::vector<PackedPanels> packed;
  for (int64_t d = 0; d < directions; ++d) {
    packed.push_back(
        PackMatrix(matrix.Matrix(d, rows, columns), matrix.zero_points.data() + d * columns, isa));
  }
  return packed;
}

void DynamicQuantizeLstm(const LstmAttributes& attributes, const LstmSizes& s,
                         const LstmInputs& inputs, const std::vector<PackedPanels>& w,
                         const std::vector<PackedPanels>& r, const LstmOutputs& outputs,
                         const Workers& workers, InstructionSet isa) {
  const int64_t hidden = attributes.hidden, columns = 4 * hidden, state = s.batch * hidden;
  const std::vector<int64_t> lengths = LstmLengths(s, inputs.sequence_lens);
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  std::fill_n(outputs.y, s.steps * attributes.directions * state, 0.0f);
  std::fill_n(outputs.y_h, attributes.directions * state, 0.0f);
  std::fill_n(outputs.y_c, attributes.directions * state, 0.0f);

  const ActivationKernels& kernels = ActivationKernelsOf(isa);
  const int64_t chunks = (hidden + kLstmUnits - 1) / kLstmUnits;
  QuantizedRows x(longest * s.batch, s.inputs, workers, isa);
  x.Quantize(inputs.x);
  QuantizedRows previous(s.batch, hidden, workers, isa);
  std::vector<float> from_x(longest * s.batch * columns), from_h(s.batch * columns);
  for (int64_t d = 0; d < attributes.directions; ++d) {
    const LstmCell cell(attributes, inputs, d);
    x.Multiply(w[d], inputs.w.scales.data() + d * columns, from_x.data());
    std::vector<float> h = LstmState(attributes, s, inputs.initial_h, d);
    std::vector<float> c = LstmState(attributes, s, inputs.initial_c, d);
    for (int64_t step = 0; step < longest; ++step) {
      for (int64_t b = 0; b < s.batch; ++b) {
        if (step > lengths[b]) std::fill_n(h.data() + b * hidden, hidden, 0.0f);
      }
      previous.Quantize(h.data());
      previous.Multiply(r[d], inputs.r.scales.data() + d * columns, from_h.data());
      workers.run(s.batch * chunks, 20 * kLstmUnits, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t sequence = unit / chunks, first = unit % chunks * kLstmUnits;
          if (step >= lengths[sequence]) continue;
          const int64_t count = std::min(kLstmUnits, hidden - first);
          const int64_t time = cell.Time(step, lengths[sequence]), row = sequence * hidden;
          cell.StepAll(first, count, from_x.data() + (time * s.batch + sequence) * columns,
                       from_h.data() + sequence * columns, kernels, h.data() + row, c.data() + row);
          float* y = outputs.y + (time * attributes.directions + d) * state + row + first;
          std::copy_n(h.data() + row + first, count, y);
        }
      });
      for (int64_t b = 0; b < s.batch; ++b) {
        if (step + 1 != lengths[b]) continue;
        const int64_t at = d * state + b * hidden;
        std::copy_n(h.data() + b * hidden, hidden, outputs.y_h + at);
        std::copy_n(c.data() + b * hidden, hidden, outputs.y_c + at);
      }
    }
  }
}

}  // namespace tf_qops
