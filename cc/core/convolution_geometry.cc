#include "cc/core/convolution_geometry.h"

namespace tf_qops {

int64_t ConvolutionGeometry::taps() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.kernel; });
}

int64_t ConvolutionGeometry::input_pixels() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.input; });
}

int64_t ConvolutionGeometry::output_pixels() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.output; });
}

Result<ResolvedConvolution> ResolveConvolution(const ConvolutionAttributes& a, const Shape& x,
                                               const Shape& w) {
  if (a.group < 1 || a.group > kWindowLimit) {
    return Invalid("group must be in [1, ", kWindowLimit, "]. Received: ", a.group);
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
  if (TooLarge(x) || TooLarge(w)) {
    return Invalid("dimensions must be at most ", kWindowLimit, ". Received: x of shape ", Show{x},
                   ", w of shape ", Show{w});
  }
  const size_t spatial_rank = rank - 2;
  if (auto error = CheckWindow(a, spatial_rank)) return *error;

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
    int64_t kernel = w ? (*w)[2 + i] : kUnknown;
    if (!a.kernel_shape.empty()) {
      if (kernel == kUnknown) kernel = a.kernel_shape[i];
      if (kernel != a.kernel_shape[i]) {
        return Invalid("kernel_shape must agree with w. Received: kernel_shape=",
                       ShowNumbers{a.kernel_shape}, ", w of shape ", Show{w});
      }
    }
    if (kernel == 0) {
      return Invalid(
          "w must have a kernel of at least 1 along each spatial dimension. Received: w "
          "of shape ",
          Show{w});
    }
    const auto dim = PlaceWindow(a, i, spatial_rank, x ? (*x)[spatial_at + i] : kUnknown, kernel);
    if (!dim.ok()) return dim.error();
    output[spatial_at + i] = dim->output;
    g.spatial.push_back(*dim);
  }
  return ResolvedConvolution{output, g};
}

}  // namespace tf_qops
