#ifndef TF_QOPS_CC_CORE_BAND_INPUT_H_
#define TF_QOPS_CC_CORE_BAND_INPUT_H_

#include <cstdint>
#include <vector>

#include "cc/core/bytes.h"
#include "cc/core/convolution_geometry.h"
#include "cc/core/product_kernels.h"

namespace tf_qops {

// Input positions that `outputs` neighbouring output positions read along a dimension.
inline int64_t Span(const SpatialDim& dim, int64_t outputs) {
  return (outputs - 1) * dim.stride + (dim.kernel - 1) * dim.dilation + 1;
}

// How input positions are written: dense, [group][lane of its channels] for each; depthwise, in a
// plane for each panel, a lane for each filter, of its channel at neighbouring columns.
struct SlotLayout {
  LaneFormat format;
  bool depthwise;

  int64_t LanesOfGroup(const ConvolutionGeometry& g) const {
    return LanesFor(format, g.channels_per_group());
  }
  int64_t Slot(const ConvolutionGeometry& g) const {
    return depthwise ? kPanel : g.group * LanesOfGroup(g);
  }
  int64_t Planes(const ConvolutionGeometry& g) const {
    return depthwise ? RoundUp(g.filters, kPanel) / kPanel : 1;
  }
  // Kernel columns that a lane covers, and how many lanes all of them take.
  int64_t ColumnsOfLane() const { return depthwise ? GroupSize(format) : 1; }
  int64_t ColumnTaps(const Volume& v) const {
    return (v.columns.kernel + ColumnsOfLane() - 1) / ColumnsOfLane();
  }
  // Where a lane has all kernel columns, the stride leaves out those at which no window begins.
  int64_t ColumnStep(const Volume& v) const {
    return depthwise && ColumnTaps(v) == 1 ? v.columns.stride : 1;
  }
  int64_t Columns(const Volume& v) const {
    return ColumnStep(v) == 1 ? Span(v.columns, v.columns.output) : v.columns.output;
  }
};

// The part of x that a band of output rows reads, as lanes.
class BandInput {
 public:
  BandInput(const ConvolutionGeometry& g, Bytes x, int32_t x_zero_point, SlotLayout layout,
            const ProductKernels& kernels, int64_t band_rows);

  // Makes the input of output rows [row, row + count) of image n at depth `d` available; where
  // depthwise, for panels [first, last).
  void Load(int64_t n, int64_t d, int64_t row, int64_t count, int64_t first, int64_t last);

  // Where the window of the band's pixel `i` begins in a plane, and from there each tap.
  const Lane* Window(int64_t plane, int64_t i) const {
    return begin_ + plane * plane_ + window_offsets_[i];
  }
  int64_t plane() const { return plane_; }
  const std::vector<int64_t>& tap_offsets() const { return tap_offsets_; }

 private:
  bool ReadableInPlace() const;
  void WriteRow(int64_t n, int64_t in_row, int64_t first, int64_t last, Lane* to);
  void WriteDense(const uint8_t* codes, Lane* to);
  void WriteDepthwise(const uint8_t* codes, int64_t first, int64_t last, Lane* to);
  const uint8_t* RowCodes(int64_t n, int64_t in_row);
  void Pack(const uint8_t* codes, int64_t count, Lane* to) const {
    kernels_.pack(codes, x_.is_signed, count, x_zero_point_, to);
  }

  const ConvolutionGeometry& g_;
  const Volume v_;
  const Bytes x_;
  const int32_t x_zero_point_;
  const SlotLayout layout_;
  const ProductKernels& kernels_;
  const int64_t slot_;
  const bool in_place_;
  const int64_t span_rows_;
  const int64_t span_columns_;
  const int64_t column_step_;  // From one column that is written to the next.
  const int64_t columns_;      // Those that are.
  const int64_t plane_;        // Lanes of one.
  std::vector<int64_t> tap_offsets_;
  std::vector<int64_t> window_offsets_;
  LaneVector padding_;           // A padded position of all planes.
  LaneVector buffer_;            // [plane][depth][row][column][slot]
  std::vector<uint8_t> codes_;   // Of a row: [column][channel].
  std::vector<uint8_t> padded_;  // Of a row, with its padding: [column][filter].
  const Lane* begin_ = nullptr;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BAND_INPUT_H_
