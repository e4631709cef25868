#include "cc/core/banded_conv.h"

#include <algorithm>

#include "cc/core/band_input.h"

namespace tf_qops {
namespace {

// Of lanes: they are read once per panel of filters, depthwise once for each row of the kernel.
constexpr int64_t kBandBytes = 64 * 1024;
constexpr int64_t kDepthwiseBandBytes = 384 * 1024;
constexpr int64_t kLargestBandBytes = 64 * 1024 * 1024;
constexpr int64_t kBandPixels = 64;  // Fewer would read a panel's weights too often.

// A depthwise weight minus its zero point may not fit an int8, but is the sum of so many that do.
constexpr int kDepthwiseParts = 3;

SlotLayout LayoutOf(const ConvolutionGeometry& g, LaneFormat format) {
  return {format, g.channels_per_group() == 1};
}

// One tap of the packed filters is a lane: neighbouring kernel columns of the filter's channel.
PackedPanels PackDepthwise(const ConvolutionGeometry& g, Bytes w,
                           const std::vector<int32_t>& w_zero_point, SlotLayout layout) {
  const Volume v(g.spatial);
  const int64_t covered = layout.ColumnsOfLane(), column_taps = layout.ColumnTaps(v);
  const int64_t kernel = v.columns.kernel, rows = g.taps() / kernel, taps = rows * column_taps;
  int32_t largest = 0;
  const auto difference = [&](int64_t m, int64_t row, int64_t column) {
    return column < kernel ? w[(m * rows + row) * kernel + column] - w_zero_point[m] : 0;
  };
  for (int64_t i = 0; i < g.filters * g.taps(); ++i) {
    largest = std::max(largest, std::abs(w[i] - w_zero_point[i / g.taps()]));
  }
  const bool split = layout.format == LaneFormat::kBytes && largest > 127;
  const auto part_of = [&](int32_t value, int64_t part) {
    for (; part > 0; --part) value -= std::min(std::max(value, -127), 127);
    return std::min(std::max(value, -127), 127);
  };
  const int64_t parts = split ? kDepthwiseParts : 1;
  return PackPanels(
      layout.format, g.filters, parts * taps, covered, [&](int64_t m, int64_t tap, int64_t place) {
        const int64_t in_part = tap % taps;
        const int32_t value =
            difference(m, in_part / column_taps, in_part % column_taps * covered + place);
        return split ? part_of(value, tap / taps) : value;
      });
}

// Computes bands of output rows; one for each thread and range of work.
class BandRunner {
 public:
  BandRunner(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, const PackedFilters& w,
             const AccumulatorSink& sink, const ProductKernels& kernels, int64_t band_rows)
      : g_(g),
        pixels_of_row_(Volume(g.spatial).columns.output),
        rows_of_plane_(Volume(g.spatial).rows.output),
        w_(w),
        sink_(sink),
        kernels_(kernels),
        layout_(LayoutOf(g, kernels.format)),
        input_(g, x, x_zero_point, layout_, kernels, band_rows),
        codes_(sink.codes()),
        zero_(x_zero_point + (kernels.format == LaneFormat::kBytes && x.is_signed ? 128 : 0)) {
    if (w.depthwise) {
      start_ = StartOfSums(w.groups[0], zero_, codes_ == nullptr ? nullptr : codes_->bias);
      while (static_cast<int64_t>(depthwise_taps_.size()) < w.groups[0].taps) {
        depthwise_taps_.insert(depthwise_taps_.end(), input_.tap_offsets().begin(),
                               input_.tap_offsets().end());
      }
    } else {
      for (const PackedPanels& panels : w.groups) {
        products_.emplace_back(panels, input_.tap_offsets(), std::vector<int32_t>{zero_}, kernels,
                               sink,
                               static_cast<int64_t>(products_.size()) * g.filters_per_group());
      }
    }
  }

