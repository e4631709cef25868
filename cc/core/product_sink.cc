#include "cc/core/product_sink.h"

namespace tf_qops {

ProductCodesSink::ProductCodesSink(const ProductScaling& scaling,
                                   const Lanes<int32_t>& y_zero_point, bool y_is_signed,
                                   int64_t columns, InstructionSet isa, void* y)
    : scaling_(scaling),
      y_zero_point_(y_zero_point),
      y_is_signed_(y_is_signed),
      places_{columns},
      kernels_(WidenedKernelsOf(isa)),
      y_(static_cast<uint8_t*>(y)) {
  if (!scaling.SameForAllRows()) return;
  scale_.resize(columns + kPanel);
  bias_.resize(columns + kPanel);
  for (int64_t n = 0; n < columns; ++n) {
    scale_[n] = scaling.Scale(0, n);
    bias_[n] = scaling.Bias(0, n);
  }
}

void ProductCodesSink::Store(const int32_t* acc, int64_t row, int64_t column, int64_t count) const {
  float row_scale[kPanel] = {};
  int32_t row_bias[kPanel] = {};
  const float* scale = row_scale;
  const int32_t* bias = row_bias;
  if (!scale_.empty()) {
    scale = scale_.data() + column;
    bias = bias_.data() + column;
  } else {
    for (int64_t j = 0; j < count; ++j) {
      row_scale[j] = scaling_.Scale(row, column + j);
      row_bias[j] = scaling_.Bias(row, column + j);
    }
  }
  uint8_t codes[kPanel];
  kernels_.requantize(acc, bias, scale, ByteRange(y_is_signed_, y_zero_point_[row]), codes);
  places_.Put(codes, count, row, column, y_);
}

void ProductFloatSink::Store(const int32_t* acc, int64_t row, int64_t column, int64_t count) const {
  for (int64_t j = 0; j < count; ++j) {
    const uint32_t sum =
        static_cast<uint32_t>(acc[j]) + static_cast<uint32_t>(scaling_.Bias(row, column + j));
    const float product =
        static_cast<float>(static_cast<int32_t>(sum)) * scaling_.Scale(row, column + j);
    y_[places_.Offset(row, column + j)] = bias_ == nullptr ? product : product + bias_[column + j];
  }
}

}  // namespace tf_qops
