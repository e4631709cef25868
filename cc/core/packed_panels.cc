#include "cc/core/packed_panels.h"

namespace tf_qops {

std::vector<int32_t> StartOfSums(const PackedPanels& w, int32_t x_zero) {
  std::vector<int32_t> start(w.sums.size(), 0);
  if (w.format == LaneFormat::kWords) return start;
  for (size_t j = 0; j < start.size(); ++j) {
    start[j] =
        static_cast<int32_t>(-static_cast<uint32_t>(x_zero) * static_cast<uint32_t>(w.sums[j]));
  }
  return start;
}

PanelProduct::PanelProduct(const PackedPanels& w, const std::vector<int64_t>& tap_offsets,
                           RowZeros zeros, const ProductKernels& kernels)
    : w_(w),
      tap_offsets_(tap_offsets),
      zeros_(zeros),
      kernels_(kernels),
      zeros_differ_(w.format == LaneFormat::kBytes && !zeros.uniform),
      start_(StartOfSums(w, zeros_differ_ ? 0 : zeros[0])) {}

int32_t PanelProduct::RowSum(const Lane* row) const {
  uint32_t sum = 0;
  for (int64_t offset : tap_offsets_)
    sum += static_cast<uint32_t>(kernels_.sum(row + offset, w_.lanes));
  return static_cast<int32_t>(sum);
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
