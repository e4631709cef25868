// ONNX's QLinearConv and ConvInteger (version 10), in any number of spatial dimensions.

#include "cc/core/qlinear_conv.h"
#include "cc/ops/attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status QLinearConvShape(InferenceContext* c) {
  ConvolutionAttributes attributes;
  TF_RETURN_IF_ERROR(GetConvolutionAttributes(c, &attributes));
  if (c->num_inputs() > 9) return TooManyOptional("bias", c->num_inputs() - 8);
  const auto shape = [c](int i) { return ToShape(c, c->input(i)); };
  QLinearConvShapes shapes{shape(0), shape(1), shape(2), shape(3),    shape(4),
                           shape(5), shape(6), shape(7), std::nullopt};
  if (c->num_inputs() > 8) shapes.bias = shape(8);
  const auto resolved = ResolveQLinearConv(attributes, shapes);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->output));
  return absl::OkStatus();
}

absl::Status ConvIntegerShape(InferenceContext* c) {
  ConvolutionAttributes attributes;
  TF_RETURN_IF_ERROR(GetConvolutionAttributes(c, &attributes));
  QLinearConvShapes shapes;
  shapes.x = ToShape(c, c->input(0));
  shapes.w = ToShape(c, c->input(1));
  for (const auto& [name, shape] :
       {std::pair<const char*, Shape*>{"x_zero_point", &shapes.x_zero_point},
        {"w_zero_point", &shapes.w_zero_point}}) {
    std::vector<tensorflow::shape_inference::ShapeHandle> handles;
    TF_RETURN_IF_ERROR(c->input(name, &handles));
    if (handles.size() > 1) return TooManyOptional(name, handles.size());
    if (!handles.empty()) *shape = ToShape(c, handles[0]);
  }
  const auto resolved = ResolveQLinearConv(attributes, shapes);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->output));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>QLinearConv")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("w: T2")
    .Input("w_scale: float")
    .Input("w_zero_point: T2")
    .Input("y_scale: float")
    .Input("y_zero_point: T3")
    .Input("bias: has_bias * int32")
    .Output("y: T3")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("T3: {int8, uint8}")
    .Attr("has_bias: int >= 0")
    .Attr("kernel_shape: list(int) = []")
    .Attr("strides: list(int) = []")
    .Attr("dilations: list(int) = []")
    .Attr("pads: list(int) = []")
    .Attr("auto_pad: {'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'} = 'NOTSET'")
    .Attr("group: int = 1")
    .Attr("data_format: {'NCHW', 'NHWC'} = 'NCHW'")
    .SetShapeFn(QLinearConvShape);

REGISTER_OP("TfQops>ConvInteger")
    .Input("x: T1")
    .Input("w: T2")
    .Input("x_zero_point: has_x_zero_point * T1")
    .Input("w_zero_point: has_w_zero_point * T2")
    .Output("y: int32")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("has_x_zero_point: int >= 0")
    .Attr("has_w_zero_point: int >= 0")
    .Attr("kernel_shape: list(int) = []")
    .Attr("strides: list(int) = []")
    .Attr("dilations: list(int) = []")
    .Attr("pads: list(int) = []")
    .Attr("auto_pad: {'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'} = 'NOTSET'")
    .Attr("group: int = 1")
    .Attr("data_format: {'NCHW', 'NHWC'} = 'NCHW'")
    .SetShapeFn(ConvIntegerShape);

}  // namespace tf_qops
