// Matrix products of 8-bit integers: ONNX's MatMulInteger and QLinearMatMul (versions 10 and 21),
// com.microsoft's QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul.

#include "cc/core/matmul_geometry.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status MatMulShape(InferenceContext* c, const Shape& a, const Shape& b) {
  const auto resolved = ResolveMatMul(a, b);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->output));
  return absl::OkStatus();
}

// Input `name`, which may be left out, is a parameter of the rows or columns of `matrices`.
absl::Status CheckLanes(InferenceContext* c, const char* name, const char* operand,
                        const Shape& matrices, bool per_row) {
  std::vector<tensorflow::shape_inference::ShapeHandle> handles;
  TF_RETURN_IF_ERROR(c->input(name, &handles));
  if (handles.size() > 1) return TooManyOptional(name, handles.size());
  for (const auto& handle : handles) {
    const auto ok = CheckVectorParameter(name, ToShape(c, handle), operand, matrices, per_row);
    if (!ok.ok()) return ToStatus(ok.error());
  }
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>MatMulInteger")
    .Input("a: T1")
    .Input("b: T2")
    .Input("a_zero_point: has_a_zero_point * T1")
    .Input("b_zero_point: has_b_zero_point * T2")
    .Output("y: int32")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("has_a_zero_point: int >= 0")
    .Attr("has_b_zero_point: int >= 0")
    .SetShapeFn([](InferenceContext* c) {
      const Shape a = ToShape(c, c->input(0)), b = ToShape(c, c->input(1));
      TF_RETURN_IF_ERROR(CheckLanes(c, "a_zero_point", "a", a, true));
      TF_RETURN_IF_ERROR(CheckLanes(c, "b_zero_point", "b", b, false));
      return MatMulShape(c, a, b);
    });

REGISTER_OP("TfQops>MatMulIntegerToFloat")
    .Input("a: T1")
    .Input("b: T2")
    .Input("a_scale: float")
    .Input("b_scale: float")
    .Input("a_zero_point: has_a_zero_point * T1")
    .Input("b_zero_point: has_b_zero_point * T2")
    .Input("bias: has_bias * float")
    .Output("y: float")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("has_a_zero_point: int >= 0")
    .Attr("has_b_zero_point: int >= 0")
    .Attr("has_bias: int >= 0")
    .SetShapeFn([](InferenceContext* c) {
      const Shape a = ToShape(c, c->input(0)), b = ToShape(c, c->input(1));
      for (const char* name : {"a_scale", "a_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "a", a, true));
      }
      for (const char* name : {"b_scale", "b_zero_point", "bias"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "b", b, false));
      }
      return MatMulShape(c, a, b);
    });

REGISTER_OP("TfQops>DynamicQuantizeMatMul")
    .Input("a: float")
    .Input("b: T2")
    .Input("b_scale: float")
    .Input("b_zero_point: has_b_zero_point * T2")
    .Input("bias: has_bias * float")
    .Output("y: float")
    .Attr("T2: {int8, uint8}")
    .Attr("has_b_zero_point: int >= 0")
    .Attr("has_bias: int >= 0")
    .SetShapeFn([](InferenceContext* c) {
      const Shape a = ToShape(c, c->input(0)), b = ToShape(c, c->input(1));
      for (const char* name : {"b_scale", "b_zero_point", "bias"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "b", b, false));
      }
      return MatMulShape(c, a, b);
    });

REGISTER_OP("TfQops>QLinearMatMul")
    .Input("a: T1")
    .Input("a_scale: S")
    .Input("a_zero_point: T1")
    .Input("b: T2")
    .Input("b_scale: S")
    .Input("b_zero_point: T2")
    .Input("y_scale: S")
    .Input("y_zero_point: T3")
    .Output("y: T3")
    .Attr("T1: type")  // CheckByteCode says which.
    .Attr("T2: type")
    .Attr("T3: type")
    .Attr("S: {float, half, bfloat16}")
    .SetShapeFn([](InferenceContext* c) {
      for (const char* name : {"T1", "T2", "T3"}) {
        tensorflow::DataType dtype;
        TF_RETURN_IF_ERROR(c->GetAttr(name, &dtype));
        TF_RETURN_IF_ERROR(CheckByteCode(name, dtype));
      }
      const Shape a = ToShape(c, c->input(0)), b = ToShape(c, c->input(3));
      for (const char* name : {"a_scale", "a_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "a", a, true));
      }
      for (const char* name : {"b_scale", "b_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "b", b, false));
      }
      TF_RETURN_IF_ERROR(MatMulShape(c, a, b));
      const Shape y = a && a->size() > 1 && b && b->size() > 1 ? ToShape(c, c->output(0)) : Shape();
      for (const char* name : {"y_scale", "y_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "y", y, true));
      }
      return absl::OkStatus();
    });

REGISTER_OP("TfQops>QGemm")
    .Input("a: T1")
    .Input("a_scale: float")
    .Input("a_zero_point: T1")
    .Input("b: T2")
    .Input("b_scale: float")
    .Input("b_zero_point: T2")
    .Input("c: has_c * int32")
    .Input("y_scale: has_y_scale * float")
    .Input("y_zero_point: zero_point_dtype")
    .Output("y: output_dtype")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("has_c: int >= 0")
    .Attr("has_y_scale: int >= 0")
    .Attr("zero_point_dtype: list({int8, uint8}) >= 0")
    .Attr("output_dtype: {int8, uint8, float} = DT_FLOAT")
    .Attr("trans_a: bool = false")
    .Attr("trans_b: bool = false")
    .Attr("alpha: float = 1.0")
    .SetShapeFn([](InferenceContext* c) {
      bool trans_a, trans_b;
      TF_RETURN_IF_ERROR(c->GetAttr("trans_a", &trans_a));
      TF_RETURN_IF_ERROR(c->GetAttr("trans_b", &trans_b));
      const auto a = GemmOperand("a", ToShape(c, c->input(0)), trans_a);
      const auto b = GemmOperand("b", ToShape(c, c->input(3)), trans_b);
      if (!a.ok()) return ToStatus(a.error());
      if (!b.ok()) return ToStatus(b.error());
      for (const char* name : {"b_scale", "b_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "b", *b, false));
      }
      for (const char* name : {"a_scale", "a_zero_point", "y_scale", "y_zero_point"}) {
        TF_RETURN_IF_ERROR(CheckLanes(c, name, "a", Dims{1, 1}, true));
      }
      TF_RETURN_IF_ERROR(MatMulShape(c, *a, *b));
      std::vector<tensorflow::shape_inference::ShapeHandle> terms;
      TF_RETURN_IF_ERROR(c->input("c", &terms));
      if (terms.size() > 1) return TooManyOptional("c", terms.size());
      for (const auto& term : terms) {
        const auto ok = CheckGemmTerm(ToShape(c, term), ToShape(c, c->output(0)));
        if (!ok.ok()) return ToStatus(ok.error());
      }
      return absl::OkStatus();
    });

}  // namespace tf_qops
