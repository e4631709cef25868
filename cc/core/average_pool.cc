#include "cc/core/average_pool.h"

#include <algorithm>
#include <utility>

namespace tf_qops {
namespace {

// Whether each row of each window is summed by itself. Otherwise columns of x are added up first,
// which all windows of a row share.
bool SumsRowByRow(const SpatialDim& columns) {
  constexpr int64_t kLongRow = 32;
  return columns.dilation == 1 && columns.kernel >= kLongRow;
}

Result<ResolvedPooling> Unplaced(bool channels_last, const Shape& x) {
  if (!x) return ResolvedPooling{};
  if (x->size() < 3) {
    return Invalid("x must have at least 3 dimensions. Received: shape ", Show{x});
  }
  if (TooLarge(x)) {
    return Invalid("dimensions must be at most ", kWindowLimit, ". Received: x of shape ", Show{x});
  }
  ResolvedPooling resolved{x, {}};
  resolved.geometry.batch = (*x)[0];
  resolved.geometry.channels = channels_last ? x->back() : (*x)[1];
  resolved.geometry.channels_last = channels_last;
  return resolved;
}

// Computes rows of pooled pixels; one for each thread and range of work.
class RowPooler {
 public:
  RowPooler(const PoolingGeometry& g, const AveragePooling& pooling, const uint8_t* x, uint8_t* y,
            const ByteKernels& kernels)
      : g_(g),
        v_(VolumeOf(g)),
        pooling_(pooling),
        x_(x),
        y_(y),
        kernels_(kernels),
        flip_(FlipOf(pooling.x.is_signed)),
        sums_(g.channels_last ? g.channels : v_.columns.output),
        columns_(g.channels_last || SumsRowByRow(v_.columns) ? 0 : v_.columns.input) {
    for (int64_t c = 0; c < v_.columns.output; ++c) {
      overlaps_.emplace_back(v_.columns, c);
      const bool goes_on = c > 0 && overlaps_[c].count == overlaps_[c - 1].count &&
                           overlaps_[c].first == overlaps_[c - 1].first + v_.columns.stride;
      if (!goes_on) runs_.push_back({c, c});
      runs_.back().second = c + 1;
    }
  }

  // A single dimension runs along what is contiguous with the channels first.
  static Volume VolumeOf(const PoolingGeometry& g) {
    Volume v(g.spatial);
    if (g.spatial.size() == 1 && !g.channels_last) std::swap(v.rows, v.columns);
    return v;
  }

  // Units of work: rows of y, counted through all depths and images (and channels, if first).
  void Run(int64_t unit) {
    const int64_t row = unit % v_.rows.output;
    const int64_t depth = unit / v_.rows.output % v_.depth.output;
    const int64_t image = unit / (v_.rows.output * v_.depth.output);
    const uint8_t* x = x_ + image * g_.input_pixels() * (g_.channels_last ? g_.channels : 1);
    const WindowOverlap depths(v_.depth, depth), rows(v_.rows, row);
    if (g_.channels_last) {
      PoolPixels(x, depths, rows, y_ + unit * v_.columns.output * g_.channels);
    } else {
      PoolPlaneRow(x, depths, rows, y_ + unit * v_.columns.output);
    }
  }

 private:
  // visit(offset) of each row of x, in pixels, that the windows cross.
  template <typename Visit>
  void ForEachInputRow(const WindowOverlap& depths, const WindowOverlap& rows, Visit&& visit) {
    for (int64_t d = 0; d < depths.count; ++d) {
      for (int64_t r = 0; r < rows.count; ++r) {
        const int64_t depth = depths.first + d * v_.depth.dilation;
        const int64_t row = rows.first + r * v_.rows.dilation;
        visit((depth * v_.rows.input + row) * v_.columns.input);
      }
    }
  }

  void PoolPixels(const uint8_t* x, const WindowOverlap& depths, const WindowOverlap& rows,
                  uint8_t* y) {
    for (const WindowOverlap& columns : overlaps_) {
      std::fill(sums_.begin(), sums_.end(), 0);
      ForEachInputRow(depths, rows, [&](int64_t row) {
        for (int64_t c = 0; c < columns.count; ++c) {
          const int64_t pixel = row + columns.first + c * v_.columns.dilation;
          kernels_.accumulate(x + pixel * g_.channels, g_.channels, flip_, sums_.data());
        }
      });
      const int64_t count = depths.count * rows.count * columns.count;
      kernels_.mean(sums_.data(), g_.channels, pooling_.Scaling(count, g_.taps()), y);
      y += g_.channels;
    }
  }

