// QLinearConv and ConvInteger on the CPU.

#include "cc/core/banded_conv.h"
#include "cc/core/qlinear_conv.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/packed_weights.h"
#include "cc/ops/attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// What the two have in common: the sums, given to a sink.
class ConvolutionOp : public OpKernel {
 public:
  explicit ConvolutionOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetConvolutionAttributes(c, &attributes_));
  }

 protected:
  // Allocates the output of the geometry that the shapes resolve to; null after an error.
  Tensor* AllocateOutput(OpKernelContext* c, const ResolvedConvolution& resolved) const {
    Tensor* y = nullptr;
    const absl::Status status = tf_qops::AllocateOutput(c, resolved.output, &y);
    if (!status.ok()) c->CtxFailure(status);
    return status.ok() ? y : nullptr;
  }

  void Convolve(OpKernelContext* c, const ConvolutionGeometry& g, const Tensor& x,
                int32_t x_zero_point, const Tensor& w, std::vector<int32_t> w_zero_point,
                const AccumulatorSink& sink) {
    if (!FitsBands(g)) {
      const auto sums =
          ConvolutionSumsReference(g, BytesOf(x), x_zero_point, BytesOf(w), w_zero_point);
      StoreSums(sums, g.filters, sink);
      return;
    }
    const auto packed =
        packed_.Get({&w}, std::move(w_zero_point), {g.group}, [&](const WeightsKey& key) {
          return PackFilters(g, BytesOf(w), key.zero_points, ChosenInstructionSet());
        });
    BandedConv(g, BytesOf(x), x_zero_point, *packed, sink, WorkersOf(c), ChosenInstructionSet());
  }

  const ConvolutionAttributes& attributes() const { return attributes_; }

 private:
  ConvolutionAttributes attributes_;
  PackedWeights<PackedFilters> packed_;
};

class QLinearConvOp : public ConvolutionOp {
 public:
  using ConvolutionOp::ConvolutionOp;

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
    const auto resolved = ResolveQLinearConv(attributes(), shapes);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const ConvolutionGeometry& g = resolved->geometry;
    Tensor* y = AllocateOutput(c, *resolved);
    if (y == nullptr || y->NumElements() == 0) return;

    const Requantization requantization(
        ConvolutionScales(Data<float>(x_scale)[0], Data<float>(w_scale), w_scale.NumElements(),
                          Data<float>(y_scale)[0], g.filters),
        bias != nullptr ? Data<int32_t>(*bias) : nullptr,
        ByteRange(y->dtype() == tensorflow::DT_INT8, BytesOf(y_zero_point)[0]));
    Convolve(c, g, x, BytesOf(x_zero_point)[0], w,
             WeightZeroPoints(BytesOf(w_zero_point), w_zero_point.NumElements(), g.filters),
             CodesSink(OutputPlaces::Of(g), requantization, ChosenInstructionSet(), y->data()));
  }
};

class ConvIntegerOp : public ConvolutionOp {
 public:
  using ConvolutionOp::ConvolutionOp;

  void Compute(OpKernelContext* c) override {
    const Tensor &x = c->input(0), &w = c->input(1);
    const Tensor *x_zero_point = nullptr, *w_zero_point = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "x_zero_point", &x_zero_point));
    OP_REQUIRES_OK(c, OptionalInput(c, "w_zero_point", &w_zero_point));
    QLinearConvShapes shapes;
    shapes.x = ShapeOf(x);
    shapes.w = ShapeOf(w);
    if (x_zero_point != nullptr) shapes.x_zero_point = ShapeOf(*x_zero_point);
    if (w_zero_point != nullptr) shapes.w_zero_point = ShapeOf(*w_zero_point);
    const auto resolved = ResolveQLinearConv(attributes(), shapes);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const ConvolutionGeometry& g = resolved->geometry;
    Tensor* y = AllocateOutput(c, *resolved);
    if (y == nullptr || y->NumElements() == 0) return;

    std::vector<int32_t> w_zero(g.filters, 0);
    if (w_zero_point != nullptr) {
      w_zero = WeightZeroPoints(BytesOf(*w_zero_point), w_zero_point->NumElements(), g.filters);
    }
    Convolve(c, g, x, x_zero_point != nullptr ? BytesOf(*x_zero_point)[0] : 0, w, std::move(w_zero),
             Int32Sink(OutputPlaces::Of(g), MutableData<int32_t>(y)));
  }
};

REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearConv").Device(tensorflow::DEVICE_CPU), QLinearConvOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>ConvInteger").Device(tensorflow::DEVICE_CPU), ConvIntegerOp);

}  // namespace
}  // namespace tf_qops
