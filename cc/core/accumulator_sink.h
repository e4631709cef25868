#ifndef TF_QOPS_CC_CORE_ACCUMULATOR_SINK_H_
#define TF_QOPS_CC_CORE_ACCUMULATOR_SINK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cc/core/convolution_geometry.h"
#include "cc/core/product_kernels.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// Takes the int32 sums of a convolution or a matrix product as they are finished.
class AccumulatorSink {
 public:
  virtual ~AccumulatorSink() = default;

  // Sums of `rows` rows (output pixels of an image, counted through all images) and `columns`
  // columns (filters). A row of `acc` has `stride` values, a multiple of kPanel; those from
  // `columns` on have no meaning.
  virtual void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
                     int64_t columns) const = 0;

  // The same as codes that kernels may write themselves, where all rows are treated alike.
  virtual const CodesOutput* codes() const { return nullptr; }
};

// Where rows and columns stand in an output: [rows, columns], or [images, columns, pixels].
struct OutputPlaces {
  int64_t columns;
  int64_t pixels = 1;  // Of an image, where its channels come first.

  static OutputPlaces Of(const ConvolutionGeometry& g) {
    return {g.filters, g.channels_last ? 1 : g.output_pixels()};
  }
  int64_t Offset(int64_t row, int64_t column) const {
    return (row / pixels * columns + column) * pixels + row % pixels;
  }

  // Writes rows that stand `stride` apart, as AccumulatorSink::Store has them.
  template <typename T>
  void Put(const T* values, int64_t stride, int64_t row, int64_t rows, int64_t column,
           int64_t count, T* output) const {
    T* to = output + Offset(row, column);
    if (pixels == 1) {
      for (int64_t r = 0; r < rows; ++r) std::copy_n(values + r * stride, count, to + r * columns);
      return;
    }
    for (int64_t j = 0; j < count; ++j, to += pixels) {
      for (int64_t r = 0; r < rows; ++r) to[r] = values[r * stride + j];
    }
  }
};

// Keeps the sums.
class Int32Sink : public AccumulatorSink {
 public:
  Int32Sink(OutputPlaces places, int32_t* y) : places_(places), y_(y) {}

  void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
             int64_t columns) const override {
    places_.Put(acc, stride, row, rows, column, columns, y_);
  }

 private:
  const OutputPlaces places_;
  int32_t* const y_;
};

// How an int32 accumulator becomes a code of y:
//   y = clamp(rint(f32(acc + bias) * scale)) + y_zero_point
// with one scale and one bias for each column.
struct Requantization {
  std::vector<float> scale;  // Both have room for kernels that read a whole panel.
  std::vector<int32_t> bias;
  CodeRange range;

  // `bias` may be null: zero.
  Requantization(std::vector<float> scales, const int32_t* bias_or_null, CodeRange y_range);

  int32_t Apply(int32_t accumulator, int64_t column) const {
    const uint32_t sum = static_cast<uint32_t>(accumulator) + static_cast<uint32_t>(bias[column]);
    return range.Quantize(static_cast<float>(static_cast<int32_t>(sum)) * scale[column]);
  }
};

// Writes codes of 8 bits.
class CodesSink : public AccumulatorSink {
 public:
  CodesSink(OutputPlaces places, const Requantization& requantization, InstructionSet isa, void* y)
      : places_(places),
        kernels_(ProductKernelsOf(isa)),
        y_(static_cast<uint8_t*>(y)),
        codes_{requantization.bias.data(), requantization.scale.data(), requantization.range, y_,
               places.columns} {}

  const CodesOutput* codes() const override { return places_.pixels == 1 ? &codes_ : nullptr; }

  void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
             int64_t columns) const override {
    uint8_t tile[kLargestTile];
    CodesOutput output = codes_.At(row, column);
    if (places_.pixels > 1) {
      output.y = tile;
      output.row_step = stride;
    }
    for (int64_t r = 0; r < rows; ++r, acc += stride, output.y += output.row_step) {
      kernels_.requantize(acc, columns, output);
    }
    if (places_.pixels > 1) places_.Put(tile, stride, row, rows, column, columns, y_);
  }

 private:
  const OutputPlaces places_;
  const ProductKernels& kernels_;
  uint8_t* const y_;
  const CodesOutput codes_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_ACCUMULATOR_SINK_H_
