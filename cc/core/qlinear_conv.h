#ifndef TF_QOPS_CC_CORE_QLINEAR_CONV_H_
#define TF_QOPS_CC_CORE_QLINEAR_CONV_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/convolution_geometry.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// An operand of 8 bits, signed or not.
struct Bytes {
  const void* data;
  bool is_signed;

  int32_t operator[](int64_t i) const {
    return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
  }
};

// The lowest and highest code of an 8-bit type, seen from its zero point.
inline CodeRange ByteRange(bool is_signed, int32_t zero_point) {
  return is_signed ? CodeRange(-128, 127, zero_point) : CodeRange(0, 255, zero_point);
}

// The shapes of QLinearConv's inputs, known perhaps in part; no `bias` where there is none.
struct QLinearConvShapes {
  Shape x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point;
  std::optional<Shape> bias;
};

// ResolveConvolution, and the shapes of the rest: x's and y's scales and zero points are scalars
// or of shape [1]; w's also of shape [M], each for itself; bias is [M].
Result<ResolvedConvolution> ResolveQLinearConv(const ConvolutionAttributes& attributes,
                                               const QLinearConvShapes& shapes);

// How an int32 accumulator becomes a code of y:
//   y = clamp(rint(f32(acc + bias) * scale)) + y_zero_point
// with scale = (x_scale * w_scale) / y_scale in float32, in this order. One scale and one bias for
// each filter.
struct Requantization {
  std::vector<float> scale;
  std::vector<int32_t> bias;
  CodeRange range;

  Requantization(float x_scale, const float* w_scale, int64_t w_scale_size, float y_scale,
                 const int32_t* bias_or_null, int64_t filters, CodeRange y_range);

  int32_t Apply(int32_t accumulator, int64_t filter) const {
    const uint32_t sum = static_cast<uint32_t>(accumulator) + static_cast<uint32_t>(bias[filter]);
    return range.Quantize(static_cast<float>(static_cast<int32_t>(sum)) * scale[filter]);
  }
};

// The weights' zero points, one for each filter.
std::vector<int32_t> WeightZeroPoints(Bytes w_zero_point, int64_t size, int64_t filters);

// ONNX QLinearConv-10 by its definition, for any number of spatial dimensions. Products are summed
// modulo 2^32; a padded tap is x's zero point, so adds nothing. `y` is int8 or uint8 as
// `requantization.range` says.
void QLinearConvReference(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, Bytes w,
                          const std::vector<int32_t>& w_zero_point,
                          const Requantization& requantization, void* y);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_QLINEAR_CONV_H_