  // Output rows [row, row + count) of image n at depth `d`, panels [first, last) of all groups.
  void Run(int64_t n, int64_t d, int64_t row, int64_t count, int64_t first, int64_t last) {
    input_.Load(n, d, row, count, first, last);
    const int64_t pixels = count * pixels_of_row_;
    const int64_t sink_row = n * g_.output_pixels() + (d * rows_of_plane_ + row) * pixels_of_row_;
    if (w_.depthwise) {
      for (int64_t panel = first; panel < last; panel += kernels_.most_panels_depthwise) {
        Depthwise(panel, std::min<int64_t>(kernels_.most_panels_depthwise, last - panel), pixels,
                  sink_row);
      }
      return;
    }
    const int64_t panels = w_.groups[0].panels();
    for (int64_t group = first / panels; group * panels < last; ++group) {
      Dense(group, std::max<int64_t>(first - group * panels, 0),
            std::min(last - group * panels, panels), pixels, sink_row);
    }
  }

 private:
  void Dense(int64_t group, int64_t first, int64_t last, int64_t pixels, int64_t sink_row) {
    const PanelProduct& product = products_[group];
    const int64_t offset = group * layout_.LanesOfGroup(g_);
    const auto begin = [&](int64_t pixel) { return input_.Window(0, pixel) + offset; };
    if (product.needs_row_sums()) {
      row_sums_.resize(pixels);
      for (int64_t p = 0; p < pixels; ++p) row_sums_[p] = product.RowSum(begin(p));
    }
    product.Run(first, last, pixels, begin, product.needs_row_sums() ? row_sums_.data() : nullptr,
                0, sink_row);
  }

  void Depthwise(int64_t panel, int64_t panels, int64_t pixels, int64_t sink_row) {
    const PackedPanels& w = w_.groups[0];
    const int64_t most_rows = kernels_.most_rows_depthwise[panels];
    const int64_t column = panel * kPanel, stride = panels * kPanel;
    const int64_t columns = std::min(stride, g_.filters - column);
    for (int64_t pixel = 0; pixel < pixels; pixel += most_rows) {
      const int64_t count = std::min(most_rows, pixels - pixel);
      const Lane* begins[kMostRows];
      for (int64_t r = 0; r < count; ++r) begins[r] = input_.Window(panel, pixel + r);
      alignas(64) int32_t acc[kLargestTile];
      Tile tile{};
      tile.x = begins;
      tile.tap_offsets = depthwise_taps_.data();
      tile.plane = input_.plane();
      tile.taps = w.taps;
      tile.lanes = 1;
      tile.w = w.panel(panel);
      tile.panel_size = w.panel_size();
      tile.start = start_.data() + column;
      tile.acc = acc;
      if (codes_ != nullptr) {
        kernels_.depthwise_codes[panels][count](tile, codes_->At(sink_row + pixel, column),
                                                columns);
      } else {
        kernels_.depthwise[panels][count](tile);
        sink_.Store(acc, stride, sink_row + pixel, count, column, columns);
      }
    }
  }

  const ConvolutionGeometry& g_;
  const int64_t pixels_of_row_;
  const int64_t rows_of_plane_;
  const PackedFilters& w_;
  const AccumulatorSink& sink_;
  const ProductKernels& kernels_;
  const SlotLayout layout_;
  BandInput input_;
  const CodesOutput* const codes_;  // Null where kernels give sums.
  const int32_t zero_;
  std::vector<PanelProduct> products_;
  std::vector<int64_t> depthwise_taps_;
  std::vector<int32_t> start_;
  std::vector<int32_t> row_sums_;
};

// Lanes of x that one output row needs, for each of its kernel rows, in bytes; at least 1.
int64_t InputRowBytes(const ConvolutionGeometry& g, LaneFormat format) {
  const Volume v(g.spatial);
  const SlotLayout layout = LayoutOf(g, format);
  const int64_t positions = v.depth.kernel * layout.Columns(v);
  const int64_t bytes = positions * layout.Planes(g) * layout.Slot(g) * int64_t{sizeof(Lane)};
  return std::max<int64_t>(bytes, 1);
}

// Parts of about the same size: bands of output rows, and chunks of panels.
struct Division {
  int64_t bands;
  int64_t chunks;

