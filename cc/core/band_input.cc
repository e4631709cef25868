#include "cc/core/band_input.h"

#include <algorithm>

namespace tf_qops {

BandInput::BandInput(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, SlotLayout layout,
                     const ProductKernels& kernels, int64_t band_rows)
    : g_(g),
      v_(g.spatial),
      x_(x),
      x_zero_point_(x_zero_point),
      layout_(layout),
      kernels_(kernels),
      slot_(layout.Slot(g)),
      in_place_(ReadableInPlace()),
      span_rows_(in_place_ ? v_.rows.input : Span(v_.rows, band_rows)),
      span_columns_(in_place_ ? v_.columns.input : Span(v_.columns, v_.columns.output)),
      column_step_(layout.ColumnStep(v_)),
      columns_(in_place_ ? v_.columns.input : layout.Columns(v_)),
      // An odd number of cache lines, so that planes do not get in each other's way.
      plane_((v_.depth.kernel * span_rows_ * columns_ | 1) * slot_) {
  const int64_t covered = layout.ColumnsOfLane();
  for (int64_t d = 0; d < v_.depth.kernel; ++d) {
    const int64_t depth = in_place_ ? d * v_.depth.dilation : d;
    for (int64_t r = 0; r < v_.rows.kernel; ++r) {
      for (int64_t c = 0; c < layout.ColumnTaps(v_); ++c) {
        const int64_t row = depth * span_rows_ + r * v_.rows.dilation;
        tap_offsets_.push_back((row * columns_ + c * covered * v_.columns.dilation) * slot_);
      }
    }
  }
  for (int64_t r = 0; r < band_rows; ++r) {
    for (int64_t c = 0; c < v_.columns.output; ++c) {
      window_offsets_.push_back(
          (r * v_.rows.stride * columns_ + c * v_.columns.stride / column_step_) * slot_);
    }
  }
  if (in_place_) return;

  if (!g.channels_last) codes_.resize(span_columns_ * g.channels);
  buffer_.resize(layout.Planes(g) * plane_);
  padding_.resize(layout.Planes(g) * slot_);
  const std::vector<uint8_t> zeros(std::max(g.filters, g.channels),
                                   static_cast<uint8_t>(x_zero_point));
  if (layout.depthwise) {
    const int64_t beyond = (covered - 1) * v_.columns.dilation;
    padded_.resize((span_columns_ + beyond) * g.filters, zeros[0]);
    kernels.interleave(zeros.data(), 0, x.is_signed, g.filters, x_zero_point, kPanel,
                       padding_.data());
  } else {
    for (int64_t group = 0; group < g.group; ++group) {
      Pack(zeros.data(), g.channels_per_group(), padding_.data() + group * layout.LanesOfGroup(g));
    }
  }
}

// Whether x already is what the buffer would hold.
bool BandInput::ReadableInPlace() const {
  const auto inside = [](const SpatialDim& dim) {
    return dim.pad_begin == 0 && Span(dim, dim.output) <= dim.input;
  };
  return layout_.format == LaneFormat::kBytes && !layout_.depthwise && !x_.is_signed &&
         g_.channels_last && g_.channels_per_group() % GroupSize(layout_.format) == 0 &&
         inside(v_.depth) && inside(v_.rows) && inside(v_.columns);
}

void BandInput::Load(int64_t n, int64_t d, int64_t row, int64_t count, int64_t first,
                     int64_t last) {
  if (in_place_) {
    const int64_t in_row = d * v_.depth.stride * v_.rows.input + row * v_.rows.stride;
    const int64_t pixel = n * g_.input_pixels() + in_row * v_.columns.input;
    begin_ =
        reinterpret_cast<const Lane*>(static_cast<const uint8_t*>(x_.data) + pixel * g_.channels);
    return;
  }
  begin_ = buffer_.data();
  const int64_t rows = Span(v_.rows, count);
  for (int64_t kd = 0; kd < v_.depth.kernel; ++kd) {
    const int64_t in_d = d * v_.depth.stride + kd * v_.depth.dilation - v_.depth.pad_begin;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t in_r = row * v_.rows.stride + r - v_.rows.pad_begin;
      Lane* to = buffer_.data() + (kd * span_rows_ + r) * columns_ * slot_;
      if (in_d < 0 || in_d >= v_.depth.input || in_r < 0 || in_r >= v_.rows.input) {
        for (int64_t plane = 0; plane < layout_.Planes(g_); ++plane) {
          for (int64_t c = 0; c < columns_; ++c) {
            std::copy_n(padding_.begin() + plane * slot_, slot_, to + plane * plane_ + c * slot_);
          }
        }
      } else {
        WriteRow(n, in_d * v_.rows.input + in_r, first, last, to);
      }
    }
  }
}

