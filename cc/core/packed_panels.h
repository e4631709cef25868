#ifndef TF_QOPS_CC_CORE_PACKED_PANELS_H_
#define TF_QOPS_CC_CORE_PACKED_PANELS_H_

#include <cstdint>
#include <vector>

#include "cc/core/accumulator_sink.h"
#include "cc/core/grouped_panels.h"
#include "cc/core/product_kernels.h"

namespace tf_qops {

// A right operand as the kernels read it, [panel][tap][lane][kPanel]. Where lanes hold bytes, w is
// the difference of a code and its zero point, minus the column's excess, so that it is an int8:
//   sum((x - x_zero) * difference) = sum(x * w) + excess * sum(x) - x_zero * sum(difference)
// for x as uint8. Words hold differences, so need nothing else.
struct PackedPanels {
  LaneFormat format = LaneFormat::kWords;
  Algorithm algorithm = Algorithm::kWidened;
  int64_t columns = 0;
  int64_t taps = 0;
  int64_t lanes = 0;            // Of a tap.
  LaneVector data;              // Empty where grouped.
  GroupedPanels grouped;        // Empty unless it is.
  std::vector<int32_t> sums;    // sum(difference) of each column; all have room for whole panels.
  std::vector<int32_t> excess;  // Empty where it is 0 for all.

  int64_t panels() const { return RoundUp(columns, kPanel) / kPanel; }
  int64_t panel_size() const { return taps * lanes * kPanel; }
  const Lane* panel(int64_t i) const { return data.data() + i * panel_size(); }
};

// difference(column, tap, channel) is a code minus its zero point.
template <typename Difference>
PackedPanels PackPanels(LaneFormat format, int64_t columns, int64_t taps, int64_t channels,
                        Difference&& difference) {
  PackedPanels packed;
  packed.format = format;
  packed.algorithm = format == LaneFormat::kWords ? Algorithm::kWidened : Algorithm::kDotProduct;
  packed.columns = columns;
  packed.taps = taps;
  packed.lanes = LanesFor(format, channels);
  const int64_t group = GroupSize(format);
  const int bits = static_cast<int>(32 / group);
  packed.data.resize(packed.panels() * packed.panel_size());
  packed.sums.resize(packed.panels() * kPanel);
  packed.excess.resize(packed.sums.size());
  std::vector<int32_t> differences(taps * channels);
  bool any_excess = false;
  for (int64_t column = 0; column < columns; ++column) {
    int32_t lowest = 0, highest = 0;
    uint32_t sum = 0;
    for (int64_t t = 0, i = 0; t < taps; ++t) {
      for (int64_t c = 0; c < channels; ++c, ++i) {
        differences[i] = difference(column, t, c);
        lowest = std::min(lowest, differences[i]);
        highest = std::max(highest, differences[i]);
        sum += static_cast<uint32_t>(differences[i]);
      }
    }
    const bool fits = format == LaneFormat::kWords || (lowest >= -128 && highest <= 127);
    const int32_t excess = fits ? 0 : highest - 127;
    any_excess |= !fits;
    packed.sums[column] = static_cast<int32_t>(sum);
    packed.excess[column] = excess;
    Lane* to = packed.data.data() + column / kPanel * packed.panel_size() + column % kPanel;
    for (int64_t t = 0, i = 0; t < taps; ++t) {
      for (int64_t c = 0; c < channels; ++c, ++i) {
        const Lane bytes = static_cast<Lane>(differences[i] - excess) & (~Lane{0} >> (32 - bits));
        to[(t * packed.lanes + c / group) * kPanel] |= bytes << (c % group * bits);
      }
    }
  }
  if (!any_excess) packed.excess.clear();
  return packed;
}

// Rows of a left operand times panels of a right one, given to a sink.
class PanelProduct {
 public:
  // `zeros` are the left operand's zero points: one for all of its rows or one for each; as codes
  // of a uint8 where lanes hold bytes. Column 0 of `w` is the sink's first_column.
  PanelProduct(const PackedPanels& w, const std::vector<int64_t>& tap_offsets,
               const std::vector<int32_t>& zeros, const ProductKernels& kernels,
               const AccumulatorSink& sink, int64_t first_column);

  // The sum over a row of what its lanes hold is needed where the columns have an excess.
  int32_t RowSum(const Lane* row) const;
  bool needs_row_sums() const { return !w_.excess.empty(); }

  // Panels [first, last) of rows [0, rows), row r beginning at row_begin(r). Row r is first_row + r
  // of the zeros and sink_row + r of the sink.
  template <typename RowBegin>
  void Run(int64_t first, int64_t last, int64_t rows, RowBegin&& row_begin, const int32_t* row_sums,
           int64_t first_row, int64_t sink_row) const {
    std::vector<int64_t> room;
    for (int64_t panel = first; panel < last; panel += kernels_.most_panels) {
      const int64_t panels = std::min<int64_t>(kernels_.most_panels, last - panel);
      const int64_t* offsets = Offsets(panel, &room);
      const int64_t tiles = (rows + kernels_.most_rows[panels] - 1) / kernels_.most_rows[panels];
      for (int64_t tile = 0; tile < tiles; ++tile) {  // Of about the same size.
        const int64_t row = rows * tile / tiles, count = rows * (tile + 1) / tiles - row;
        const Lane* begins[kMostRows];
        for (int64_t r = 0; r < count; ++r) begins[r] = row_begin(row + r);
        RunTile(begins, offsets, panel, panels, count,
                row_sums == nullptr ? nullptr : row_sums + row, first_row + row, sink_row + row);
      }
    }
  }

 private:
  // Where from the beginning of a row the panel's taps are, or its quads, perhaps in `room`.
  const int64_t* Offsets(int64_t panel, std::vector<int64_t>* room) const;
  void RunTile(const Lane* const* begins, const int64_t* offsets, int64_t panel, int64_t panels,
               int64_t rows, const int32_t* row_sums, int64_t first_row, int64_t sink_row) const;

  const PackedPanels& w_;
  const std::vector<int64_t>& tap_offsets_;
  const ProductKernels& kernels_;
  const AccumulatorSink& sink_;
  const int64_t first_column_;
  const CodesOutput* const codes_;       // Null where kernels give sums.
  std::vector<int32_t> negative_zeros_;  // Empty where one is in `start_`.
  std::vector<int32_t> start_;
};

// What the sums of columns start with for a zero point of the left operand, and for biases (null
// for none) if they are to be in it.
std::vector<int32_t> StartOfSums(const PackedPanels& w, int32_t x_zero, const int32_t* bias);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PACKED_PANELS_H_
