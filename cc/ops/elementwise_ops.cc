// com.microsoft's operators on codes of 8 bits, one by one or along an axis. Their zero points are
// optional there, and 0 where left out; here they are always inputs, and say the type.

#include "cc/core/binary.h"
#include "cc/core/concat.h"
#include "cc/core/softmax.h"
#include "cc/ops/attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status BinaryShape(InferenceContext* c) {
  for (const char* name : {"a", "b", "c"}) TF_RETURN_IF_ERROR(CheckPerTensor(c, name));
  const auto shape = ResolveBinary(ToShape(c, c->input(0)), ToShape(c, c->input(3)));
  if (!shape.ok()) return ToStatus(shape.error());
  c->set_output(0, ToHandle(c, *shape));
  return absl::OkStatus();
}

// Inputs (x, x_scale, x_zero_point, y_scale, y_zero_point); the output has the shape of x.
absl::Status UnaryShape(InferenceContext* c) {
  for (const char* name : {"x", "y"}) TF_RETURN_IF_ERROR(CheckPerTensor(c, name));
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}

absl::Status SoftmaxShape(InferenceContext* c) {
  int64_t axis, opset;
  TF_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
  TF_RETURN_IF_ERROR(c->GetAttr("opset", &opset));
  const auto rows = ResolveSoftmax(ToShape(c, c->input(0)), axis, opset);
  if (!rows.ok()) return ToStatus(rows.error());
  return UnaryShape(c);
}

absl::Status ConcatShape(InferenceContext* c) {
  int64_t axis;
  TF_RETURN_IF_ERROR(GetConcatAxis(c, &axis));
  for (const char* name : {"x", "y"}) TF_RETURN_IF_ERROR(CheckPerTensor(c, name));
  std::vector<tensorflow::shape_inference::ShapeHandle> handles;
  TF_RETURN_IF_ERROR(c->input("x", &handles));
  std::vector<Shape> shapes;
  for (const auto& handle : handles) shapes.push_back(ToShape(c, handle));
  const auto shape = ResolveConcat(shapes, axis);
  if (!shape.ok()) return ToStatus(shape.error());
  c->set_output(0, ToHandle(c, *shape));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>QLinearAdd")
    .Input("a: T1")
    .Input("a_scale: float")
    .Input("a_zero_point: T1")
    .Input("b: T2")
    .Input("b_scale: float")
    .Input("b_zero_point: T2")
    .Input("c_scale: float")
    .Input("c_zero_point: T3")
    .Output("c: T3")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("T3: {int8, uint8}")
    .SetShapeFn(BinaryShape);

REGISTER_OP("TfQops>QLinearMul")
    .Input("a: T1")
    .Input("a_scale: float")
    .Input("a_zero_point: T1")
    .Input("b: T2")
    .Input("b_scale: float")
    .Input("b_zero_point: T2")
    .Input("c_scale: float")
    .Input("c_zero_point: T3")
    .Output("c: T3")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("T3: {int8, uint8}")
    .SetShapeFn(BinaryShape);

REGISTER_OP("TfQops>QLinearLeakyRelu")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("y_scale: float")
    .Input("y_zero_point: T2")
    .Output("y: T2")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("alpha: float = 0.01")
    .SetShapeFn(UnaryShape);

REGISTER_OP("TfQops>QLinearSigmoid")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("y_scale: float")
    .Input("y_zero_point: T2")
    .Output("y: T2")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .SetShapeFn(UnaryShape);

REGISTER_OP("TfQops>QLinearSoftmax")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("y_scale: float")
    .Input("y_zero_point: T2")
    .Output("y: T2")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("axis: int = -1")
    .Attr("opset: int = 13")  // Of ONNX; 12 and lower normalize over several dimensions.
    .SetShapeFn(SoftmaxShape);

REGISTER_OP("TfQops>QLinearConcat")
    .Input("y_scale: float")
    .Input("y_zero_point: T")
    .Input("x: TX")
    .Input("x_scale: N * float")
    .Input("x_zero_point: TX")
    .Output("y: T")
    .Attr("T: {int8, uint8}")
    .Attr("TX: list({int8, uint8}) >= 1")
    .Attr("N: int >= 1")  // The length of TX; TensorFlow cannot say so.
    .Attr("axis: int")
    .SetShapeFn(ConcatShape);

}  // namespace tf_qops