void BandInput::WriteRow(int64_t n, int64_t in_row, int64_t first, int64_t last, Lane* to) {
  const uint8_t* codes = RowCodes(n, in_row);
  if (layout_.depthwise) {
    WriteDepthwise(codes, first, last, to);
  } else {
    WriteDense(codes, to);
  }
}

// The codes of an input row, channels last.
const uint8_t* BandInput::RowCodes(int64_t n, int64_t in_row) {
  const auto* x = static_cast<const uint8_t*>(x_.data);
  const int64_t columns = v_.columns.input, pixels = g_.input_pixels();
  if (g_.channels_last) return x + (n * pixels + in_row * columns) * g_.channels;
  const int64_t count = std::min(columns, span_columns_);
  uint8_t* to = codes_.data();
  for (int64_t c = 0; c < g_.channels; ++c) {
    const uint8_t* from = x + (n * g_.channels + c) * pixels + in_row * columns;
    for (int64_t i = 0; i < count; ++i) to[i * g_.channels + c] = from[i];
  }
  return to;
}

void BandInput::WriteDense(const uint8_t* codes, Lane* to) {
  const int64_t begin = std::min(v_.columns.pad_begin, span_columns_);
  const int64_t end = std::min(begin + v_.columns.input, span_columns_);
  for (int64_t c = 0; c < span_columns_; ++c) {
    if (c == begin) c = std::max(end, begin);
    if (c < span_columns_) std::copy(padding_.begin(), padding_.end(), to + c * slot_);
  }
  const int64_t per_group = g_.channels_per_group(), lanes = layout_.LanesOfGroup(g_);
  to += begin * slot_;
  if (per_group % GroupSize(layout_.format) == 0) {
    Pack(codes, (end - begin) * g_.channels, to);
    return;
  }
  for (int64_t i = 0; i < (end - begin) * g_.group; ++i, codes += per_group, to += lanes) {
    to[lanes - 1] = 0;
    Pack(codes, per_group, to);
  }
}

void BandInput::WriteDepthwise(const uint8_t* codes, int64_t first, int64_t last, Lane* to) {
  const int64_t filters = g_.filters, multiplier = g_.filters_per_group();
  const int64_t begin = std::min(v_.columns.pad_begin, span_columns_);
  const int64_t end = std::min(begin + v_.columns.input, span_columns_);
  uint8_t* inside = padded_.data() + begin * filters;
  if (multiplier == 1) {
    std::copy_n(codes, (end - begin) * filters, inside);
  } else {
    for (int64_t i = 0; i < (end - begin) * g_.channels; ++i) {
      std::fill_n(inside + i * multiplier, multiplier, codes[i]);
    }
  }
  const int64_t filter = first * kPanel, count = std::min(last * kPanel, filters) - filter;
  to += first * plane_;
  for (int64_t c = 0; c < columns_; ++c, to += slot_) {
    kernels_.interleave(padded_.data() + c * column_step_ * filters + filter,
                        v_.columns.dilation * filters, x_.is_signed, count, x_zero_point_, plane_,
                        to);
  }
}

}  // namespace tf_qops
