// TensorFlow's Dequantize and Quantize (QuantizeV2), with every mode for every type and axis.

#include "cc/core/range_mode.h"
#include "cc/ops/attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {
namespace {

using tensorflow::shape_inference::InferenceContext;

// Inputs (x, min_range, max_range); the first output has the shape of x.
absl::Status RangeShape(InferenceContext* c, RangeAttributes* attributes) {
  TF_RETURN_IF_ERROR(GetRangeAttributes(c, attributes));
  const auto resolved =
      ResolveRange(ToShape(c, c->input(0)), ToShape(c, c->input(1)), ToShape(c, c->input(2)),
                   attributes->per_tensor, attributes->axis);
  if (!resolved.ok()) return ToStatus(resolved.error());
  c->set_output(0, ToHandle(c, resolved->x));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("TfQops>Dequantize")
    .Input("input: T")
    .Input("min_range: float")
    .Input("max_range: float")
    .Output("output: dtype")
    .Attr("T: {qint8, quint8, qint16, quint16, qint32, int8, uint8, int16, uint16, int32}")
    .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .Attr("axis_from_end: bool = false")
    .Attr("dtype: {float, half, bfloat16} = DT_FLOAT")
    .SetShapeFn([](InferenceContext* c) {
      RangeAttributes attributes;
      return RangeShape(c, &attributes);
    });

REGISTER_OP("TfQops>Quantize")
    .Input("input: float")
    .Input("min_range: float")
    .Input("max_range: float")
    .Output("output: T")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr(
        "T: {qint8, quint8, qint16, quint16, qint32, int8, uint8, int16, uint16, int32} = "
        "DT_QUINT8")
    .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
    .Attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .Attr("axis_from_end: bool = false")
    .Attr("ensure_minimum_range: float = 0.01")
    .SetShapeFn([](InferenceContext* c) {
      RangeAttributes attributes;
      TF_RETURN_IF_ERROR(RangeShape(c, &attributes));
      const auto range = attributes.per_tensor ? c->Scalar() : c->Vector(c->UnknownDim());
      const Shape x = ToShape(c, c->output(0));
      for (int i : {1, 2}) {
        c->set_output(i, attributes.per_tensor || !x
                             ? range
                             : c->Vector(c->Dim(c->output(0), attributes.axis)));
      }
      return absl::OkStatus();
    });

}  // namespace tf_qops
