// MatMulInteger, MatMulIntegerToFloat and DynamicQuantizeMatMul on the CPU.

#include "cc/core/dynamic_quantize.h"
#include "cc/kernels/product_op.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;

class MatMulIntegerOp : public ProductOp {
 public:
  using ProductOp::ProductOp;

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &b = c->input(1);
    const Tensor *a_zero = nullptr, *b_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "a_zero_point", &a_zero));
    OP_REQUIRES_OK(c, OptionalInput(c, "b_zero_point", &b_zero));
    OP_REQUIRES_OK(c, CheckLanes("a_zero_point", a_zero, "a", ShapeOf(a), true));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", b_zero, "b", ShapeOf(b), false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, ShapeOf(a), ShapeOf(b), &g);
    if (y == nullptr || y->NumElements() == 0) return;
    const Int32Sink sink({g.columns}, MutableData<int32_t>(y));
    Multiply(c, g, a, false, ZeroLanes(a_zero, *ShapeOf(a), true), b, false,
             ZeroLanes(b_zero, *ShapeOf(b), false),
             [&](int64_t) -> const AccumulatorSink& { return sink; });
  }
};

// MatMulIntegerToFloat and DynamicQuantizeMatMul: f32(acc) * (a_scale * b_scale) + bias.
class ProductToFloatOp : public ProductOp {
 public:
  using ProductOp::ProductOp;

 protected:
  // Checks what concerns b; the rest is of a and checked by the caller.
  void MultiplyToFloat(OpKernelContext* c, const Tensor& a, const Tensor& a_scale,
                       const Tensor* a_zero, const Tensor& b, const Tensor& b_scale) {
    const Tensor *b_zero = nullptr, *bias = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "b_zero_point", &b_zero));
    OP_REQUIRES_OK(c, OptionalInput(c, "bias", &bias));
    const Shape a_shape = ShapeOf(a), b_shape = ShapeOf(b);
    OP_REQUIRES_OK(c, CheckLanes("b_scale", &b_scale, "b", b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", b_zero, "b", b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("bias", bias, "b", b_shape, false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, a_shape, b_shape, &g);
    if (y == nullptr || y->NumElements() == 0) return;

    ProductScaling scaling;
    scaling.a_scale = ForAllProducts(ScaleLanes(a_scale, *a_shape, true), g);
    const Lanes<float> b_lanes = ScaleLanes(b_scale, *b_shape, false);
    std::vector<float> terms;
    if (bias != nullptr) {
      terms = Spread(ScaleLanes(*bias, *b_shape, false), Product(g.b_batch) * g.columns);
    }
    std::optional<ProductFloatSink> sink;
    Multiply(c, g, a, false, ZeroLanes(a_zero, *a_shape, true), b, false,
             ZeroLanes(b_zero, *b_shape, false), [&](int64_t m) -> const AccumulatorSink& {
               scaling.b_scale = OfMatrix(b_lanes, m, g.columns);
               return sink.emplace(scaling, terms.empty() ? nullptr : terms.data() + m * g.columns,
                                   g.columns, MutableData<float>(y));
             });
  }
};

class MatMulIntegerToFloatOp : public ProductToFloatOp {
 public:
  using ProductToFloatOp::ProductToFloatOp;

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &a_scale = c->input(2);
    const Tensor* a_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "a_zero_point", &a_zero));
    OP_REQUIRES_OK(c, CheckLanes("a_scale", &a_scale, "a", ShapeOf(a), true));
    OP_REQUIRES_OK(c, CheckLanes("a_zero_point", a_zero, "a", ShapeOf(a), true));
    MultiplyToFloat(c, a, a_scale, a_zero, c->input(1), c->input(3));
  }
};

class DynamicQuantizeMatMulOp : public ProductToFloatOp {
 public:
  using ProductToFloatOp::ProductToFloatOp;

  void Compute(OpKernelContext* c) override {
    const Tensor& a = c->input(0);
    Tensor codes, scale, zero_point;
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_UINT8, a.shape(), &codes));
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_FLOAT, {}, &scale));
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_UINT8, {}, &zero_point));
    const Workers workers = WorkersOf(c);
    const InstructionSet isa = ChosenInstructionSet();
    const DynamicScale chosen(RangeOf(Data<float>(a), a.NumElements(), workers, isa));
    QuantizeToBytes(chosen, Data<float>(a), a.NumElements(), MutableData<uint8_t>(&codes), workers,
                    isa);
    *MutableData<float>(&scale) = chosen.scale;
    *MutableData<uint8_t>(&zero_point) = chosen.zero_point;
    MultiplyToFloat(c, codes, scale, &zero_point, c->input(1), c->input(2));
  }
};

REGISTER_KERNEL_BUILDER(Name("TfQops>MatMulInteger").Device(tensorflow::DEVICE_CPU),
                        MatMulIntegerOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>MatMulIntegerToFloat").Device(tensorflow::DEVICE_CPU),
                        MatMulIntegerToFloatOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>DynamicQuantizeMatMul").Device(tensorflow::DEVICE_CPU),
                        DynamicQuantizeMatMulOp);

}  // namespace
}  // namespace tf_qops
