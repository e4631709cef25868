// TensorFlow's Dequantize on the CPU.

#include "cc/core/dequantize_range.h"
#include "cc/kernels/adapters.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

class DequantizeOp : public OpKernel {
 public:
  explicit DequantizeOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetRangeAttributes(c, &attributes_));
    OP_REQUIRES_OK(c, c->GetAttr("dtype", &dtype_));
  }

  bool IsExpensive() override { return false; }

  void Compute(OpKernelContext* c) override {
    const Tensor &x = c->input(0), &min = c->input(1), &max = c->input(2);
    const auto resolved = ResolveRange(ShapeOf(x), ShapeOf(min), ShapeOf(max),
                                       attributes_.per_tensor, attributes_.axis);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    VisitCodes(PlainType(x.dtype()), [&](auto x_tag) {
      VisitFloats(dtype_, [&](auto y_tag) {
        using T = typename decltype(x_tag)::type;
        using Out = typename decltype(y_tag)::type;
        if constexpr (Codes<T>::kInteger) {
          const auto affine = Affine(CodeLimits::Of<T>(attributes_.narrow_range), min, max);
          WorkersOf(c).run(x.NumElements(), 1, [&](int64_t begin, int64_t end) {
            DequantizeRange(Data<T>(x), affine.data(), resolved->granularity, begin, end,
                            MutableData<Out>(y));
          });
        }
      });
    });
  }

 private:
  std::vector<RangeAffine<float>> Affine(const CodeLimits& limits, const Tensor& min,
                                         const Tensor& max) const {
    std::vector<RangeAffine<float>> affine;
    for (int64_t i = 0; i < min.NumElements(); ++i) {
      affine.push_back(
          AffineOf(attributes_.mode, limits, Data<float>(min)[i], Data<float>(max)[i]));
    }
    return affine;
  }

  RangeAttributes attributes_;
  tensorflow::DataType dtype_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>Dequantize").Device(tensorflow::DEVICE_CPU), DequantizeOp);

}  // namespace
}  // namespace tf_qops
