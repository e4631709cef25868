// DequantizeLinear, QuantizeLinear and DynamicQuantizeLinear on the CPU.

#include "cc/core/dequantize_linear.h"
#include "cc/core/dynamic_quantize.h"
#include "cc/core/quantize_linear.h"
#include "cc/kernels/adapters.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"

namespace tf_qops {
namespace {

using tensorflow::DataType;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// What the two have in common: inputs (x, scale, [zero_point]), an output of x's shape, and an
// axis and block size that say which scale belongs to which element.
class LinearOp : public OpKernel {
 public:
  LinearOp(OpKernelConstruction* c, const GranularityNames& names) : OpKernel(c), names_(names) {
    OP_REQUIRES_OK(c, c->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(c, c->GetAttr("block_size", &block_size_));
    OP_REQUIRES_OK(c, c->GetAttr("output_dtype", &output_dtype_));
  }

  // Graph fusion and placement take an elementwise operator for cheap; threads pay only for long
  // tensors.
  bool IsExpensive() override { return false; }

  void Compute(OpKernelContext* c) override {
    OP_REQUIRES(c, c->num_inputs() <= 3, TooManyOptional(names_.zero_point, c->num_inputs() - 2));
    const Tensor& x = c->input(0);
    const Tensor& scale = c->input(1);
    const Tensor* zero_point = c->num_inputs() > 2 ? &c->input(2) : nullptr;
    const Shape zero_point_shape = zero_point != nullptr ? ShapeOf(*zero_point) : Shape();
    const auto resolved =
        ResolveGranularity(names_, ShapeOf(x), ShapeOf(scale),
                           zero_point != nullptr ? &zero_point_shape : nullptr, axis_, block_size_);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    Run(WorkersOf(c), x, Float32Values(scale).data(), zero_point, resolved->granularity, y);
  }

 protected:
  virtual void Run(const Workers& workers, const Tensor& x, const float* scale,
                   const Tensor* zero_point, const Granularity& g, Tensor* y) = 0;

  DataType output_dtype_;

 private:
  const GranularityNames names_;
  int64_t axis_;
  int64_t block_size_;
};

template <typename T>
const T* DataOrNull(const Tensor* tensor) {
  return tensor != nullptr ? Data<T>(*tensor) : nullptr;
}

class DequantizeLinearOp : public LinearOp {
 public:
  explicit DequantizeLinearOp(OpKernelConstruction* c)
      : LinearOp(c, {"x", "x_scale", "x_zero_point"}) {
    OP_REQUIRES_OK(c, CheckCode("x", c->input_type(0)));
  }

 protected:
  void Run(const Workers& workers, const Tensor& x, const float* scale, const Tensor* zero_point,
           const Granularity& g, Tensor* y) override {
    VisitCodes(x.dtype(), [&](auto x_tag) {
      VisitFloats(output_dtype_, [&](auto y_tag) {
        using T = typename decltype(x_tag)::type;
        using Out = typename decltype(y_tag)::type;
        workers.run(x.NumElements(), 1, [&](int64_t begin, int64_t end) {
          DequantizeLinear(Data<T>(x), scale, DataOrNull<T>(zero_point), g, begin, end,
                           MutableData<Out>(y));
        });
      });
    });
  }
};

Precision PrecisionOf(DataType dtype) {
  return dtype == tensorflow::DT_HALF       ? Precision::kFloat16
         : dtype == tensorflow::DT_BFLOAT16 ? Precision::kBFloat16
                                            : Precision::kFloat32;
}

class QuantizeLinearOp : public LinearOp {
 public:
  explicit QuantizeLinearOp(OpKernelConstruction* c)
      : LinearOp(c, {"x", "y_scale", "y_zero_point"}) {
    std::vector<DataType> zero_point_dtype;
    OP_REQUIRES_OK(c, c->GetAttr("zero_point_dtype", &zero_point_dtype));
    OP_REQUIRES_OK(c, CheckQuantizeTarget(output_dtype_, zero_point_dtype));
    OP_REQUIRES_OK(c, c->GetAttr("saturate", &options_.saturate));
    DataType precision;
    OP_REQUIRES_OK(c, c->GetAttr("precision", &precision));
    options_.precision = PrecisionOf(precision);
  }

 protected:
  void Run(const Workers& workers, const Tensor& x, const float* scale, const Tensor* zero_point,
           const Granularity& g, Tensor* y) override {
    const auto run = [&](auto x_tag) {
      VisitCodes(output_dtype_, [&](auto y_tag) {
        using X = typename decltype(x_tag)::type;
        using Q = typename decltype(y_tag)::type;
        if constexpr (!std::is_same_v<Q, int32_t>) {
          workers.run(x.NumElements(), 2, [&](int64_t begin, int64_t end) {
            QuantizeLinear(Data<X>(x), scale, DataOrNull<Q>(zero_point), g, options_, begin, end,
                           MutableData<Q>(y));
          });
        }
      });
    };
    if (x.dtype() == tensorflow::DT_INT32) {
      run(TypeTag<int32_t>());
    } else {
      VisitFloats(x.dtype(), run);
    }
  }

 private:
  QuantizeOptions options_;
};

class DynamicQuantizeLinearOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  bool IsExpensive() override { return false; }

  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor *y = nullptr, *y_scale = nullptr, *y_zero_point = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(c, c->allocate_output(1, {}, &y_scale));
    OP_REQUIRES_OK(c, c->allocate_output(2, {}, &y_zero_point));
    const InstructionSet isa = ChosenInstructionSet();
    const DynamicScale chosen(RangeOf(Data<float>(x), x.NumElements(), WorkersOf(c), isa));
    QuantizeToBytes(chosen, Data<float>(x), x.NumElements(), MutableData<uint8_t>(y), WorkersOf(c),
                    isa);
    *MutableData<float>(y_scale) = chosen.scale;
    *MutableData<uint8_t>(y_zero_point) = chosen.zero_point;
  }
};

REGISTER_KERNEL_BUILDER(Name("TfQops>DequantizeLinear").Device(tensorflow::DEVICE_CPU),
                        DequantizeLinearOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QuantizeLinear").Device(tensorflow::DEVICE_CPU),
                        QuantizeLinearOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>DynamicQuantizeLinear").Device(tensorflow::DEVICE_CPU),
                        DynamicQuantizeLinearOp);

}  // namespace
}  // namespace tf_qops