  void PoolPlaneRow(const uint8_t* x, const WindowOverlap& depths, const WindowOverlap& rows,
                    uint8_t* y) {
    std::fill(sums_.begin(), sums_.end(), 0);
    if (SumsRowByRow(v_.columns)) {
      ForEachInputRow(depths, rows, [&](int64_t row) {
        for (size_t c = 0; c < overlaps_.size(); ++c) {
          sums_[c] += kernels_.sum(x + row + overlaps_[c].first, overlaps_[c].count, flip_);
        }
      });
    } else {
      std::fill(columns_.begin(), columns_.end(), 0);
      ForEachInputRow(depths, rows, [&](int64_t row) {
        kernels_.accumulate(x + row, v_.columns.input, flip_, columns_.data());
      });
      for (const auto& [begin, end] : runs_) {
        for (int64_t k = 0; k < overlaps_[begin].count; ++k) {
          const int32_t* from = columns_.data() + overlaps_[begin].first + k * v_.columns.dilation;
          for (int64_t c = begin; c < end; ++c, from += v_.columns.stride) sums_[c] += *from;
        }
      }
    }
    const int64_t lines = depths.count * rows.count;
    for (const auto& [begin, end] : runs_) {
      kernels_.mean(sums_.data() + begin, end - begin,
                    pooling_.Scaling(lines * overlaps_[begin].count, g_.taps()), y + begin);
    }
  }

  const PoolingGeometry& g_;
  const Volume v_;
  const AveragePooling& pooling_;
  const uint8_t* const x_;
  uint8_t* const y_;
  const ByteKernels& kernels_;
  const uint8_t flip_;
  std::vector<int32_t> sums_;
  std::vector<int32_t> columns_;
  std::vector<WindowOverlap> overlaps_;            // Of each column of y.
  std::vector<std::pair<int64_t, int64_t>> runs_;  // Columns of y whose windows are alike.
};

}  // namespace

int64_t PoolingGeometry::taps() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.kernel; });
}

int64_t PoolingGeometry::input_pixels() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.input; });
}

int64_t PoolingGeometry::output_pixels() const {
  return SpatialProduct(spatial, [](const SpatialDim& d) { return d.output; });
}

Result<ResolvedPooling> ResolvePooling(const PoolingAttributes& a, const Shape& x) {
  const auto unplaced = Unplaced(a.channels_last, x);
  if (!unplaced.ok() || !x) return unplaced;
  const size_t spatial_rank = x->size() - 2;
  if (a.kernel_shape.empty()) {
    return Invalid("kernel_shape must have ", spatial_rank,
                   " elements. Received: ", ShowNumbers{a.kernel_shape});
  }
  if (auto error = CheckWindow(a, spatial_rank)) return *error;
  ResolvedPooling resolved = *unplaced;
  double taps = 1;
  for (size_t i = 0; i < spatial_rank; ++i) {
    const size_t at = i + (a.channels_last ? 1 : 2);
    const auto dim = PlaceWindow(a, i, spatial_rank, (*x)[at], a.kernel_shape[i], a.ceil_mode);
    if (!dim.ok()) return dim.error();
    (*resolved.output)[at] = dim->output;
    resolved.geometry.spatial.push_back(*dim);
    taps *= static_cast<double>(a.kernel_shape[i]);
  }
  if (taps > kWindowLimit) {
    return Invalid("kernel_shape must have a product of at most ", kWindowLimit,
                   ". Received: ", ShowNumbers{a.kernel_shape});
  }
  return resolved;
}

Result<ResolvedPooling> ResolveGlobalPooling(bool channels_last, const Shape& x) {
  const auto unplaced = Unplaced(channels_last, x);
  if (!unplaced.ok() || !x) return unplaced;
  ResolvedPooling resolved = *unplaced;
  int64_t pixels = 1;
  for (size_t at = channels_last ? 1 : 2; at < x->size() - (channels_last ? 1 : 0); ++at) {
    pixels *= (*x)[at];
    (*resolved.output)[at] = 1;
  }
  resolved.geometry.spatial = {{pixels, pixels, 1, 1, 0, 1}};
  return resolved;
}

