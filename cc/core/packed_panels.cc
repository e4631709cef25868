#include "cc/core/packed_panels.h"

namespace tf_qops {

std::vector<int32_t> StartOfSums(const PackedPanels& w, int32_t x_zero, const int32_t* bias) {
  std::vector<int32_t> start(w.sums.size(), 0);
  const uint32_t zero = w.format == LaneFormat::kBytes ? static_cast<uint32_t>(x_zero) : 0;
  for (int64_t j = 0; j < w.columns; ++j) {
    const uint32_t of_bias = bias == nullptr ? 0 : static_cast<uint32_t>(bias[j]);
    const uint32_t of_groups =
        w.grouped.start.empty() ? 0 : static_cast<uint32_t>(w.grouped.start[j]);
    start[j] = static_cast<int32_t>(of_bias + of_groups - zero * static_cast<uint32_t>(w.sums[j]));
  }
  return start;
}

PanelProduct::PanelProduct(const PackedPanels& w, const std::vector<int64_t>& tap_offsets,
                           const std::vector<int32_t>& zeros, const ProductKernels& kernels,
                           const AccumulatorSink& sink, int64_t first_column)
    : w_(w),
      tap_offsets_(tap_offsets),
      kernels_(kernels),
      sink_(sink),
      first_column_(first_column),
      codes_(sink.codes()) {
  const bool differ = w.format == LaneFormat::kBytes && zeros.size() > 1;
  for (size_t r = 0; differ && r < zeros.size(); ++r) negative_zeros_.push_back(-zeros[r]);
  start_ = StartOfSums(w, differ ? 0 : zeros[0],
                       codes_ == nullptr ? nullptr : codes_->bias + first_column);
}

int32_t PanelProduct::RowSum(const Lane* row) const {
  uint32_t sum = 0;
  for (int64_t offset : tap_offsets_) {
    sum += static_cast<uint32_t>(kernels_.sum(row + offset, w_.lanes));
  }
  return static_cast<int32_t>(sum);
}

const int64_t* PanelProduct::Offsets(int64_t panel, std::vector<int64_t>* room) const {
  if (w_.algorithm != Algorithm::kGrouped) return tap_offsets_.data();
  const GroupedPanel& grouped = w_.grouped.panels[panel];
  const QuadPlace* places = w_.grouped.places.data() + grouped.first_quad;
  room->resize(grouped.quads);
  for (int64_t i = 0; i < grouped.quads; ++i) {
    (*room)[i] = tap_offsets_[places[i].tap] + places[i].lane;
  }
  return room->data();
}

void PanelProduct::RunTile(const Lane* const* begins, const int64_t* offsets, int64_t panel,
                           int64_t panels, int64_t rows, const int32_t* row_sums, int64_t first_row,
                           int64_t sink_row) const {
  const int64_t column = panel * kPanel, stride = panels * kPanel;
  const int64_t columns = std::min(stride, w_.columns - column);
  alignas(64) int32_t acc[kLargestTile];
  Tile tile{};
  tile.x = begins;
  tile.tap_offsets = offsets;
  tile.taps = w_.taps;
  tile.lanes = w_.lanes;
  tile.start = start_.data() + column;
  tile.acc = acc;
  if (w_.algorithm == Algorithm::kGrouped) {
    const GroupedPanel& grouped = w_.grouped.panels[panel];
    tile.group_counts = grouped.counts;
    tile.w = w_.grouped.data.data() + grouped.first_lane;
  } else {
    tile.w = w_.panel(panel);
    tile.panel_size = w_.panel_size();
  }
  if (row_sums != nullptr) tile.terms[tile.term_count++] = {row_sums, w_.excess.data() + column};
  if (!negative_zeros_.empty()) {
    tile.terms[tile.term_count++] = {negative_zeros_.data() + first_row, w_.sums.data() + column};
  }
  if (codes_ != nullptr) {
    kernels_.dense_codes[panels][rows](tile, codes_->At(sink_row, first_column_ + column), columns);
  } else {
    kernels_.dense[panels][rows](tile);
    sink_.Store(acc, stride, sink_row, rows, first_column_ + column, columns);
  }
}

}  // namespace tf_qops