  int64_t BandRows(int64_t rows) const { return (rows + bands - 1) / bands; }
};

Division Divide(const ConvolutionGeometry& g, int64_t panels, bool depthwise, LaneFormat format,
                int threads) {
  const Volume v(g.spatial);
  const int64_t rows = v.rows.output, slices = g.batch * v.depth.output;
  const int64_t band_bytes = depthwise ? kDepthwiseBandBytes : kBandBytes;
  const int64_t fitting =
      std::max<int64_t>(band_bytes / InputRowBytes(g, format) / v.rows.stride, 1);
  const int64_t enough = (kBandPixels + v.columns.output - 1) / v.columns.output;
  const auto bands_of = [&](int64_t most_rows) { return (rows + most_rows - 1) / most_rows; };
  Division d{bands_of(std::max(fitting, enough)), 1};
  if (threads == 1) return d;
  // Each thread gets as many bands as another; where there are too few, the filters are divided.
  const int64_t each = (d.bands * slices + threads - 1) / threads;
  if (slices % threads != 0) d.bands = (each * threads + slices - 1) / slices;
  d.bands = std::min(d.bands, std::max(bands_of(enough), int64_t{1}));
  if (d.bands * slices < threads) d.chunks = std::min<int64_t>(panels, threads);
  return d;
}

}  // namespace

bool FitsBands(const ConvolutionGeometry& g) {
  if (g.spatial.size() > 3) return false;
  const Volume v(g.spatial);
  double bytes = sizeof(Lane);  // The product may exceed any integer.
  for (int64_t extent :
       {v.depth.kernel, Span(v.rows, 1), Span(v.columns, v.columns.output),
        LayoutOf(g, LaneFormat::kWords).Planes(g), LayoutOf(g, LaneFormat::kWords).Slot(g)}) {
    bytes *= static_cast<double>(extent);
  }
  return bytes <= kLargestBandBytes;
}

PackedFilters PackFilters(const ConvolutionGeometry& g, Bytes w,
                          const std::vector<int32_t>& w_zero_point, InstructionSet isa,
                          std::optional<Algorithm> forced) {
  const SlotLayout layout = LayoutOf(g, ProductKernelsOf(isa).format);
  if (layout.depthwise) return {true, {PackDepthwise(g, w, w_zero_point, layout)}};
  const int64_t channels = g.channels_per_group(), filters = g.filters_per_group();
  return {false, PackProducts({g.group, filters, g.taps(), channels}, isa, forced,
                              [&](int64_t group, int64_t j, int64_t tap, int64_t channel) {
                                const int64_t m = group * filters + j;
                                return w[(m * channels + channel) * g.taps() + tap] -
                                       w_zero_point[m];
                              })};
}

void BandedConv(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, const PackedFilters& w,
                const AccumulatorSink& sink, const Workers& workers, InstructionSet isa) {
  const Volume v(g.spatial);
  if (g.batch == 0 || g.filters == 0 || g.output_pixels() == 0) return;

  const ProductKernels& kernels = ProductKernelsOf(isa, w.groups[0].algorithm);
  const int64_t panels = static_cast<int64_t>(w.groups.size()) * w.groups[0].panels();
  const Division d = Divide(g, panels, w.depthwise, kernels.format, workers.threads);
  const int64_t units = g.batch * v.depth.output * d.bands * d.chunks;
  const int64_t products =
      g.batch * g.output_pixels() * g.taps() * g.channels_per_group() * g.filters;
  workers.run(units, products / units / 64 + 1000, [&](int64_t begin, int64_t end) {
    BandRunner runner(g, x, x_zero_point, w, sink, kernels, d.BandRows(v.rows.output));
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = unit % d.chunks, band = unit / d.chunks % d.bands;
      const int64_t slice = unit / d.chunks / d.bands;
      const int64_t row = v.rows.output * band / d.bands;
      runner.Run(slice / v.depth.output, slice % v.depth.output, row,
                 v.rows.output * (band + 1) / d.bands - row, panels * chunk / d.chunks,
                 panels * (chunk + 1) / d.chunks);
    }
  });
}

}  // namespace tf_qops
