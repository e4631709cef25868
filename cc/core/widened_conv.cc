#include "cc/core/widened_conv.h"

#include <algorithm>

namespace tf_qops {
namespace {

constexpr int64_t kBandBytes = 128 * 1024;  // Of widened x: half of a common L2 cache.
constexpr int64_t kLargestBandBytes = 64 * 1024 * 1024;
constexpr int64_t kBandPixels = 64;  // Fewer would read a panel's weights too often.

// Input positions that `outputs` neighbouring output positions read along a dimension.
int64_t Span(const SpatialDim& dim, int64_t outputs) {
  return (outputs - 1) * dim.stride + (dim.kernel - 1) * dim.dilation + 1;
}

// int16 elements that one widened input position takes.
int64_t SlotWidth(const ConvolutionGeometry& g) {
  return g.channels_per_group() == 1 ? 2 * RoundUp(g.filters, kPanel)
                                     : g.group * RoundUp(g.channels_per_group(), 2);
}

// Computes bands of output rows; one for each thread and range of work.
class BandRunner {
 public:
  BandRunner(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, const WidenedWeights& w,
             const AccumulatorSink& sink, const WidenedKernels& kernels, int64_t band_rows)
      : g_(g),
        v_(g.spatial),
        x_(x),
        x_zero_point_(x_zero_point),
        w_(w),
        sink_(sink),
        kernels_(kernels),
        group_width_(w.depthwise ? 0 : 2 * w.pairs),
        slot_(SlotWidth(g)),
        span_rows_(Span(v_.rows, band_rows)),
        span_columns_(Span(v_.columns, v_.columns.output)),
        buffer_(v_.depth.kernel * span_rows_ * span_columns_ * slot_) {
    for (int64_t d = 0; d < v_.depth.kernel; ++d) {
      for (int64_t r = 0; r < v_.rows.kernel; ++r) {
        for (int64_t c = 0; c < v_.columns.kernel; ++c) {
          tap_offsets_.push_back(
              ((d * span_rows_ + r * v_.rows.dilation) * span_columns_ + c * v_.columns.dilation) *
              slot_);
        }
      }
    }
  }

  // Output rows [row, row + count) of image n at depth `d`, panels [first, last) of all groups.
  void Run(int64_t n, int64_t d, int64_t row, int64_t count, int64_t first, int64_t last) {
    WidenInput(n, d, row, count);
    const int64_t pixels = count * v_.columns.output;
    const int64_t out_pixel = (d * v_.rows.output + row) * v_.columns.output;
    for (int64_t panel = first; panel < last; ++panel) {
      if (w_.depthwise) {
        DepthwisePanel(n, panel, pixels, out_pixel);
      } else {
        DensePanel(n, panel / w_.panels, panel % w_.panels, pixels, out_pixel);
      }
    }
  }

 private:
  void WidenInput(int64_t n, int64_t d, int64_t row, int64_t count) {
    const int64_t rows = Span(v_.rows, count);
    for (int64_t kd = 0; kd < v_.depth.kernel; ++kd) {
      const int64_t in_d = d * v_.depth.stride + kd * v_.depth.dilation - v_.depth.pad_begin;
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t in_r = row * v_.rows.stride + r - v_.rows.pad_begin;
        int16_t* to = buffer_.data() + (kd * span_rows_ + r) * span_columns_ * slot_;
        if (in_d < 0 || in_d >= v_.depth.input || in_r < 0 || in_r >= v_.rows.input) {
          std::fill_n(to, span_columns_ * slot_, int16_t{0});
        } else {
          WidenRow(n, in_d * v_.rows.input + in_r, to);
        }
      }
    }
  }

  void WidenRow(int64_t n, int64_t in_row, int16_t* to) {
    const int64_t begin = std::min(v_.columns.pad_begin, span_columns_);
    const int64_t end = std::min(begin + v_.columns.input, span_columns_);
    std::fill_n(to, begin * slot_, int16_t{0});
    std::fill_n(to + end * slot_, (span_columns_ - end) * slot_, int16_t{0});
    for (int64_t c = begin; c < end; ++c) {
      WidenPixel(n, in_row * v_.columns.input + c - begin, to + c * slot_);
    }
  }

