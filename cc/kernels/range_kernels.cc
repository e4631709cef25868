// TensorFlow's Dequantize and Quantize (QuantizeV2) on the CPU.

#include "cc/core/dequantize_range.h"
#include "cc/core/quantize_range.h"
#include "cc/kernels/adapters.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// What the two have in common: inputs (x, min_range, max_range), a first output of x's shape.
class RangeOp : public OpKernel {
 public:
  explicit RangeOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetRangeAttributes(c, &attributes_));
  }

  bool IsExpensive() override { return false; }

  void Compute(OpKernelContext* c) override {
    const Tensor &x = c->input(0), &min = c->input(1), &max = c->input(2);
    const auto resolved = ResolveRange(ShapeOf(x), ShapeOf(min), ShapeOf(max),
                                       attributes_.per_tensor, attributes_.axis);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    Run(c, x, min, max, resolved->granularity, y);
  }

 protected:
  virtual void Run(OpKernelContext* c, const Tensor& x, const Tensor& min, const Tensor& max,
                   const Granularity& g, Tensor* y) = 0;

  RangeAttributes attributes_;
};

class DequantizeOp : public RangeOp {
 public:
  explicit DequantizeOp(OpKernelConstruction* c) : RangeOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("dtype", &dtype_));
  }

 protected:
  void Run(OpKernelContext* c, const Tensor& x, const Tensor& min, const Tensor& max,
           const Granularity& g, Tensor* y) override {
    VisitIntegers(x.dtype(), [&](auto x_tag) {
      using T = typename decltype(x_tag)::type;
      const CodeLimits limits = CodeLimits::Of<T>(attributes_.narrow_range);
      std::vector<RangeAffine<float>> affine;
      for (int64_t i = 0; i < min.NumElements(); ++i) {
        affine.push_back(
            AffineOf(attributes_.mode, limits, Data<float>(min)[i], Data<float>(max)[i]));
      }
      VisitFloats(dtype_, [&](auto y_tag) {
        using Out = typename decltype(y_tag)::type;
        WorkersOf(c).run(x.NumElements(), 1, [&](int64_t begin, int64_t end) {
          DequantizeRange(Data<T>(x), affine.data(), g, begin, end, MutableData<Out>(y));
        });
      });
    });
  }

 private:
  tensorflow::DataType dtype_;
};

class QuantizeOp : public RangeOp {
 public:
  explicit QuantizeOp(OpKernelConstruction* c) : RangeOp(c) {
    std::string round_mode;
    OP_REQUIRES_OK(c, c->GetAttr("round_mode", &round_mode));
    OP_REQUIRES_OK(c, c->GetAttr("ensure_minimum_range", &options_.ensure_minimum_range));
    options_.mode = attributes_.mode;
    options_.half_to_even = round_mode == "HALF_TO_EVEN";
  }

 protected:
  void Run(OpKernelContext* c, const Tensor& x, const Tensor& min, const Tensor& max,
           const Granularity& g, Tensor* y) override {
    tensorflow::TensorShape range_shape;
    if (!attributes_.per_tensor) range_shape = min.shape();
    Tensor *y_min = nullptr, *y_max = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(1, range_shape, &y_min));
    OP_REQUIRES_OK(c, c->allocate_output(2, range_shape, &y_max));
    for (int64_t i = 0; i < min.NumElements(); ++i) {
      const float low = Data<float>(min)[i], high = Data<float>(max)[i];
      OP_REQUIRES(
          c, low <= high,
          ToStatus(Invalid("max_range must not be less than min_range. Received: min_range=", low,
                           ", max_range=", high)));
    }
    VisitIntegers(y->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const CodeLimits limits = CodeLimits::Of<T>(attributes_.narrow_range);
      std::vector<RangeQuantizer<float>> ranges;
      for (int64_t i = 0; i < min.NumElements(); ++i) {
        ranges.emplace_back(options_, limits, Data<float>(min)[i], Data<float>(max)[i]);
        MutableData<float>(y_min)[i] = ranges.back().min();
        MutableData<float>(y_max)[i] = ranges.back().max();
      }
      WorkersOf(c).run(x.NumElements(), 4, [&](int64_t begin, int64_t end) {
        QuantizeRange(Data<float>(x), ranges.data(), g, begin, end, MutableData<T>(y));
      });
    });
  }

 private:
  RangeQuantization options_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>Dequantize").Device(tensorflow::DEVICE_CPU), DequantizeOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>Quantize").Device(tensorflow::DEVICE_CPU), QuantizeOp);

}  // namespace
}  // namespace tf_qops
