#ifndef TF_QOPS_CC_CORE_PRODUCT_SINK_H_
#define TF_QOPS_CC_CORE_PRODUCT_SINK_H_

#include <cstdint>
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

// Writes QLinearMatMul's and QGemm's codes.
class ProductCodesSink : public AccumulatorSink {
 public:
  ProductCodesSink(const ProductScaling& scaling, const Lanes<int32_t>& y_zero_point,
                   bool y_is_signed, int64_t columns, InstructionSet isa, void* y);

  void Store(const int32_t* acc, int64_t row, int64_t column, int64_t count) const override;

 private:
  const ProductScaling& scaling_;
  const Lanes<int32_t>& y_zero_point_;
  const bool y_is_signed_;
  const OutputPlaces places_;
  const WidenedKernels& kernels_;
  std::vector<float> scale_;  // Of all columns, where it is the same for all rows.
  std::vector<int32_t> bias_;
  uint8_t* const y_;
};

// Writes f32(acc + c) * scale + bias, each operation rounded to float32; `bias` may be null.
class ProductFloatSink : public AccumulatorSink {
 public:
  ProductFloatSink(const ProductScaling& scaling, const float* bias, int64_t columns, float* y)
      : scaling_(scaling), bias_(bias), places_{columns}, y_(y) {}

  void Store(const int32_t* acc, int64_t row, int64_t column, int64_t count) const override;

 private:
  const ProductScaling& scaling_;
  const float* const bias_;
  const OutputPlaces places_;
  float* const y_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PRODUCT_SINK_H_
