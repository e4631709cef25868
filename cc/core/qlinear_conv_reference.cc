#include "cc/core/qlinear_conv.h"

namespace tf_qops {

std::vector<int32_t> ConvolutionSumsReference(const ConvolutionGeometry& g, Bytes x,
                                              int32_t x_zero_point, Bytes w,
                                              const std::vector<int32_t>& w_zero_point) {
  const size_t rank = g.spatial.size();
  const int64_t group_channels = g.channels_per_group();
  const auto x_index = [&](int64_t n, int64_t c, int64_t pixel) {
    return g.channels_last ? (n * g.input_pixels() + pixel) * g.channels + c
                           : (n * g.channels + c) * g.input_pixels() + pixel;
  };

  std::vector<int32_t> sums(g.batch * g.output_pixels() * g.filters);
  if (sums.empty()) return sums;
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
              const int32_t xv = x[x_index(n, first_channel + c, in_pixel)];
              const int32_t wv = w[(m * group_channels + c) * g.taps() + tap_index];
              sum += static_cast<uint32_t>((xv - x_zero_point) * (wv - w_zero_point[m]));
            }
            ++tap_index;
          } while (NextIndex(&tap, [&](size_t d) { return g.spatial[d].kernel; }));
        }
        sums[(n * g.output_pixels() + out_pixel) * g.filters + m] = static_cast<int32_t>(sum);
        ++out_pixel;
      } while (NextIndex(&out, [&](size_t d) { return g.spatial[d].output; }));
    }
  }
  return sums;
}

}  // namespace tf_qops
