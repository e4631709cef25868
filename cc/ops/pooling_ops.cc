// com.microsoft's QLinearAveragePool and QLinearGlobalAveragePool. Zero points are always inputs,
// see elementwise_ops.cc.

#include "cc/core/average_pool.h"
#include "cc/ops/attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status PoolShape(InferenceContext* c, const Result<ResolvedPooling>& resolved) {
  if (!resolved.ok()) return ToStatus(resolved.error());
  for (const char* name : {"x", "y"}) TF_RETURN_IF_ERROR(CheckPerTensor(c, name));
  c->set_output(0, ToHandle(c, resolved->output));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>QLinearAveragePool")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("y_scale: float")
    .Input("y_zero_point: T2")
    .Output("y: T2")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("kernel_shape: list(int)")
    .Attr("strides: list(int) = []")
    .Attr("dilations: list(int) = []")  // Not in com.microsoft's, but in ONNX's AveragePool.
    .Attr("pads: list(int) = []")
    .Attr("auto_pad: {'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'} = 'NOTSET'")
    .Attr("ceil_mode: bool = false")
    .Attr("count_include_pad: bool = false")
    .Attr("channels_last: bool = false")
    .SetShapeFn([](InferenceContext* c) {
      PoolingAttributes attributes;
      TF_RETURN_IF_ERROR(GetPoolingAttributes(c, &attributes));
      return PoolShape(c, ResolvePooling(attributes, ToShape(c, c->input(0))));
    });

REGISTER_OP("TfQops>QLinearGlobalAveragePool")
    .Input("x: T1")
    .Input("x_scale: float")
    .Input("x_zero_point: T1")
    .Input("y_scale: float")
    .Input("y_zero_point: T2")
    .Output("y: T2")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("channels_last: bool = false")
    .SetShapeFn([](InferenceContext* c) {
      bool channels_last;
      TF_RETURN_IF_ERROR(c->GetAttr("channels_last", &channels_last));
      return PoolShape(c, ResolveGlobalPooling(channels_last, ToShape(c, c->input(0))));
    });

}  // namespace tf_qops
