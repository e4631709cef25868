#ifndef TF_QOPS_CC_CORE_AVERAGE_POOL_H_
#define TF_QOPS_CC_CORE_AVERAGE_POOL_H_

#include <cstdint>
#include <vector>

#include "cc/core/byte_kernels.h"
#include "cc/core/bytes.h"
#include "cc/core/parallel.h"
#include "cc/core/result.h"
#include "cc/core/shape.h"
#include "cc/core/window.h"

namespace tf_qops {

struct PoolingAttributes : WindowAttributes {
  bool ceil_mode = false;
  bool count_include_pad = false;
};

// A pooling with every number known.
struct PoolingGeometry {
  int64_t batch = 0;
  int64_t channels = 0;
  bool channels_last = false;
  std::vector<SpatialDim> spatial;

  int64_t taps() const;           // Positions of the window, also those on padding.
  int64_t input_pixels() const;   // Spatial positions of x, of one image.
  int64_t output_pixels() const;  // Spatial positions of y, of one image.
};

struct ResolvedPooling {
  Shape output;              // As much of y's shape as follows from what is known.
  PoolingGeometry geometry;  // Meaningful where x is fully known.
};

// Pooling's rules for an x whose shape may be known in part.
Result<ResolvedPooling> ResolvePooling(const PoolingAttributes& attributes, const Shape& x);

// One window over all of an image, whose pixels count as one dimension.
Result<ResolvedPooling> ResolveGlobalPooling(bool channels_last, const Shape& x);

// com.microsoft's QLinearAveragePool and QLinearGlobalAveragePool. With the exact sum of
// x - x_zero_point over the `count` positions of a window that are on x, in float32:
//   y = clamp(rint(f32(sum) / f32(n) * (x_scale / y_scale) + y_zero_point))
//   y = clamp(rint(f32(sum) * (x_scale / (y_scale * f32(n))))) + y_zero_point
// the second for a global one. n is count, or the size of the whole window with
// count_include_pad (positions beyond the padding, where ceil_mode lets it end, too); a mean of
// no elements is that of a 0. These are the bits of ONNX Runtime 1.31.
struct AveragePooling {
  bool global;
  bool count_include_pad;
  ByteFormat x;
  ByteFormat y;

  float Divisor(int64_t count, int64_t taps) const;  // n.
  uint8_t MeanReference(int64_t sum, int64_t count, int64_t taps) const;
  // For sums of x's bytes as they are read with FlipOf; for at most kMostElements of them.
  MeanScaling Scaling(int64_t count, int64_t taps) const;

  static constexpr int64_t kMostElements = int64_t{1} << 23;
};

void AveragePoolReference(const PoolingGeometry& g, const AveragePooling& pooling, const uint8_t* x,
                          uint8_t* y);

void AveragePool(const PoolingGeometry& g, const AveragePooling& pooling, const uint8_t* x,
                 uint8_t* y, const Workers& workers, InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_AVERAGE_POOL_H_
