// QGemm on the CPU.

#include "cc/kernels/product_op.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

class QGemmOp : public ProductOp {
 public:
  explicit QGemmOp(OpKernelConstruction* c) : ProductOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("trans_a", &trans_a_));
    OP_REQUIRES_OK(c, c->GetAttr("trans_b", &trans_b_));
    OP_REQUIRES_OK(c, c->GetAttr("alpha", &alpha_));
  }

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &a_scale = c->input(1), &a_zero = c->input(2), &b = c->input(3),
                 &b_scale = c->input(4), &b_zero = c->input(5);
    const Tensor *term = nullptr, *y_scale = nullptr, *y_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "c", &term));
    OP_REQUIRES_OK(c, OptionalInput(c, "y_scale", &y_scale));
    OP_REQUIRES_OK(c, OptionalInput(c, "y_zero_point", &y_zero));
    const auto a_shape = GemmOperand("a", ShapeOf(a), trans_a_);
    const auto b_shape = GemmOperand("b", ShapeOf(b), trans_b_);
    OP_REQUIRES(c, a_shape.ok(), ToStatus(a_shape.error()));
    OP_REQUIRES(c, b_shape.ok(), ToStatus(b_shape.error()));
    const std::pair<const char*, const Tensor*> scalars[] = {{"a_scale", &a_scale},
                                                             {"a_zero_point", &a_zero},
                                                             {"y_scale", y_scale},
                                                             {"y_zero_point", y_zero}};
    for (const auto& [name, scalar] : scalars) {
      OP_REQUIRES_OK(c, CheckLanes(name, scalar, "a", Dims{1, 1}, true));
    }
    OP_REQUIRES_OK(c, CheckLanes("b_scale", &b_scale, "b", *b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", &b_zero, "b", *b_shape, false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, *a_shape, *b_shape, &g);
    if (y == nullptr) return;
    const bool to_float = y->dtype() == tensorflow::DT_FLOAT;
    OP_REQUIRES(c, to_float == (y_scale == nullptr),
                ToStatus(Invalid("y_scale must be given if and only if the output is quantized. "
                                 "Received: output_dtype=",
                                 tensorflow::DataTypeString(y->dtype()), ", ",
                                 y_scale == nullptr ? "no y_scale" : "a y_scale")));

    ProductScaling scaling;
    scaling.alpha = alpha_;
    scaling.a_scale = ScaleLanes(a_scale, {1, 1}, true);
    scaling.b_scale = ScaleLanes(b_scale, **b_shape, false);
    if (y_scale != nullptr) scaling.y_scale = ScaleLanes(*y_scale, {1, 1}, true);
    if (term != nullptr) {
      const Shape shape = ShapeOf(*term);
      const auto ok = CheckGemmTerm(shape, Dims{g.rows, g.columns});
      OP_REQUIRES(c, ok.ok(), ToStatus(ok.error()));
      scaling.c = Data<int32_t>(*term);
      if (!shape->empty() && shape->back() != 1) scaling.c_column_step = 1;
      if (shape->size() == 2 && (*shape)[0] != 1) scaling.c_row_step = shape->back();
    }
    if (y->NumElements() == 0) return;

    const Lanes<int32_t> zero = ZeroLanes(y_zero, {1, 1}, true);
    std::optional<ProductFloatSink> floats;
    std::optional<ProductCodesSink> codes;
    Multiply(c, g, a, trans_a_, ZeroLanes(&a_zero, {1, 1}, true), b, trans_b_,
             ZeroLanes(&b_zero, **b_shape, false), [&](int64_t) -> const AccumulatorSink& {
               if (to_float) {
                 return floats.emplace(scaling, nullptr, g.columns, MutableData<float>(y));
               }
               return codes.emplace(scaling, zero, y->dtype() == tensorflow::DT_INT8, g.columns,
                                    ChosenInstructionSet(), y->data());
             });
  }

 private:
  bool trans_a_;
  bool trans_b_;
  float alpha_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>QGemm").Device(tensorflow::DEVICE_CPU), QGemmOp);

}  // namespace
}  // namespace tf_qops
