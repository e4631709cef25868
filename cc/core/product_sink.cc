#include "cc/core/product_sink.h"

namespace tf_qops {

RowScaling::RowScaling(const ProductScaling& scaling, int64_t columns) : scaling_(scaling) {
  if (!scaling.SameForAllRows()) return;
  scale_.resize(columns + kPanel);
  bias_.resize(columns + kPanel);
  for (int64_t n = 0; n < columns; ++n) {
    scale_[n] = scaling.Scale(0, n);
    bias_[n] = scaling.Bias(0, n);
  }
}

RowScaling::Row RowScaling::Of(int64_t row, int64_t column, int64_t columns, Room* room) const {
  if (!scale_.empty()) return {scale_.data() + column, bias_.data() + column};
  for (int64_t j = 0; j < columns; ++j) {
    room->scale[j] = scaling_.Scale(row, column + j);
    room->bias[j] = scaling_.Bias(row, column + j);
  }
  return {room->scale, room->bias};
}

ProductCodesSink::ProductCodesSink(const ProductScaling& scaling,
                                   const Lanes<int32_t>& y_zero_point, bool y_is_signed,
                                   int64_t columns, InstructionSet isa, void* y)
    : scaling_(scaling, columns),
      y_zero_point_(y_zero_point),
      y_is_signed_(y_is_signed),
      places_{columns},
      kernels_(ProductKernelsOf(isa)),
      y_(static_cast<uint8_t*>(y)) {
  if (!scaling.SameForAllRows() || !y_zero_point.uniform()) return;
  const RowScaling::Row row = scaling_.Of(0, 0, 0, nullptr);
  codes_.emplace(
      CodesOutput{row.bias, row.scale, ByteRange(y_is_signed, y_zero_point[0]), y_, columns});
}

void ProductCodesSink::Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows,
                             int64_t column, int64_t columns) const {
  RowScaling::Room room;
  for (int64_t r = row; r < row + rows; ++r, acc += stride) {
    const RowScaling::Row scaling = scaling_.Of(r, column, columns, &room);
    kernels_.requantize(acc, columns,
                        {scaling.bias, scaling.scale, ByteRange(y_is_signed_, y_zero_point_[r]),
                         y_ + places_.Offset(r, column), places_.columns});
  }
}

void ProductFloatSink::Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows,
                             int64_t column, int64_t columns) const {
  RowScaling::Room room;
  for (int64_t r = row; r < row + rows; ++r, acc += stride) {
    const RowScaling::Row scaling = scaling_.Of(r, column, columns, &room);
    float* to = y_ + places_.Offset(r, column);
    for (int64_t j = 0; j < columns; ++j) {
      const uint32_t sum = static_cast<uint32_t>(acc[j]) + static_cast<uint32_t>(scaling.bias[j]);
      to[j] = static_cast<float>(static_cast<int32_t>(sum)) * scaling.scale[j];
      if (bias_ != nullptr) to[j] += bias_[column + j];
    }
  }
}

}  // namespace tf_qops
