#ifndef TF_QOPS_CC_CORE_WINDOW_H_
#define TF_QOPS_CC_CORE_WINDOW_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

// ONNX's attributes of a window that slides over the spatial dimensions of x; an empty list means
// the default (1s, or pads of 0).
struct WindowAttributes {
  Dims kernel_shape;
  Dims strides;
  Dims dilations;
  Dims pads;  // All begins, then all ends.
  AutoPad auto_pad = AutoPad::kNotSet;
  bool channels_last = false;  // Where x and y have their channels.
};

// One spatial dimension.
struct SpatialDim {
  int64_t input;
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t pad_begin;
  int64_t output;
};

// Attributes and dimensions up to this limit cannot overflow the arithmetic with them.
inline constexpr int64_t kWindowLimit = std::numeric_limits<int32_t>::max();

// Checks the attributes against each other.
std::optional<Error> CheckWindow(const WindowAttributes& attributes, size_t spatial_rank);

// Whether dimensions are known to be beyond the limit.
bool TooLarge(const Shape& shape);

// The window along spatial dimension `i`, for an input and a kernel that may be unknown. With
// `ceil_mode` a last window that the stride leaves incomplete counts too, if it begins on the
// input or its begin padding.
Result<SpatialDim> PlaceWindow(const WindowAttributes& attributes, size_t i, size_t spatial_rank,
                               int64_t input, int64_t kernel, bool ceil_mode = false);

// The positions of a window that are on the input, not on padding.
struct WindowOverlap {
  int64_t first;  // Input position.
  int64_t count;  // Positions, dim.dilation apart.

  WindowOverlap(const SpatialDim& dim, int64_t output);
};

// Up to three spatial dimensions as [depth, rows, columns]; missing ones have extent 1. A single
// one runs along the rows, which are what is divided among threads.
struct Volume {
  SpatialDim depth{1, 1, 1, 1, 0, 1};
  SpatialDim rows{1, 1, 1, 1, 0, 1};
  SpatialDim columns{1, 1, 1, 1, 0, 1};

  explicit Volume(const std::vector<SpatialDim>& s) {
    if (s.size() == 1) rows = s[0];
    if (s.size() >= 2) rows = s[s.size() - 2], columns = s[s.size() - 1];
    if (s.size() == 3) depth = s[0];
  }
};

// The product over all dimensions, get(dim) of each.
template <typename Get>
int64_t SpatialProduct(const std::vector<SpatialDim>& spatial, Get get) {
  int64_t product = 1;
  for (const SpatialDim& dim : spatial) product *= get(dim);
  return product;
}

// Steps `index` through a box of the given extents, the last dimension fastest; false at the end.
template <typename Extent>
bool NextIndex(std::vector<int64_t>* index, Extent extent) {
  for (size_t d = index->size(); d-- > 0;) {
    if (++(*index)[d] < extent(d)) return true;
    (*index)[d] = 0;
  }
  return false;
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_WINDOW_H_
