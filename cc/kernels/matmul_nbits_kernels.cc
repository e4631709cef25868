// MatMulNBits on the CPU.

#include "cc/core/packed_nbits.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/packed_weights.h"
#include "cc/ops/dtypes.h"
#include "cc/ops/nbits_attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

class MatMulNBitsOp : public OpKernel {
 public:
  explicit MatMulNBitsOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetNBitsAttributes(c, &attributes_));
  }

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &b = c->input(1), &scales = c->input(2);
    const Tensor *zero_points = nullptr, *g_idx = nullptr, *bias = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "zero_points", &zero_points));
    OP_REQUIRES_OK(c, OptionalInput(c, "g_idx", &g_idx));
    OP_REQUIRES_OK(c, OptionalInput(c, "bias", &bias));
    NBitsShapes shapes{ShapeOf(a), ShapeOf(b), ShapeOf(scales)};
    if (zero_points != nullptr) {
      shapes.zero_points = ShapeOf(*zero_points);
      shapes.zero_points_packed = zero_points->dtype() == tensorflow::DT_UINT8;
    }
    if (g_idx != nullptr) shapes.g_idx = ShapeOf(*g_idx);
    if (bias != nullptr) shapes.bias = ShapeOf(*bias);
    const auto resolved = ResolveMatMulNBits(attributes_, shapes);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    if (g_idx != nullptr && !resolved->no_weights) OP_REQUIRES_OK(c, CheckBlocks(*g_idx));

    tensorflow::TensorShape y_shape;
    OP_REQUIRES_OK(c, tensorflow::TensorShape::BuildTensorShape(*resolved->output, &y_shape));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, y_shape, &y));
    if (y->NumElements() == 0) return;

    std::optional<Float32Values> bias_values;
    if (bias != nullptr) bias_values.emplace(*bias);
    const float* bias_or_null = bias != nullptr ? bias_values->data() : nullptr;
    VisitFloats(y->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<float> wide(std::is_same_v<T, float> ? 0 : y->NumElements());
      float* sums = wide.empty() ? static_cast<float*>(y->data()) : wide.data();
      if (resolved->no_weights) {
        FillWithBias(bias_or_null, resolved->rows, sums);
      } else {
        PackedMatMulNBits(*Packed(b, scales, zero_points, g_idx), Float32Values(a).data(),
                          resolved->rows, bias_or_null, sums, WorkersOf(c), ChosenInstructionSet());
      }
      std::transform(wide.begin(), wide.end(), MutableData<T>(y), FromFloat32<T>);
    });
  }

 private:
  absl::Status CheckBlocks(const Tensor& g_idx) const {
    for (int64_t k = 0; k < attributes_.k; ++k) {
      const int32_t block = Data<int32_t>(g_idx)[k];
      if (block < 0 || block >= attributes_.blocks()) {
        return ToStatus(Invalid("g_idx must be in [0, ", attributes_.blocks() - 1,
                                "]. Received: ", block, " at ", k));
      }
    }
    return absl::OkStatus();
  }

  void FillWithBias(const float* bias, int64_t rows, float* y) const {
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t n = 0; n < attributes_.n; ++n) *y++ = bias == nullptr ? 0.0f : bias[n];
    }
  }

  std::shared_ptr<const PackedNBits> Packed(const Tensor& b, const Tensor& scales,
                                            const Tensor* zero_points, const Tensor* g_idx) {
    const auto pack = [&] {
      const Float32Values scale_values(scales);
      NBitsWeights w{attributes_, Data<uint8_t>(b), scale_values.data()};
      if (g_idx != nullptr) w.g_idx = Data<int32_t>(*g_idx);
      if (zero_points == nullptr) return PackNBits(w);
      if (zero_points->dtype() == tensorflow::DT_UINT8) {
        w.packed_zero_points = Data<uint8_t>(*zero_points);
        return PackNBits(w);
      }
      const Float32Values zero_point_values(*zero_points);
      w.zero_points = zero_point_values.data();
      return PackNBits(w);
    };
    const NBitsAttributes& a = attributes_;
    return packed_.Get({&b, &scales, zero_points, g_idx}, {}, {a.k, a.n, a.bits, a.block_size},
                       [&](const WeightsKey&) { return pack(); });
  }

  NBitsAttributes attributes_;
  PackedWeights<PackedNBits> packed_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>MatMulNBits").Device(tensorflow::DEVICE_CPU), MatMulNBitsOp);

}  // namespace
}  // namespace tf_qops
