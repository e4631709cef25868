#ifndef TF_QOPS_CC_CORE_QLINEAR_CONV_H_
#define TF_QOPS_CC_CORE_QLINEAR_CONV_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/accumulator_sink.h"
#include "cc/core/bytes.h"
#include "cc/core/convolution_geometry.h"

namespace tf_qops {

// The shapes of QLinearConv's inputs, known perhaps in part; no `bias` where there is none.
struct QLinearConvShapes {
  Shape x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point;
  std::optional<Shape> bias;
};

// ResolveConvolution, and the shapes of the rest: x's and y's scales and zero points are scalars
// or of shape [1]; w's also of shape [M], each for itself; bias is [M].
Result<ResolvedConvolution> ResolveQLinearConv(const ConvolutionAttributes& attributes,
                                               const QLinearConvShapes& shapes);

// (x_scale * w_scale) / y_scale of each filter, in float32 and in this order.
std::vector<float> ConvolutionScales(float x_scale, const float* w_scale, int64_t w_scale_size,
                                     float y_scale, int64_t filters);

// The weights' zero points, one for each filter.
std::vector<int32_t> WeightZeroPoints(Bytes w_zero_point, int64_t size, int64_t filters);

// The sums of QLinearConv-10 and ConvInteger-10 by their definition, [images, pixels, filters],
// for any number of spatial dimensions: products of codes less their zero points, summed modulo
// 2^32. A padded tap is x's zero point, so adds nothing.
std::vector<int32_t> ConvolutionSumsReference(const ConvolutionGeometry& g, Bytes x,
                                              int32_t x_zero_point, Bytes w,
                                              const std::vector<int32_t>& w_zero_point);

// Gives such sums to a sink.
void StoreSums(const std::vector<int32_t>& sums, int64_t columns, const AccumulatorSink& sink);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_QLINEAR_CONV_H_
