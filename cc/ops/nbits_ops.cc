// Operators of com.microsoft whose weights have few bits, quantized in blocks.

#include "cc/core/matmul_nbits.h"
#include "cc/ops/nbits_attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status MatMulNBitsShape(InferenceContext* c) {
  NBitsAttributes attributes;
  TF_RETURN_IF_ERROR(GetNBitsAttributes(c, &attributes));
  std::vector<tensorflow::DataType> zero_point;
  TF_RETURN_IF_ERROR(c->GetAttr("zero_point_dtype", &zero_point));
  NBitsShapes shapes{ToShape(c, c->input(0)), ToShape(c, c->input(1)), ToShape(c, c->input(2))};
  TF_RETURN_IF_ERROR(OptionalShape(c, "zero_points", &shapes.zero_points));
  TF_RETURN_IF_ERROR(OptionalShape(c, "g_idx", &shapes.g_idx));
  TF_RETURN_IF_ERROR(OptionalShape(c, "bias", &shapes.bias));
  shapes.zero_points_packed = zero_point.empty() || zero_point[0] == tensorflow::DT_UINT8;
  const auto resolved = ResolveMatMulNBits(attributes, shapes);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->output));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>MatMulNBits")
    .Input("a: T")
    .Input("b: uint8")
    .Input("scales: S")
    .Input("zero_points: zero_point_dtype")
    .Input("g_idx: has_g_idx * int32")
    .Input("bias: has_bias * T")
    .Output("y: T")
    .Attr("T: {float, half, bfloat16}")
    .Attr("S: {float, half, bfloat16}")
    .Attr("zero_point_dtype: list({uint8, float, half, bfloat16}) >= 0")
    .Attr("has_g_idx: int >= 0")
    .Attr("has_bias: int >= 0")
    .Attr("k: int")
    .Attr("n: int")
    .Attr("bits: int = 4")
    .Attr("block_size: int = 32")
    .SetShapeFn(MatMulNBitsShape);

REGISTER_OP("TfQops>GatherBlockQuantized")
    .Input("data: T")
    .Input("indices: Tindices")
    .Input("scales: S")
    .Input("zero_points: has_zero_points * T")
    .Output("output: S")
    .Attr("T: type")  // GetGatherAttributes says which.
    .Attr("Tindices: {int32, int64}")
    .Attr("S: {float, half, bfloat16}")
    .Attr("has_zero_points: int >= 0")
    .Attr("gather_axis: int = 0")
    .Attr("quantize_axis: int = 1")
    .Attr("block_size: int = 128")
    .Attr("bits: int = 4")
    .SetShapeFn([](InferenceContext* c) {
      GatherAttributes attributes;
      TF_RETURN_IF_ERROR(GetGatherAttributes(c, &attributes));
      std::optional<Shape> zero_points;
      TF_RETURN_IF_ERROR(OptionalShape(c, "zero_points", &zero_points));
      const auto shape = [c](int i) { return ToShape(c, c->input(i)); };
      const auto resolved = ResolveGather(attributes, shape(0), shape(1), shape(2), zero_points);
      if (!resolved.ok()) return ToStatus(resolved.error());
      c->set_output(0, ToHandle(c, resolved->output));
      return absl::OkStatus();
    });

}  // namespace tf_qops
