#include "cc/core/convolution_geometry.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace tf_qops {
namespace {

// Attributes and dimensions up to this limit cannot overflow the arithmetic below.
constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();

std::optional<Error> CheckList(const char* name, const Dims& values, size_t expected_size,
                               int64_t lowest) {
  if (values.empty()) return std::nullopt;
  if (values.size() != expected_size) {
    return Invalid(name, " must have ", expected_size, " elements. Received: ", Show{values});
  }
  for (int64_t value : values) {
    if (value < lowest || value > kLimit) {
      return Invalid(name, " must be in [", lowest, ", ", kLimit, "]. Received: ", Show{values});
    }
  }
  return std::nullopt;
}

std::optional<Error> CheckAttributes(const ConvolutionAttributes& a, size_t spatial_rank) {
  if (auto error = CheckList("kernel_shape", a.kernel_shape, spatial_rank, 1)) return error;
  if (auto error = CheckList("strides", a.strides, spatial_rank, 1)) return error;
  if (auto error = CheckList("dilations", a.dilations, spatial_rank, 1)) return error;
  if (auto error = CheckList("pads", a.pads, 2 * spatial_rank, 0)) return error;
  const bool padded = std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p != 0; });
  if (padded && a.auto_pad != AutoPad::kNotSet) {
    return Invalid("pads must be 0 where auto_pad is not NOTSET. Received: pads=", Show{a.pads});
  }
  return std::nullopt;
}

int64_t At(const Dims& list, size_t i, int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

// Sets pad_begin and output from the rest.
std::optional<Error> PlaceWindow(const ConvolutionAttributes& a, size_t i, size_t spatial_rank,
                                 SpatialDim* dim) {
  const int64_t extent = (dim->kernel - 1) * dim->dilation + 1;
  if (a.auto_pad == AutoPad::kSameUpper || a.auto_pad == AutoPad::kSameLower) {
    dim->output = (dim->input + dim->stride - 1) / dim->stride;
    const int64_t total =
        std::max<int64_t>((dim->output - 1) * dim->stride + extent - dim->input, 0);
    dim->pad_begin = a.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    return std::nullopt;
  }
  dim->pad_begin = At(a.pads, i, 0);
  const int64_t padded = dim->input + dim->pad_begin + At(a.pads, spatial_rank + i, 0);
  if (extent > padded) {
    return Invalid("the kernel must fit into the padded input. Received: a dilated kernel of ",
                   extent, " on ", padded, " at spatial dimension ", i);
  }
  dim->output = (padded - extent) / dim->stride + 1;
  return std::nullopt;
}

template <typename Get>
int64_t Product(const std::vector<SpatialDim>& spatial, Get get) {
  int64_t product = 1;
  for (const SpatialDim& dim : spatial) product *= get(dim);
  return product;
}

bool TooLarge(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > kLimit; });
}

}  // namespace

int64_t ConvolutionGeometry::taps() const {
  return Product(spatial, [](const SpatialDim& d) { return d.kernel; });
}

int64_t ConvolutionGeometry::input_pixels() const {
  return Product(spatial, [](const SpatialDim& d) { return d.input; });
}

int64_t ConvolutionGeometry::output_pixels() const {
  return Product(spatial, [](const SpatialDim& d) { return d.output; });
}

Result<ResolvedConvolution> ResolveConvolution(const ConvolutionAttributes& a, const Shape& x,
                                               const Shape& w) {
  if (a.group < 1 || a.group > kLimit) {
    return Invalid("group must be in [1, ", kLimit, "]. Received: ", a.group);
  }
  if (!x && !w) return ResolvedConvolution{};
  const size_t rank = x ? x->size() : w->size();
  if (rank < 3) {
    return Invalid(x ? "x" : "w", " must have at least 3 dimensions. Received: shape ",
                   Show{x ? x : w});
  }
  if (x && w && w->size() != rank) {
    return Invalid("w must have the rank of x. Received: w of shape ", Show{w}, ", x of shape ",
                   Show{x});
  }
  if ((x && TooLarge(*x)) || (w && TooLarge(*w))) {
    return Invalid("dimensions must be at most ", kLimit, ". Received: x of shape ", Show{x},
                   ", w of shape ", Show{w});
  }
  const size_t spatial_rank = rank - 2;
  if (auto error = CheckAttributes(a, spatial_rank)) return *error;

  const size_t channel_at = a.channels_last ? rank - 1 : 1;
  const size_t spatial_at = a.channels_last ? 1 : 2;
  ConvolutionGeometry g;
  g.group = a.group;
  g.channels_last = a.channels_last;
  g.batch = x ? (*x)[0] : kUnknown;
  g.channels = x ? (*x)[channel_at] : kUnknown;
  g.filters = w ? (*w)[0] : kUnknown;
  const int64_t channels_per_group = w ? (*w)[1] : kUnknown;
  if (g.filters != kUnknown && g.filters % a.group != 0) {
    return Invalid("group must divide the filters of w. Received: group=", a.group, ", w of shape ",
                   Show{w});
  }
  if (g.channels != kUnknown && channels_per_group != kUnknown &&
      g.channels != channels_per_group * a.group) {
    return Invalid("x must have group times w's dimension 1 as channels. Received: x of shape ",
                   Show{x}, a.channels_last ? " (channels last)" : "", ", w of shape ", Show{w},
                   ", group=", a.group);
  }

  Dims output(rank, kUnknown);
  output[0] = g.batch;
  output[channel_at] = g.filters;
  for (size_t i = 0; i < spatial_rank; ++i) {
    SpatialDim dim{x ? (*x)[spatial_at + i] : kUnknown,
                   w ? (*w)[2 + i] : kUnknown,
                   At(a.strides, i, 1),
                   At(a.dilations, i, 1),
                   0,
                   kUnknown};
    if (!a.kernel_shape.empty()) {
      if (dim.kernel == kUnknown) dim.kernel = a.kernel_shape[i];
      if (dim.kernel != a.kernel_shape[i]) {
        return Invalid("kernel_shape must agree with w. Received: kernel_shape=",
                       Show{a.kernel_shape}, ", w of shape ", Show{w});
      }
    }
    if (dim.kernel == 0) {
      return Invalid(
          "w must have a kernel of at least 1 along each spatial dimension. Received: w "
          "of shape ",
          Show{w});
    }
    if (dim.input != kUnknown && dim.kernel != kUnknown) {
      if (auto error = PlaceWindow(a, i, spatial_rank, &dim)) return *error;
    }
    output[spatial_at + i] = dim.output;
    g.spatial.push_back(dim);
  }
  return ResolvedConvolution{output, g};
}

}  // namespace tf_qops
