// TensorFlow's Dequantize and Quantize (QuantizeV2) under XLA, as plain HLO.

#include "cc/core/dequantize_range.h"
#include "cc/core/quantize_range.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"
#include "cc/xla/emit.h"

namespace tf_qops {
namespace {

// See RangeOp in cc/kernels.
class RangeXlaOp : public tensorflow::XlaOpKernel {
 public:
  explicit RangeXlaOp(tensorflow::OpKernelConstruction* c) : XlaOpKernel(c) {
    OP_REQUIRES_OK(c, GetRangeAttributes(c, &attributes_));
  }

  void Compile(tensorflow::XlaOpKernelContext* c) override {
    const Shape x = InputShapeOf(c, 0);
    const auto resolved = ResolveRange(x, InputShapeOf(c, 1), InputShapeOf(c, 2),
                                       attributes_.per_tensor, attributes_.axis);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    Emit(c, [&](xla::XlaOp range) { return XlaFloat{Spread(range, resolved->granularity, *x)}; });
  }

 protected:
  // `spread` repeats a range's end, or what follows from it, to x's shape.
  virtual void Emit(tensorflow::XlaOpKernelContext* c,
                    const std::function<XlaFloat(xla::XlaOp)>& spread) = 0;

  RangeAttributes attributes_;
};

class DequantizeXlaOp : public RangeXlaOp {
 public:
  explicit DequantizeXlaOp(tensorflow::OpKernelConstruction* c) : RangeXlaOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("dtype", &dtype_));
  }

 protected:
  void Emit(tensorflow::XlaOpKernelContext* c,
            const std::function<XlaFloat(xla::XlaOp)>& spread) override {
    VisitIntegers(c->input_type(0), [&](auto tag) {
      const auto limits = CodeLimits::Of<typename decltype(tag)::type>(attributes_.narrow_range);
      RangeAffine<XlaFloat> affine =
          AffineOf(attributes_.mode, limits, XlaFloat{c->Input(1)}, XlaFloat{c->Input(2)});
      affine.scale = spread(affine.scale.op);
      affine.plus = spread(affine.plus.op);
      const XlaFloat y =
          affine.Dequantize(XlaFloat{xla::ConvertElementType(c->Input(0), xla::F32)});
      c->SetOutput(0, ConvertTo(dtype_, RoundToFloatType(dtype_, y.op)));
    });
  }

 private:
  tensorflow::DataType dtype_;
};

// A reversed range, an error elsewhere, is not seen here: HLO cannot raise one.
class QuantizeXlaOp : public RangeXlaOp {
 public:
  explicit QuantizeXlaOp(tensorflow::OpKernelConstruction* c) : RangeXlaOp(c) {
    std::string round_mode;
    OP_REQUIRES_OK(c, c->GetAttr("round_mode", &round_mode));
    OP_REQUIRES_OK(c, c->GetAttr("ensure_minimum_range", &options_.ensure_minimum_range));
    OP_REQUIRES_OK(c, c->GetAttr("T", &dtype_));
    options_.mode = attributes_.mode;
    options_.half_to_even = round_mode == "HALF_TO_EVEN";
  }

 protected:
  void Emit(tensorflow::XlaOpKernelContext* c,
            const std::function<XlaFloat(xla::XlaOp)>& spread) override {
    VisitIntegers(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const CodeLimits limits = CodeLimits::Of<T>(attributes_.narrow_range);
      const auto whole_range = [&](int input) {
        return attributes_.per_tensor ? xla::Reshape(c->Input(input), {}) : c->Input(input);
      };
      const xla::XlaOp min = whole_range(1), max = whole_range(2);
      const RangeQuantizer<XlaFloat> ends(options_, limits, XlaFloat{min}, XlaFloat{max});
      c->SetOutput(1, ends.min().op);
      c->SetOutput(2, ends.max().op);
      const RangeQuantizer<XlaFloat> range(options_, limits, spread(min), spread(max));
      const xla::XlaOp whole = range.Quantize(XlaFloat{c->Input(0)}).op;
      const auto constant = [&](int64_t code) {
        return xla::ConvertElementType(xla::FullLike(whole, static_cast<float>(code)), xla::F32);
      };
      const xla::XlaOp low = constant(Codes<T>::kLow);
      // Converting saturates, which matters where the highest code is no float32.
      const xla::XlaOp inside =
          xla::Select(xla::IsNan(whole), low, xla::Clamp(low, whole, constant(Codes<T>::kHigh)));
      c->SetOutput(0, ConvertTo(dtype_, xla::ConvertElementType(inside, xla::S32)));
    });
  }

 private:
  RangeQuantization options_;
  tensorflow::DataType dtype_;
};

TF_QOPS_REGISTER_XLA("Dequantize", DequantizeXlaOp);
TF_QOPS_REGISTER_XLA("Quantize", QuantizeXlaOp);

}  // namespace
}  // namespace tf_qops
