#ifndef TF_QOPS_CC_CORE_SOFTMAX_H_
#define TF_QOPS_CC_CORE_SOFTMAX_H_

#include <cstdint>

#include "cc/core/bytes.h"
#include "cc/core/parallel.h"
#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// Rows of `length` elements that stand `inner` apart, in a tensor seen as [outer, length, inner].
struct SoftmaxRows {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

// Rows along `axis`, negative from the end. Before ONNX's operator set 13 a row also has all
// dimensions after the axis.
Result<SoftmaxRows> ResolveSoftmax(const Shape& x, int64_t axis, int64_t opset);

// com.microsoft's QLinearSoftmax: with e = exp(x_scale * (code - the code of the largest value)),
// in float64 as is the sum along the row,
//   y = clamp(rint(f32(e / sum) / y_scale)) + y_zero_point
void SoftmaxReference(const SoftmaxRows& rows, const ByteFormat& x_format, const uint8_t* x,
                      const ByteFormat& y_format, uint8_t* y);

void Softmax(const SoftmaxRows& rows, const ByteFormat& x_format, const uint8_t* x,
             const ByteFormat& y_format, uint8_t* y, const Workers& workers);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_SOFTMAX_H_