  void WidenPixel(int64_t n, int64_t pixel, int16_t* to) {
    const int64_t channels = g_.channels;
    const int64_t step = g_.channels_last ? 1 : g_.input_pixels();
    const int64_t first =
        n * channels * g_.input_pixels() + (g_.channels_last ? pixel * channels : pixel);
    if (w_.depthwise) {
      std::fill_n(to, slot_, int16_t{0});
      const int64_t multiplier = g_.filters_per_group();
      for (int64_t c = 0; c < channels; ++c) {
        const int16_t value = static_cast<int16_t>(x_[first + c * step] - x_zero_point_);
        for (int64_t k = 0; k < multiplier; ++k) to[2 * (c * multiplier + k)] = value;
      }
      return;
    }
    const int64_t per_group = g_.channels_per_group();
    for (int64_t group = 0; group < g_.group; ++group, to += group_width_) {
      const int64_t from = first + group * per_group * step;
      if (step == 1 && x_.is_signed) {
        kernels_.widen_signed(static_cast<const int8_t*>(x_.data) + from, per_group, x_zero_point_,
                              to);
      } else if (step == 1) {
        kernels_.widen_unsigned(static_cast<const uint8_t*>(x_.data) + from, per_group,
                                x_zero_point_, to);
      } else {
        for (int64_t c = 0; c < per_group; ++c) {
          to[c] = static_cast<int16_t>(x_[from + c * step] - x_zero_point_);
        }
      }
      if (per_group < group_width_) to[per_group] = 0;
    }
  }

  // Where the window of a band's pixel begins in the buffer.
  int64_t WindowOffset(int64_t pixel) const {
    const int64_t row = pixel / v_.columns.output;
    const int64_t column = pixel % v_.columns.output;
    return (row * v_.rows.stride * span_columns_ + column * v_.columns.stride) * slot_;
  }

  void DensePanel(int64_t n, int64_t group, int64_t panel, int64_t pixels, int64_t out_pixel) {
    const int16_t* w = w_.data.data() + (group * w_.panels + panel) * w_.panel_size;
    const int64_t first = panel * kPanel;
    const int64_t count = std::min<int64_t>(kPanel, g_.filters_per_group() - first);
    const int64_t filter = group * g_.filters_per_group() + first;
    const int64_t row = n * g_.output_pixels() + out_pixel;
    for (int64_t p = 0; p < pixels; p += kTileRows) {
      const int16_t* x[kTileRows];
      for (int64_t r = 0; r < kTileRows; ++r) {
        // A last, partial tile computes its last pixel again and does not store it.
        x[r] = buffer_.data() + WindowOffset(std::min(p + r, pixels - 1)) + group * group_width_;
      }
      int32_t acc[kTileRows * kPanel];
      kernels_.dense(x, tap_offsets_.data(), tap_offsets_.size(), w_.pairs, w, acc);
      for (int64_t r = 0; r < std::min<int64_t>(kTileRows, pixels - p); ++r) {
        sink_.Store(acc + r * kPanel, row + p + r, filter, count);
      }
    }
  }

  void DepthwisePanel(int64_t n, int64_t panel, int64_t pixels, int64_t out_pixel) {
    const int16_t* w = w_.data.data() + panel * w_.panel_size;
    const int64_t first = panel * kPanel;
    const int64_t count = std::min<int64_t>(kPanel, g_.filters - first);
    const int64_t row = n * g_.output_pixels() + out_pixel;
    for (int64_t p = 0; p < pixels; ++p) {
      int32_t acc[kPanel];
      kernels_.depthwise(buffer_.data() + WindowOffset(p) + 2 * first, tap_offsets_.data(),
                         tap_offsets_.size(), w, acc);
      sink_.Store(acc, row + p, first, count);
    }
  }

