// TensorFlow's Dequantize, with every mode for every type, axis and output type.

#include "cc/core/dequantize_range.h"
#include "cc/ops/attributes.h"
#include "cc/ops/shape_inference.h"
#include "tensorflow/core/framework/op.h"

namespace tf_qops {

using tensorflow::shape_inference::InferenceContext;

REGISTER_OP("TfQops>Dequantize")
    .Input("input: T")
    .Input("min_range: float")
    .Input("max_range: float")
    .Output("output: dtype")
    .Attr(
        "T: {qint8, quint8, qint16, quint16, qint32, int8, uint8, int16, uint16, int32}")
    .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .Attr("axis_from_end: bool = false")
    .Attr("dtype: {float, half, bfloat16} = DT_FLOAT")
    .SetShapeFn([](InferenceContext* c) {
      RangeAttributes attributes;
      TF_RETURN_IF_ERROR(GetRangeAttributes(c, &attributes));
      const auto resolved =
          ResolveRange(ToShape(c, c->input(0)), ToShape(c, c->input(1)), ToShape(c, c->input(2)),
                       attributes.per_tensor, attributes.axis);
      if (!resolved.ok()) return ToStatus(resolved.error());
      c->set_output(0, ToHandle(c, resolved->x));
      return absl::OkStatus();
    });

}  // namespace tf_qops
