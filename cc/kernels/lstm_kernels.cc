// DynamicQuantizeLSTM on the CPU.

#include "cc/core/dynamic_quantize_lstm.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/packed_weights.h"
#include "cc/ops/lstm_attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// A parameter of all directions (a scalar), each direction, or each column of each: read(i) is its
// flat element i.
template <typename T, typename Read>
std::vector<T> Spread(const Tensor& parameter, int64_t directions, int64_t columns, Read&& read) {
  const int64_t size = parameter.NumElements();
  std::vector<T> values;
  for (int64_t i = 0; i < directions * columns; ++i) {
    values.push_back(read(size == 1 ? 0 : size == directions ? i / columns : i));
  }
  return values;
}

// An input and the place of its shape.
struct Optional {
  const char* name;
  std::optional<Shape>* shape;
  const Tensor* tensor = nullptr;

  template <typename T>
  const T* DataOrNull() const {
    return tensor == nullptr ? nullptr : Data<T>(*tensor);
  }
};

struct Required {
  const char* name;
  Shape* shape;
  const Tensor* tensor = nullptr;
};

class DynamicQuantizeLstmOp : public OpKernel {
 public:
  explicit DynamicQuantizeLstmOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetLstmAttributes(c, &attributes_));
  }

  void Compute(OpKernelContext* c) override {
    LstmShapes s;
    Required x{"x", &s.x}, w{"w", &s.w}, r{"r", &s.r};
    Required w_scale{"w_scale", &s.w_scale}, w_zero{"w_zero_point", &s.w_zero_point};
    Required r_scale{"r_scale", &s.r_scale}, r_zero{"r_zero_point", &s.r_zero_point};
    for (Required* input : {&x, &w, &r, &w_scale, &w_zero, &r_scale, &r_zero}) {
      OP_REQUIRES_OK(c, c->input(input->name, &input->tensor));
      *input->shape = ShapeOf(*input->tensor);
    }
    Optional bias{"bias", &s.bias}, lengths{"sequence_lens", &s.sequence_lens};
    Optional initial_h{"initial_h", &s.initial_h}, initial_c{"initial_c", &s.initial_c};
    Optional peepholes{"peepholes", &s.peepholes};
    for (Optional* input : {&bias, &lengths, &initial_h, &initial_c, &peepholes}) {
      OP_REQUIRES_OK(c, OptionalInput(c, input->name, &input->tensor));
      if (input->tensor != nullptr) *input->shape = ShapeOf(*input->tensor);
    }
    const auto resolved = ResolveLstm(attributes_, s);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const LstmSizes& sizes = resolved->sizes;
    if (lengths.tensor != nullptr) OP_REQUIRES_OK(c, CheckLengths(*lengths.tensor, sizes.steps));

    Tensor *y = nullptr, *y_h = nullptr, *y_c = nullptr;
    OP_REQUIRES_OK(c, Allocate(c, 0, *resolved->y, &y));
    OP_REQUIRES_OK(c, Allocate(c, 1, *resolved->state, &y_h));
    OP_REQUIRES_OK(c, Allocate(c, 2, *resolved->state, &y_c));

    const int64_t columns = 4 * attributes_.hidden;
    LstmInputs inputs{Data<float>(*x.tensor),
                      MatrixOf(*w.tensor, *w_scale.tensor, *w_zero.tensor),
                      MatrixOf(*r.tensor, *r_scale.tensor, *r_zero.tensor),
                      bias.DataOrNull<float>(),
                      lengths.DataOrNull<int32_t>(),
                      initial_h.DataOrNull<float>(),
                      initial_c.DataOrNull<float>(),
                      peepholes.DataOrNull<float>()};
    const auto packed_w = Packed(*w.tensor, inputs.w, sizes.inputs, columns, &packed_w_);
    const auto packed_r = Packed(*r.tensor, inputs.r, attributes_.hidden, columns, &packed_r_);
    DynamicQuantizeLstm(attributes_, sizes, inputs, *packed_w, *packed_r,
                        {MutableData<float>(y), MutableData<float>(y_h), MutableData<float>(y_c)},
                        WorkersOf(c), ChosenInstructionSet());
  }

 private:
  using Matrices = std::vector<PackedPanels>;

  static absl::Status CheckLengths(const Tensor& lengths, int64_t steps) {
    for (int64_t i = 0; i < lengths.NumElements(); ++i) {
      const int32_t length = Data<int32_t>(lengths)[i];
      if (length < 0 || length > steps) {
        return ToStatus(
            Invalid("sequence_lens must be in [0, ", steps, "]. Received: ", length, " at ", i));
      }
    }
    return absl::OkStatus();
  }

  static absl::Status Allocate(OpKernelContext* c, int index, const Dims& dims, Tensor** tensor) {
    tensorflow::TensorShape shape;
    TF_RETURN_IF_ERROR(tensorflow::TensorShape::BuildTensorShape(dims, &shape));
    return c->allocate_output(index, shape, tensor);
  }

  LstmMatrix MatrixOf(const Tensor& codes, const Tensor& scale, const Tensor& zero) const {
    const int64_t directions = attributes_.directions, columns = 4 * attributes_.hidden;
    return {
        BytesOf(codes),
        Spread<float>(scale, directions, columns, [&](int64_t i) { return Data<float>(scale)[i]; }),
        Spread<int32_t>(zero, directions, columns, [&](int64_t i) { return BytesOf(zero)[i]; })};
  }

  std::shared_ptr<const Matrices> Packed(const Tensor& codes, const LstmMatrix& matrix,
                                         int64_t rows, int64_t columns,
                                         PackedWeights<Matrices>* kept) const {
    return kept->Get({&codes}, matrix.zero_points, {}, [&](const WeightsKey&) {
      return PackLstmMatrix(matrix, attributes_.directions, rows, columns, ChosenInstructionSet());
    });
  }

  LstmAttributes attributes_;
  PackedWeights<Matrices> packed_w_, packed_r_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>DynamicQuantizeLSTM").Device(tensorflow::DEVICE_CPU),
                        DynamicQuantizeLstmOp);

}  // namespace
}  // namespace tf_qops