float AveragePooling::Divisor(int64_t count, int64_t taps) const {
  return static_cast<float>(count_include_pad ? taps : std::max<int64_t>(count, 1));
}

uint8_t AveragePooling::MeanReference(int64_t sum, int64_t count, int64_t taps) const {
  const float total = static_cast<float>(sum);
  const float n = Divisor(count, taps);
  if (global) {
    return static_cast<uint8_t>(
        ByteRange(y.is_signed, y.zero_point).Quantize(total * (x.scale / (y.scale * n))));
  }
  const float value = total / n * (x.scale / y.scale) + static_cast<float>(y.zero_point);
  return static_cast<uint8_t>(ByteRange(y.is_signed, 0).Quantize(value));
}

MeanScaling AveragePooling::Scaling(int64_t count, int64_t taps) const {
  const int32_t zero = x.zero_point + (x.is_signed ? 128 : 0);
  const int32_t offset = static_cast<int32_t>(count * zero);
  const float n = Divisor(count, taps);
  if (global) {
    return {offset, 1.0f, x.scale / (y.scale * n), 0.0f, ByteRange(y.is_signed, y.zero_point)};
  }
  return {offset, n, x.scale / y.scale, static_cast<float>(y.zero_point),
          ByteRange(y.is_signed, 0)};
}

void AveragePoolReference(const PoolingGeometry& g, const AveragePooling& pooling, const uint8_t* x,
                          uint8_t* y) {
  const size_t rank = g.spatial.size();
  const auto at = [&](int64_t n, int64_t c, int64_t pixel, int64_t pixels) {
    return g.channels_last ? (n * pixels + pixel) * g.channels + c
                           : (n * g.channels + c) * pixels + pixel;
  };
  if (g.output_pixels() == 0) return;
  for (int64_t image = 0; image < g.batch * g.channels; ++image) {
    const int64_t n = image / g.channels, c = image % g.channels;
    std::vector<int64_t> out(rank, 0);
    int64_t out_pixel = 0;
    do {
      int64_t sum = 0, count = 1;
      std::vector<WindowOverlap> overlaps;
      for (size_t d = 0; d < rank; ++d) {
        overlaps.emplace_back(g.spatial[d], out[d]);
        count *= overlaps[d].count;
      }
      std::vector<int64_t> tap(rank, 0);
      if (count > 0) {
        do {
          int64_t pixel = 0;
          for (size_t d = 0; d < rank; ++d) {
            pixel = pixel * g.spatial[d].input + overlaps[d].first + tap[d] * g.spatial[d].dilation;
          }
          sum += pooling.x.Code(x[at(n, c, pixel, g.input_pixels())]) - pooling.x.zero_point;
        } while (NextIndex(&tap, [&](size_t d) { return overlaps[d].count; }));
      }
      y[at(n, c, out_pixel, g.output_pixels())] = pooling.MeanReference(sum, count, g.taps());
      ++out_pixel;
    } while (NextIndex(&out, [&](size_t d) { return g.spatial[d].output; }));
  }
}

void AveragePool(const PoolingGeometry& g, const AveragePooling& pooling, const uint8_t* x,
                 uint8_t* y, const Workers& workers, InstructionSet isa) {
  if (g.spatial.size() > 3 ||
      std::min(g.taps(), g.input_pixels()) > AveragePooling::kMostElements) {
    AveragePoolReference(g, pooling, x, y);
    return;
  }
  const Volume v = RowPooler::VolumeOf(g);
  const int64_t units =
      g.batch * v.depth.output * v.rows.output * (g.channels_last ? 1 : g.channels);
  const int64_t reads =
      v.columns.output * std::min(g.taps(), g.input_pixels()) * (g.channels_last ? g.channels : 1);
  workers.run(units, reads / 4 + 20, [&](int64_t begin, int64_t end) {
    RowPooler pooler(g, pooling, x, y, ByteKernelsOf(isa));
    for (int64_t unit = begin; unit < end; ++unit) pooler.Run(unit);
  });
}

}  // namespace tf_qops
