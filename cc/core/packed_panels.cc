#include "cc/core/packed_panels.h"

namespace tf_qops {

std::vector<int32_t> StartOfSums(const PackedPanels& w, int32_t x_zero, const int32_t* bias) {
  std::vector<int32_t> start(w.sums.size(), 0);
  const uint32_t zero = w.format == LaneFormat::kBytes ? static_cast<uint32_t>(x_zero) : 0;
  for (int64_t j = 0; j < w.columns; ++j) {
    const uint32_t of_bias = bias == nullptr ? 0 : static_cast<uint32_t>(bias[j]);
    start[j] = static_cast<int32_t>(of_bias - zero * static_cast<uint32_t>(w.sums[j]));
  }
  return start;
}

PanelProduct::PanelProduct(const PackedPanels& w, const std::vector<int64_t>& tap_offsets,
                           RowZeros zeros, const ProductKernels& kernels,
                           const AccumulatorSink& sink, int64_t first_column)
    : w_(w),
      tap_offsets_(tap_offsets),
      zeros_(zeros),
      kernels_(kernels),
      sink_(sink),
      first_column_(first_column),
      zeros_differ_(w.format == LaneFormat::kBytes && !zeros.uniform),
      codes_(zeros_differ_ || needs_row_sums() ? nullptr : sink.codes()),
      start_(StartOfSums(w, zeros_differ_ ? 0 : zeros[0],
                         codes_ == nullptr ? nullptr : codes_->bias + first_column)) {}

int32_t PanelProduct::RowSum(const Lane* row) const {
  uint32_t sum = 0;
  for (int64_t offset : tap_offsets_) {
    sum += static_cast<uint32_t>(kernels_.sum(row + offset, w_.lanes));
  }
  return static_cast<int32_t>(sum);
}

void PanelProduct::RunTile(const Lane* const* begins, int64_t panel, int64_t panels, int64_t rows,
                           const int32_t* row_sums, int64_t first_row, int64_t sink_row) const {
  const int64_t column = panel * kPanel, stride = panels * kPanel;
  const int64_t columns = std::min(stride, w_.columns - column);
  Tile tile{begins,          tap_offsets_.data(),    w_.taps, w_.lanes, w_.panel(panel),
            w_.panel_size(), start_.data() + column, nullptr};
  if (codes_ != nullptr) {
    kernels_.dense_codes[panels][rows](tile, codes_->At(sink_row, first_column_ + column), columns);
    return;
  }
  alignas(64) int32_t acc[kLargestTile];
  tile.acc = acc;
  kernels_.dense[panels][rows](tile);
  AddRowTerms(panel, panels, rows, row_sums, first_row, acc);
  sink_.Store(acc, stride, sink_row, rows, first_column_ + column, columns);
}

void PanelProduct::AddRowTerms(int64_t panel, int64_t panels, int64_t rows, const int32_t* row_sums,
                               int64_t first_row, int32_t* acc) const {
  if (row_sums == nullptr && !zeros_differ_) return;
  const int64_t columns = panels * kPanel;
  for (int64_t r = 0; r < rows; ++r, acc += columns) {
    const uint32_t sum = row_sums == nullptr ? 0 : row_sums[r];
    const uint32_t zero = zeros_differ_ ? zeros_[first_row + r] : 0;
    for (int64_t j = 0; j < columns; ++j) {
      const uint32_t excess = row_sums == nullptr ? 0 : w_.excess[panel * kPanel + j];
      const uint32_t of_column = w_.sums[panel * kPanel + j];
      acc[j] =
          static_cast<int32_t>(static_cast<uint32_t>(acc[j]) + sum * excess - zero * of_column);
    }
  }
}

}  // namespace tf_qops
