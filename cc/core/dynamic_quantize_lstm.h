#ifndef TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_LSTM_H_
#define TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_LSTM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/integer_matmul.h"
#include "cc/core/lstm_activation.h"
#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// com.microsoft DynamicQuantizeLSTM: an LSTM with weights of 8 bits, whose inputs and hidden state
// are quantized to uint8 as it runs.

struct LstmAttributes {
  int64_t hidden = 0;
  int64_t directions = 1;
  bool reverse = false;  // The first direction runs from the end; a second one always does.
  float clip = 0.0f;     // 0: none.
  bool input_forget = false;
  std::vector<Activation> activations;  // f, g and h of each direction.
};

// The shapes of the inputs, known perhaps in part; nothing where an optional one is not given.
struct LstmShapes {
  Shape x, w, r;
  std::optional<Shape> bias, sequence_lens, initial_h, initial_c, peepholes;
  Shape w_scale, w_zero_point, r_scale, r_zero_point;
};

struct LstmSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t inputs = 0;
};

struct ResolvedLstm {
  Shape y, state;   // Of y, and of y_h and y_c.
  LstmSizes sizes;  // Meaningful where the shapes are fully known.
};

// x is [steps, batch, inputs], w [directions, inputs, 4 hidden], r [directions, hidden, 4 hidden];
// bias [directions, 8 hidden], sequence_lens [batch], initial_h and initial_c [directions, batch,
// hidden], peepholes [directions, 3 hidden]; scales and zero points are scalars, [directions] or
// [directions, 4 hidden].
Result<ResolvedLstm> ResolveLstm(const LstmAttributes& attributes, const LstmShapes& shapes);

// One of the two weights; its columns are those of the gates i, o, f, c.
struct LstmMatrix {
  Bytes codes;                // [directions, rows, 4 hidden]
  std::vector<float> scales;  // [directions * 4 hidden]
  std::vector<int32_t> zero_points;

  // Of one direction.
  ByteMatrix Matrix(int64_t direction, int64_t rows, int64_t columns) const {
    return {codes + direction * rows * columns, rows, columns, columns, 1};
  }
};

// The inputs; any but x, w and r may be null.
struct LstmInputs {
  const float* x;
  LstmMatrix w, r;
  const float* bias = nullptr;
  const int32_t* sequence_lens = nullptr;  // Each in [0, steps].
  const float* initial_h = nullptr;
  const float* initial_c = nullptr;
  const float* peepholes = nullptr;
};

struct LstmOutputs {
  float* y;    // [steps, directions, batch, hidden]
  float* y_h;  // [directions, batch, hidden]
  float* y_c;
};

// The definition, in float32 with every operation rounded. x is quantized once, as
// DynamicQuantizeLinear does, up to the longest sequence; so is, at each step of a direction, what
// the step before gave for the whole batch (initial_h at first, 0 beyond the end of a sequence).
// With the exact sums of products of codes less zero points, each gate is
//   gate = clip(((f32(x . w) * (x_scale * w_scale) + f32(h . r) * (h_scale * r_scale)) + p * c)
//               + (w_bias + r_bias))
// (p of i, o and f; o with the new c), and
//   f = f(gate_f), or 1 - i where input_forget is set; i, o likewise by f
//   c = c * f + i * g(gate_c);  h = o * h(clip(c))
// Beyond its length a sequence has y = 0; one of length 0 has y_h = y_c = 0 too.
void DynamicQuantizeLstmReference(const LstmAttributes& attributes, const LstmSizes& sizes,
                                  const LstmInputs& inputs, const LstmOutputs& outputs);

// Weights in the order in which the kernels read them, of each direction.
std::vector<PackedPanels> PackLstmMatrix(const LstmMatrix& matrix, int64_t directions, int64_t rows,
                                         int64_t columns, InstructionSet isa);

// The same values, with the weights packed for the same instruction set.
void DynamicQuantizeLstm(const LstmAttributes& attributes, const LstmSizes& sizes,
                         const LstmInputs& inputs, const std::vector<PackedPanels>& w,
                         const std::vector<PackedPanels>& r, const LstmOutputs& outputs,
                         const Workers& workers, InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_DYNAMIC_QUANTIZE_LSTM_H_
