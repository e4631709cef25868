#ifndef TF_QOPS_CC_CORE_PRODUCT_SINK_H_
#define TF_QOPS_CC_CORE_PRODUCT_SINK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/accumulator_sink.h"
#include "cc/core/bytes.h"

namespace tf_qops {

// A number for all rows (or columns), or one for each.
template <typename T>
struct Lanes {
  std::vector<T> values;

  T operator[](int64_t i) const { return values.size() == 1 ? values[0] : values[i]; }
  bool uniform() const { return values.size() == 1; }
};

// What the sums of a quantized matrix product are multiplied with and what is added first:
//   scale(m, n) = ((alpha * a_scale[m]) * b_scale[n]) / y_scale[m], rounded to float32 each time,
// without the division where the result is float.
struct ProductScaling {
  float alpha = 1.0f;
  Lanes<float> a_scale{{1.0f}};
  Lanes<float> b_scale{{1.0f}};
  Lanes<float> y_scale;  // Empty where the result is float.
  const int32_t* c = nullptr;
  int64_t c_row_step = 0;
  int64_t c_column_step = 0;

  float Scale(int64_t row, int64_t column) const {
    const float scale = alpha * a_scale[row] * b_scale[column];
    return y_scale.values.empty() ? scale : scale / y_scale[row];
  }
  int32_t Bias(int64_t row, int64_t column) const {
    return c == nullptr ? 0 : c[row * c_row_step + column * c_column_step];
  }
  bool SameForAllRows() const {
    return a_scale.uniform() && y_scale.values.size() < 2 && (c == nullptr || c_row_step == 0);
  }
};

// The scales and integer terms of a row, worked out once where all rows have the same.
class RowScaling {
 public:
  struct Row {
    const float* scale;
    const int32_t* bias;
  };
  struct Room {
    float scale[kMostPanels * kPanel];
    int32_t bias[kMostPanels * kPanel];
  };

  RowScaling(const ProductScaling& scaling, int64_t columns);

  // Those of columns [column, column + columns), perhaps in `room`.
  Row Of(int64_t row, int64_t column, int64_t columns, Room* room) const;

 private:
  const ProductScaling& scaling_;
  std::vector<float> scale_;  // Both have room for whole panels.
  std::vector<int32_t> bias_;
};

// Writes QLinearMatMul's and QGemm's codes.
class ProductCodesSink : public AccumulatorSink {
 public:
  ProductCodesSink(const ProductScaling& scaling, const Lanes<int32_t>& y_zero_point,
                   bool y_is_signed, int64_t columns, InstructionSet isa, void* y);

  const CodesOutput* codes() const override { return codes_ ? &*codes_ : nullptr; }
  void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
             int64_t columns) const override;

 private:
  const RowScaling scaling_;
  const Lanes<int32_t>& y_zero_point_;
  const bool y_is_signed_;
  const OutputPlaces places_;
  const ProductKernels& kernels_;
  uint8_t* const y_;
  std::optional<CodesOutput> codes_;
};

// Writes f32(acc + c) * scale + bias, each operation rounded to float32; `bias` may be null.
class ProductFloatSink : public AccumulatorSink {
 public:
  ProductFloatSink(const ProductScaling& scaling, const float* bias, int64_t columns, float* y)
      : scaling_(scaling, columns), bias_(bias), places_{columns}, y_(y) {}

  void Store(const int32_t* acc, int64_t stride, int64_t row, int64_t rows, int64_t column,
             int64_t columns) const override;

 private:
  const RowScaling scaling_;
  const float* const bias_;
  const OutputPlaces places_;
  float* const y_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PRODUCT_SINK_H_
