// DequantizeLinear, QuantizeLinear and DynamicQuantizeLinear under XLA, as plain HLO.

#include "cc/core/dequantize_linear.h"
#include "cc/core/quantize_linear.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"
#include "cc/xla/emit.h"

namespace tf_qops {
namespace {

using tensorflow::DataType;
using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;

// See LinearOp in cc/kernels.
class LinearXlaOp : public XlaOpKernel {
 public:
  LinearXlaOp(OpKernelConstruction* c, const GranularityNames& names)
      : XlaOpKernel(c), names_(names) {
    OP_REQUIRES_OK(c, c->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(c, c->GetAttr("block_size", &block_size_));
    OP_REQUIRES_OK(c, c->GetAttr("output_dtype", &output_dtype_));
  }

  void Compile(XlaOpKernelContext* c) override {
    OP_REQUIRES(c, c->num_inputs() <= 3, TooManyOptional(names_.zero_point, c->num_inputs() - 2));
    const bool has_zero_point = c->num_inputs() > 2;
    for (int i = 0; i < c->num_inputs(); ++i) {
      OP_REQUIRES(c, !IsPackedArgument(c->Input(i)),
                  ToStatus(Invalid(i == 0 ? names_.x : names_.zero_point,
                                   " must not be a 4-bit argument of a function with jit_compile, "
                                   "which XLA gets wrong: pass the same values as int8 or uint8. "
                                   "Received: ",
                                   tensorflow::DataTypeString(c->input_type(i)))));
    }
    const Shape x = InputShapeOf(c, 0);
    const Shape zero_point = has_zero_point ? InputShapeOf(c, 2) : Shape();
    const auto resolved = ResolveGranularity(
        names_, x, InputShapeOf(c, 1), has_zero_point ? &zero_point : nullptr, axis_, block_size_);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const auto spread = [&](xla::XlaOp parameter) {
      return Spread(parameter, resolved->granularity, *x);
    };
    const xla::XlaOp scale = spread(xla::ConvertElementType(c->Input(1), xla::F32));
    std::optional<xla::XlaOp> zero;
    if (has_zero_point) zero = spread(c->Input(2));
    c->SetOutput(0, Emit(c->Input(0), c->input_type(0), scale, zero));
  }

 protected:
  // All of x's shape, the scale as float32.
  virtual xla::XlaOp Emit(xla::XlaOp x, DataType x_dtype, xla::XlaOp scale,
                          const std::optional<xla::XlaOp>& zero_point) = 0;

  DataType output_dtype_;

 private:
  const GranularityNames names_;
  int64_t axis_;
  int64_t block_size_;
};

template <typename Wide>
constexpr xla::PrimitiveType kWideType = xla::F32;
template <>
constexpr xla::PrimitiveType kWideType<int32_t> = xla::S32;
template <>
constexpr xla::PrimitiveType kWideType<int64_t> = xla::S64;

class DequantizeLinearXlaOp : public LinearXlaOp {
 public:
  explicit DequantizeLinearXlaOp(OpKernelConstruction* c)
      : LinearXlaOp(c, {"x", "x_scale", "x_zero_point"}) {
    OP_REQUIRES_OK(c, CheckCode("x", c->input_type(0)));
  }

 protected:
  xla::XlaOp Emit(xla::XlaOp x, DataType x_dtype, xla::XlaOp scale,
                  const std::optional<xla::XlaOp>& zero_point) override {
    xla::PrimitiveType wide = xla::F32;
    VisitCodes(x_dtype, [&](auto tag) {
      wide = kWideType<typename Codes<typename decltype(tag)::type>::Wide>;
    });
    xla::XlaOp difference = xla::ConvertElementType(x, wide);
    if (zero_point) {
      difference = xla::Sub(difference, xla::ConvertElementType(*zero_point, wide));
    }
    const xla::XlaOp y = Settled(xla::Mul(xla::ConvertElementType(difference, xla::F32), scale));
    return ConvertTo(output_dtype_, RoundToFloatType(output_dtype_, y));
  }
};

class QuantizeLinearXlaOp : public LinearXlaOp {
 public:
  explicit QuantizeLinearXlaOp(OpKernelConstruction* c)
      : LinearXlaOp(c, {"x", "y_scale", "y_zero_point"}) {
    std::vector<DataType> zero_point_dtype;
    OP_REQUIRES_OK(c, c->GetAttr("zero_point_dtype", &zero_point_dtype));
    OP_REQUIRES_OK(c, CheckQuantizeTarget(output_dtype_, zero_point_dtype));
    OP_REQUIRES_OK(c, c->GetAttr("saturate", &saturate_));
    OP_REQUIRES_OK(c, c->GetAttr("precision", &precision_));
  }

