// com.microsoft's DynamicQuantizeLSTM.

#include "cc/ops/lstm_attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status LstmShape(InferenceContext* c) {
  LstmAttributes attributes;
  TF_RETURN_IF_ERROR(GetLstmAttributes(c, &attributes));
  LstmShapes s;
  const std::pair<const char*, Shape*> required[] = {{"x", &s.x},
                                                     {"w", &s.w},
                                                     {"r", &s.r},
                                                     {"w_scale", &s.w_scale},
                                                     {"w_zero_point", &s.w_zero_point},
                                                     {"r_scale", &s.r_scale},
                                                     {"r_zero_point", &s.r_zero_point}};
  for (const auto& [name, shape] : required) {
    std::vector<tensorflow::shape_inference::ShapeHandle> handle;
    TF_RETURN_IF_ERROR(c->input(name, &handle));
    *shape = ToShape(c, handle[0]);
  }
  TF_RETURN_IF_ERROR(OptionalShape(c, "bias", &s.bias));
  TF_RETURN_IF_ERROR(OptionalShape(c, "sequence_lens", &s.sequence_lens));
  TF_RETURN_IF_ERROR(OptionalShape(c, "initial_h", &s.initial_h));
  TF_RETURN_IF_ERROR(OptionalShape(c, "initial_c", &s.initial_c));
  TF_RETURN_IF_ERROR(OptionalShape(c, "peepholes", &s.peepholes));
  const auto resolved = ResolveLstm(attributes, s);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->y));
  c->set_output(1, ToHandle(c, resolved->state));
  c->set_output(2, ToHandle(c, resolved->state));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>DynamicQuantizeLSTM")
    .Input("x: float")
    .Input("w: T1")
    .Input("r: T2")
    .Input("bias: has_bias * float")
    .Input("sequence_lens: has_sequence_lens * int32")
    .Input("initial_h: has_initial_h * float")
    .Input("initial_c: has_initial_c * float")
    .Input("peepholes: has_peepholes * float")
    .Input("w_scale: float")
    .Input("w_zero_point: T1")
    .Input("r_scale: float")
    .Input("r_zero_point: T2")
    .Output("y: float")
    .Output("y_h: float")
    .Output("y_c: float")
    .Attr("T1: {int8, uint8}")
    .Attr("T2: {int8, uint8}")
    .Attr("has_bias: int >= 0")
    .Attr("has_sequence_lens: int >= 0")
    .Attr("has_initial_h: int >= 0")
    .Attr("has_initial_c: int >= 0")
    .Attr("has_peepholes: int >= 0")
    .Attr("hidden_size: int")
    .Attr("direction: {'forward', 'reverse', 'bidirectional'} = 'forward'")
    .Attr("activations: list(string) = []")
    .Attr("activation_alpha: list(float) = []")
    .Attr("activation_beta: list(float) = []")
    .Attr("clip: float = 0.0")
    .Attr("input_forget: bool = false")
    .SetShapeFn(LstmShape);

}  // namespace tf_qops
