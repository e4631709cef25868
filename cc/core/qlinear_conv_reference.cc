#include "cc/core/qlinear_conv.h"

namespace tf_qops {
namespace {

// Steps `index` through a box of the given extents, the last dimension fastest; false at the end.
template <typename Extent>
bool Next(std::vector<int64_t>* index, Extent extent) {
  for (size_t d = index->size(); d-- > 0;) {
    if (++(*index)[d] < extent(d)) return true;
    (*index)[d] = 0;
  }
  return false;
}

}  // namespace

Requantization::Requantization(float x_scale, const float* w_scale, int64_t w_scale_size,
                               float y_scale, const int32_t* bias_or_null, int64_t filters,
                               CodeRange y_range)
    : scale(filters), bias(filters), range(y_range) {
  for (int64_t m = 0; m < filters; ++m) {
    scale[m] = (x_scale * w_scale[w_scale_size == 1 ? 0 : m]) / y_scale;
    bias[m] = bias_or_null != nullptr ? bias_or_null[m] : 0;
  }
}

std::vector<int32_t> WeightZeroPoints(Bytes w_zero_point, int64_t size, int64_t filters) {
  std::vector<int32_t> zero_points(filters);
  for (int64_t m = 0; m < filters; ++m) zero_points[m] = w_zero_point[size == 1 ? 0 : m];
  return zero_points;
}

void QLinearConvReference(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, Bytes w,
                          const std::vector<int32_t>& w_zero_point,
                          const Requantization& requantization, void* y) {
  const size_t rank = g.spatial.size();
  const int64_t group_channels = g.channels_per_group();
  // The flat index of (image, channel, pixel) in x or y.
  const auto at = [&](int64_t n, int64_t c, int64_t pixel, int64_t channels, int64_t pixels) {
    return g.channels_last ? (n * pixels + pixel) * channels + c
                           : (n * channels + c) * pixels + pixel;
  };

  if (g.output_pixels() == 0) return;
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t m = 0; m < g.filters; ++m) {
      const int64_t first_channel = m / g.filters_per_group() * group_channels;
      std::vector<int64_t> out(rank, 0);
      int64_t out_pixel = 0;
      do {
        uint32_t sum = 0;
        for (int64_t c = 0; c < group_channels; ++c) {
          std::vector<int64_t> tap(rank, 0);
          int64_t tap_index = 0;
          do {
            bool inside = true;
            int64_t in_pixel = 0;
            for (size_t d = 0; d < rank; ++d) {
              const SpatialDim& s = g.spatial[d];
              const int64_t in = out[d] * s.stride + tap[d] * s.dilation - s.pad_begin;
              inside = inside && in >= 0 && in < s.input;
              in_pixel = in_pixel * s.input + in;
            }
            if (inside) {
              const int32_t xv =
                  x[at(n, first_channel + c, in_pixel, g.channels, g.input_pixels())];
              const int32_t wv = w[(m * group_channels + c) * g.taps() + tap_index];
              sum += static_cast<uint32_t>((xv - x_zero_point) * (wv - w_zero_point[m]));
            }
            ++tap_index;
          } while (Next(&tap, [&](size_t d) { return g.spatial[d].kernel; }));
        }
        static_cast<uint8_t*>(y)[at(n, m, out_pixel, g.filters, g.output_pixels())] =
            static_cast<uint8_t>(requantization.Apply(static_cast<int32_t>(sum), m));
        ++out_pixel;
      } while (Next(&out, [&](size_t d) { return g.spatial[d].output; }));
    }
  }
}

}  // namespace tf_qops
