// QLinearAveragePool and QLinearGlobalAveragePool on the CPU.

#include "cc/core/average_pool.h"
#include "cc/kernels/adapters.h"
#include "cc/ops/attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

class PoolingOp : public OpKernel {
 public:
  PoolingOp(OpKernelConstruction* c, bool global) : OpKernel(c), global_(global) {}

  void Compute(OpKernelContext* c) override {
    AveragePooling pooling{global_, attributes_.count_include_pad, {}, {}};
    OP_REQUIRES_OK(c, GetFormat(c, "x", &pooling.x));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &pooling.y));
    const Tensor& x = c->input(0);
    const auto resolved = global_ ? ResolveGlobalPooling(attributes_.channels_last, ShapeOf(x))
                                  : ResolvePooling(attributes_, ShapeOf(x));
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, AllocateOutput(c, resolved->output, &y));
    if (y->NumElements() == 0) return;
    AveragePool(resolved->geometry, pooling, Data<uint8_t>(x), MutableData<uint8_t>(y),
                WorkersOf(c), ChosenInstructionSet());
  }

 protected:
  PoolingAttributes attributes_;

 private:
  const bool global_;
};

class QLinearAveragePoolOp : public PoolingOp {
 public:
  explicit QLinearAveragePoolOp(OpKernelConstruction* c) : PoolingOp(c, /*global=*/false) {
    OP_REQUIRES_OK(c, GetPoolingAttributes(c, &attributes_));
  }
};

class QLinearGlobalAveragePoolOp : public PoolingOp {
 public:
  explicit QLinearGlobalAveragePoolOp(OpKernelConstruction* c) : PoolingOp(c, /*global=*/true) {
    OP_REQUIRES_OK(c, c->GetAttr("channels_last", &attributes_.channels_last));
  }
};

REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearAveragePool").Device(tensorflow::DEVICE_CPU),
                        QLinearAveragePoolOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearGlobalAveragePool").Device(tensorflow::DEVICE_CPU),
                        QLinearGlobalAveragePoolOp);

}  // namespace
}  // namespace tf_qops