 protected:
  xla::XlaOp Emit(xla::XlaOp x, DataType x_dtype, xla::XlaOp scale,
                  const std::optional<xla::XlaOp>& zero_point) override {
    const xla::XlaOp quotient =
        RoundToFloatType(precision_, Quotient(xla::ConvertElementType(x, xla::F32), scale));
    xla::XlaOp y;
    VisitCodes(output_dtype_,
               [&](auto tag) { y = EmitCode<typename decltype(tag)::type>(quotient, zero_point); });
    return ConvertTo(output_dtype_, y);
  }

 private:
  template <typename Q>
  xla::XlaOp EmitCode(xla::XlaOp quotient, const std::optional<xla::XlaOp>& zero_point) {
    if constexpr (Codes<Q>::kInteger) {
      const xla::XlaOp zero = zero_point
                                  ? xla::ConvertElementType(*zero_point, xla::S32)
                                  : xla::ConvertElementType(xla::ZerosLike(quotient), xla::S32);
      return QuantizeCode(quotient, zero, Codes<Q>::kLow, Codes<Q>::kHigh);
    } else {
      xla::XlaOp value = quotient;
      if (zero_point) {
        const xla::XlaOp zero = xla::ConvertElementType(*zero_point, xla::F32);
        value = xla::Select(xla::Eq(zero, xla::ZerosLike(zero)), value, xla::Add(value, zero));
      }
      return RoundToFormat<Q>(value, saturate_);
    }
  }

  bool saturate_;
  DataType precision_;
};

class DynamicQuantizeLinearXlaOp : public XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* c) override {
    const xla::XlaOp x = c->Input(0), zero = xla::ConstantR0<float>(c->builder(), 0.0f);
    const xla::XlaOp numbers = xla::Select(xla::IsNan(x), xla::ZerosLike(x), x);
    // A reduction may leave out its start, so that has to be the infinity.
    const XlaFloat low{
        xla::Min(zero, xla::ReduceAll(numbers, xla::MaxValue(c->builder(), xla::F32),
                                      xla::CreateScalarMinComputation(xla::F32, c->builder())))};
    const XlaFloat high{
        xla::Max(zero, xla::ReduceAll(numbers, xla::MinValue(c->builder(), xla::F32),
                                      xla::CreateScalarMaxComputation(xla::F32, c->builder())))};
    const XlaFloat none{zero}, range = (high - low) / 255.0f;
    const XlaFloat scale = SelectEqual(range, none, range.Constant(1.0f), range);
    const xla::XlaOp zero_point =
        QuantizeCode((none - low / scale).op, xla::ConstantR0<int32_t>(c->builder(), 0), 0, 255);
    const Dims dims = *InputShapeOf(c, 0);
    const xla::XlaOp quotient = Quotient(x, xla::Broadcast(scale.op, dims));
    const xla::XlaOp y = QuantizeCode(quotient, xla::Broadcast(zero_point, dims), 0, 255);
    c->SetOutput(0, xla::ConvertElementType(y, xla::U8));
    c->SetOutput(1, scale.op);
    c->SetOutput(2, xla::ConvertElementType(zero_point, xla::U8));
  }
};

TF_QOPS_REGISTER_XLA("DequantizeLinear", DequantizeLinearXlaOp);
TF_QOPS_REGISTER_XLA("QuantizeLinear", QuantizeLinearXlaOp);
TF_QOPS_REGISTER_XLA("DynamicQuantizeLinear", DynamicQuantizeLinearXlaOp);

}  // namespace
}  // namespace tf_qops
