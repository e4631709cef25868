#include "cc/core/window.h"

#include <algorithm>

namespace tf_qops {
namespace {

std::optional<Error> CheckList(const char* name, const Dims& values, size_t expected_size,
                               int64_t lowest) {
  if (values.empty()) return std::nullopt;
  if (values.size() != expected_size) {
    return Invalid(name, " must have ", expected_size,
                   " elements. Received: ", ShowNumbers{values});
  }
  for (int64_t value : values) {
    if (value < lowest || value > kWindowLimit) {
      return Invalid(name, " must be in [", lowest, ", ", kWindowLimit,
                     "]. Received: ", ShowNumbers{values});
    }
  }
  return std::nullopt;
}

int64_t At(const Dims& list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

}  // namespace

std::optional<Error> CheckWindow(const WindowAttributes& a, size_t spatial_rank) {
  if (auto error = CheckList("kernel_shape", a.kernel_shape, spatial_rank, 1)) return error;
  if (auto error = CheckList("strides", a.strides, spatial_rank, 1)) return error;
  if (auto error = CheckList("dilations", a.dilations, spatial_rank, 1)) return error;
  if (auto error = CheckList("pads", a.pads, 2 * spatial_rank, 0)) return error;
  const bool padded = std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p != 0; });
  if (padded && a.auto_pad != AutoPad::kNotSet) {
    return Invalid("pads must be 0 where auto_pad is not NOTSET. Received: pads=",
                   ShowNumbers{a.pads});
  }
  return std::nullopt;
}

bool TooLarge(const Shape& shape) {
  return shape &&
         std::any_of(shape->begin(), shape->end(), [](int64_t dim) { return dim > kWindowLimit; });
}

Result<SpatialDim> PlaceWindow(const WindowAttributes& a, size_t i, size_t spatial_rank,
                               int64_t input, int64_t kernel, bool ceil_mode) {
  SpatialDim dim{input,   kernel, At(a.strides, i, 1), At(a.dilations, i, 1), At(a.pads, i, 0),
                 kUnknown};
  if (input == kUnknown || kernel == kUnknown) return dim;
  const int64_t extent = (kernel - 1) * dim.dilation + 1;
  if (a.auto_pad == AutoPad::kSameUpper || a.auto_pad == AutoPad::kSameLower) {
    dim.output = (input + dim.stride - 1) / dim.stride;
    const int64_t total = std::max<int64_t>((dim.output - 1) * dim.stride + extent - input, 0);
    dim.pad_begin = a.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    return dim;
  }
  const int64_t padded = input + dim.pad_begin + At(a.pads, spatial_rank + i, 0);
  const int64_t room = padded - extent;
  dim.output = room < 0 ? 0 : room / dim.stride + 1;
  if (ceil_mode && (dim.output - 1) * dim.stride < room &&
      dim.output * dim.stride < input + dim.pad_begin) {
    ++dim.output;
  }
  if (dim.output == 0) {
    return Invalid("the kernel must fit into the padded input. Received: a dilated kernel of ",
                   extent, " on ", padded, " at spatial dimension ", i);
  }
  return dim;
}

WindowOverlap::WindowOverlap(const SpatialDim& dim, int64_t output) {
  const int64_t begin = output * dim.stride - dim.pad_begin;
  const int64_t skipped = begin < 0 ? (-begin + dim.dilation - 1) / dim.dilation : 0;
  first = begin + skipped * dim.dilation;
  const int64_t fitting = first < dim.input ? (dim.input - 1 - first) / dim.dilation + 1 : 0;
  count = std::max<int64_t>(std::min(dim.kernel - skipped, fitting), 0);
}

}  // namespace tf_qops
