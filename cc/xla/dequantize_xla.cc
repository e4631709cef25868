// TensorFlow's Dequantize under XLA, as plain HLO.

#include "cc/core/dequantize_range.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"
#include "cc/xla/emit.h"

namespace tf_qops {
namespace {

class DequantizeXlaOp : public tensorflow::XlaOpKernel {
 public:
  explicit DequantizeXlaOp(tensorflow::OpKernelConstruction* c) : XlaOpKernel(c) {
    OP_REQUIRES_OK(c, GetRangeAttributes(c, &attributes_));
    OP_REQUIRES_OK(c, c->GetAttr("dtype", &dtype_));
  }

  void Compile(tensorflow::XlaOpKernelContext* c) override {
    const Shape x = InputShapeOf(c, 0);
    const auto resolved = ResolveRange(x, InputShapeOf(c, 1), InputShapeOf(c, 2),
                                       attributes_.per_tensor, attributes_.axis);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const auto spread = [&](XlaFloat parameter) {
      return XlaFloat{Spread(parameter.op, resolved->granularity, *x)};
    };
    VisitCodes(PlainType(c->input_type(0)), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (Codes<T>::kInteger) {
        RangeAffine<XlaFloat> affine =
            AffineOf(attributes_.mode, CodeLimits::Of<T>(attributes_.narrow_range),
                     XlaFloat{c->Input(1)}, XlaFloat{c->Input(2)});
        affine.scale = spread(affine.scale);
        affine.plus = spread(affine.plus);
        const XlaFloat code{xla::ConvertElementType(c->Input(0), xla::F32)};
        const XlaFloat y = affine.Dequantize(code);
        c->SetOutput(0, ConvertTo(dtype_, RoundToFloatType(dtype_, y.op)));
      }
    });
  }

 private:
  RangeAttributes attributes_;
  tensorflow::DataType dtype_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>Dequantize").Device("XLA_CPU_JIT"), DequantizeXlaOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>Dequantize").Device("XLA_GPU_JIT"), DequantizeXlaOp);

}  // namespace
}  // namespace tf_qops
