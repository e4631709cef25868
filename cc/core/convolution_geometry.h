#ifndef TF_QOPS_CC_CORE_CONVOLUTION_GEOMETRY_H_
#define TF_QOPS_CC_CORE_CONVOLUTION_GEOMETRY_H_

#include <cstdint>

#include "cc/core/result.h"
#include "cc/core/shape.h"
#include "cc/core/window.h"

namespace tf_qops {

struct ConvolutionAttributes : WindowAttributes {
  int64_t group = 1;
};

// A convolution with every number known.
struct ConvolutionGeometry {
  int64_t batch = 0;
  int64_t channels = 0;  // C of x.
  int64_t filters = 0;   // M, the channels of y.
  int64_t group = 1;
  bool channels_last = false;
  std::vector<SpatialDim> spatial;

  int64_t channels_per_group() const { return channels / group; }
  int64_t filters_per_group() const { return filters / group; }
  int64_t taps() const;           // Kernel positions.
  int64_t input_pixels() const;   // Spatial positions of x, of one image.
  int64_t output_pixels() const;  // Spatial positions of y, of one image.
};

struct ResolvedConvolution {
  Shape output;                  // As much of y's shape as follows from what is known.
  ConvolutionGeometry geometry;  // Meaningful where x and w are fully known.
};

// Checks the attributes against each other and against shapes that may be known in part. `x` and
// `w` are ONNX shapes, x in the layout that the attributes name, w as [M, C / group, k...].
Result<ResolvedConvolution> ResolveConvolution(const ConvolutionAttributes& attributes,
                                               const Shape& x, const Shape& w);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CONVOLUTION_GEOMETRY_H_
