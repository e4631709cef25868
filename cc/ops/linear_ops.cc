// DequantizeLinear and QuantizeLinear, as ONNX has them up to version 28, and DynamicQuantizeLinear
// (version 11).
//
// An optional input is a list of at most one tensor.

#include "cc/core/granularity.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::DataType;
using tensorflow::shape_inference::InferenceContext;

// Inputs (x, scale, [zero_point]); the output has the shape of x.
absl::Status LinearShape(InferenceContext* c, const GranularityNames& names) {
  int64_t axis, block_size;
  TF_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
  TF_RETURN_IF_ERROR(c->GetAttr("block_size", &block_size));
  if (c->num_inputs() > 3) return TooManyOptional(names.zero_point, c->num_inputs() - 2);
  const bool has_zero_point = c->num_inputs() > 2;
  const Shape zero_point = has_zero_point ? ToShape(c, c->input(2)) : Shape();
  const auto resolved =
      ResolveGranularity(names, ToShape(c, c->input(0)), ToShape(c, c->input(1)),
                         has_zero_point ? &zero_point : nullptr, axis, block_size);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->x));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>DequantizeLinear")
    .Input("x: T")
    .Input("x_scale: S")
    .Input("x_zero_point: has_zero_point * T")
    .Output("y: output_dtype")
    .Attr("T: type")  // CheckCode says which.
    .Attr("S: {float, half, bfloat16}")
    .Attr("has_zero_point: int >= 0")
    .Attr("output_dtype: {float, half, bfloat16} = DT_FLOAT")
    .Attr("axis: int = 1")
    .Attr("block_size: int = 0")
    .SetShapeFn([](InferenceContext* c) {
      DataType dtype;
      TF_RETURN_IF_ERROR(c->GetAttr("T", &dtype));
      TF_RETURN_IF_ERROR(CheckCode("x", dtype));
      return LinearShape(c, {"x", "x_scale", "x_zero_point"});
    });

REGISTER_OP("TfQops>QuantizeLinear")
    .Input("x: T")
    .Input("y_scale: S")
    .Input("y_zero_point: zero_point_dtype")
    .Output("y: output_dtype")
    .Attr("T: {float, half, bfloat16, int32}")
    .Attr("S: {float, half, bfloat16}")
    .Attr("zero_point_dtype: list(type) >= 0")
    .Attr("output_dtype: type = DT_UINT8")  // CheckQuantizeTarget says which.
    .Attr("axis: int = 1")
    .Attr("block_size: int = 0")
    .Attr("saturate: bool = true")
    .Attr("precision: {float, half, bfloat16} = DT_FLOAT")
    .SetShapeFn([](InferenceContext* c) {
      DataType dtype;
      TF_RETURN_IF_ERROR(c->GetAttr("output_dtype", &dtype));
      std::vector<DataType> zero_point_dtype;
      TF_RETURN_IF_ERROR(c->GetAttr("zero_point_dtype", &zero_point_dtype));
      TF_RETURN_IF_ERROR(CheckQuantizeTarget(dtype, zero_point_dtype));
      return LinearShape(c, {"x", "y_scale", "y_zero_point"});
    });

REGISTER_OP("TfQops>DynamicQuantizeLinear")
    .Input("x: float")
    .Output("y: uint8")
    .Output("y_scale: float")
    .Output("y_zero_point: uint8")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->Scalar());
      c->set_output(2, c->Scalar());
      return absl::OkStatus();
    });

}  // namespace tf_qops