  const ConvolutionGeometry& g_;
  const Volume v_;
  const Bytes x_;
  const int32_t x_zero_point_;
  const WidenedWeights& w_;
  const AccumulatorSink& sink_;
  const WidenedKernels& kernels_;
  const int64_t group_width_;
  const int64_t slot_;
  const int64_t span_rows_;
  const int64_t span_columns_;
  std::vector<int16_t> buffer_;
  std::vector<int64_t> tap_offsets_;
};

// Widened x that one output row needs, for each of its kernel rows; at least 1.
int64_t InputRowBytes(const ConvolutionGeometry& g) {
  const Volume v(g.spatial);
  const int64_t positions = v.depth.kernel * Span(v.columns, v.columns.output);
  return std::max<int64_t>(positions * SlotWidth(g) * sizeof(int16_t), 1);
}

}  // namespace

bool CanWiden(const ConvolutionGeometry& g) {
  if (g.spatial.size() > 3) return false;
  const Volume v(g.spatial);
  double bytes = sizeof(int16_t);  // The product may exceed any integer.
  for (int64_t extent :
       {v.depth.kernel, Span(v.rows, 1), Span(v.columns, v.columns.output), SlotWidth(g)}) {
    bytes *= static_cast<double>(extent);
  }
  return bytes <= kLargestBandBytes;
}

WidenedWeights WidenWeights(const ConvolutionGeometry& g, Bytes w,
                            const std::vector<int32_t>& w_zero_point) {
  const int64_t channels = g.channels_per_group();
  const int64_t taps = g.taps();
  WidenedWeights packed;
  packed.depthwise = channels == 1;
  packed.pairs = (channels + 1) / 2;
  const int64_t columns = packed.depthwise ? g.filters : g.filters_per_group();
  packed.panels = RoundUp(columns, kPanel) / kPanel;
  packed.panel_size = taps * packed.pairs * kPanel * 2;
  const int64_t groups = packed.depthwise ? 1 : g.group;
  packed.data.resize(groups * packed.panels * packed.panel_size);
  for (int64_t group = 0; group < groups; ++group) {
    const auto get = [&](int64_t column, int64_t tap, int64_t channel) {
      const int64_t m = group * columns + column;
      return w[(m * channels + channel) * taps + tap] - w_zero_point[m];
    };
    PackPanels(columns, taps, channels, get,
               packed.data.data() + group * packed.panels * packed.panel_size);
  }
  return packed;
}

void WidenedConv(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point,
                 const WidenedWeights& w, const AccumulatorSink& sink, const Workers& workers,
                 InstructionSet isa) {
  const Volume v(g.spatial);
  if (g.batch == 0 || g.filters == 0 || g.output_pixels() == 0) return;

  const int64_t fitting = std::max<int64_t>(kBandBytes / InputRowBytes(g) / v.rows.stride, 1);
  const int64_t enough = (kBandPixels + v.columns.output - 1) / v.columns.output;
  const int64_t band_rows = std::min(std::max(fitting, enough), v.rows.output);
  const int64_t bands = (v.rows.output + band_rows - 1) / band_rows;
  const int64_t regions = g.batch * v.depth.output * bands;

  // Where there are too few bands for the threads, the filters are divided too.
  const int64_t panels = (w.depthwise ? 1 : g.group) * w.panels;
  const int64_t wanted = workers.threads == 1 ? 1 : 4 * workers.threads;
  const int64_t chunks = std::min(panels, std::max<int64_t>(wanted / regions, 1));

  const int64_t unit_products =
      band_rows * v.columns.output * g.taps() * g.channels_per_group() * g.filters / chunks;
  workers.run(regions * chunks, unit_products / 32 + 1000, [&](int64_t begin, int64_t end) {
    BandRunner runner(g, x, x_zero_point, w, sink, WidenedKernelsOf(isa), band_rows);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = unit / regions;
      const int64_t band = unit % regions % bands;
      const int64_t slice = unit % regions / bands;
      const int64_t row = band * band_rows;
      runner.Run(slice / v.depth.output, slice % v.depth.output, row,
                 std::min(band_rows, v.rows.output - row), panels * chunk / chunks,
                 panels * (chunk + 1) / chunks);
    }
  });
}

}  // namespace tf_qops
