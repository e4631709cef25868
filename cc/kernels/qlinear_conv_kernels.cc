// QLinearConv on the CPU.

#include "cc/core/qlinear_conv.h"
#include "cc/core/widened_conv.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/recently_used.h"
#include "cc/ops/attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

Bytes BytesOf(const Tensor& tensor) {
  return {tensor.data(), tensor.dtype() == tensorflow::DT_INT8};
}

// Weights by identity. Whoever holds this holds a reference to the tensor's buffer, so TensorFlow
// writes an update of a variable to another one: an equal address means equal content.
struct WeightsKey {
  Tensor w;
  std::vector<int32_t> zero_points;

  bool operator==(const WeightsKey& other) const {
    return w.data() == other.w.data() && w.dtype() == other.w.dtype() &&
           w.shape() == other.w.shape() && zero_points == other.zero_points;
  }
};

class QLinearConvOp : public OpKernel {
 public:
  explicit QLinearConvOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetConvolutionAttributes(c, &attributes_));
  }

  void Compute(OpKernelContext* c) override {
    OP_REQUIRES(c, c->num_inputs() <= 9, TooManyOptional("bias", c->num_inputs() - 8));
    const Tensor &x = c->input(0), &x_scale = c->input(1), &x_zero_point = c->input(2),
                 &w = c->input(3), &w_scale = c->input(4), &w_zero_point = c->input(5),
                 &y_scale = c->input(6), &y_zero_point = c->input(7);
    const Tensor* bias = c->num_inputs() > 8 ? &c->input(8) : nullptr;
    QLinearConvShapes shapes{ShapeOf(x),       ShapeOf(x_scale),      ShapeOf(x_zero_point),
                             ShapeOf(w),       ShapeOf(w_scale),      ShapeOf(w_zero_point),
                             ShapeOf(y_scale), ShapeOf(y_zero_point), std::nullopt};
    if (bias != nullptr) shapes.bias = ShapeOf(*bias);
    const auto resolved = ResolveQLinearConv(attributes_, shapes);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const ConvolutionGeometry& g = resolved->geometry;

    tensorflow::TensorShape y_shape;
    OP_REQUIRES_OK(c, tensorflow::TensorShape::BuildTensorShape(*resolved->output, &y_shape));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, y_shape, &y));
    if (y->NumElements() == 0) return;

    const Requantization requantization(
        ConvolutionScales(Data<float>(x_scale)[0], Data<float>(w_scale), w_scale.NumElements(),
                          Data<float>(y_scale)[0], g.filters),
        bias != nullptr ? Data<int32_t>(*bias) : nullptr,
        ByteRange(y->dtype() == tensorflow::DT_INT8, BytesOf(y_zero_point)[0]));
    const CodesSink sink(OutputPlaces::Of(g), requantization, ChosenInstructionSet(), y->data());
    const int32_t x_zero = BytesOf(x_zero_point)[0];
    std::vector<int32_t> w_zero =
        WeightZeroPoints(BytesOf(w_zero_point), w_zero_point.NumElements(), g.filters);
    if (CanWiden(g)) {
      WidenedConv(g, BytesOf(x), x_zero, *Packed(g, w, std::move(w_zero)), sink, WorkersOf(c),
                  ChosenInstructionSet());
    } else {
      StoreSums(ConvolutionSumsReference(g, BytesOf(x), x_zero, BytesOf(w), w_zero), g.filters,
                sink);
    }
  }

 private:
  // Kept for a variable or constant; a tensor that nobody else holds will not come again.
  std::shared_ptr<const WidenedWeights> Packed(const ConvolutionGeometry& g, const Tensor& w,
                                               std::vector<int32_t> w_zero) {
    const auto pack = [&] { return WidenWeights(g, BytesOf(w), w_zero); };
    if (w.RefCountIsOne()) return std::make_shared<const WidenedWeights>(pack());
    return packed_.Get(WeightsKey{w, w_zero}, pack);
  }

  ConvolutionAttributes attributes_;
  // In eager mode all layers with the same attributes share one kernel.
  RecentlyUsed<WeightsKey, WidenedWeights> packed_{64};
};

REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearConv").Device(tensorflow::DEVICE_CPU), QLinearConvOp);

}  // namespace
}  // namespace tf_qops
