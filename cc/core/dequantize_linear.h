#ifndef TF_QOPS_CC_CORE_DEQUANTIZE_LINEAR_H_
#define TF_QOPS_CC_CORE_DEQUANTIZE_LINEAR_H_

#include <algorithm>
#include <cstdint>

#include "cc/core/codes.h"
#include "cc/core/granularity.h"

namespace tf_qops {

// ONNX DequantizeLinear: y = cast((x - x_zero_point) * x_scale). The difference is exact (for
// float formats: rounded to float32), the product is rounded to float32 whatever the type of the
// scale was, and that once more to the output type.
template <typename T>
float DequantizeValue(T x, float scale, T zero_point) {
  using Wide = typename Codes<T>::Wide;
  const Wide difference = static_cast<Wide>(Codes<T>::Read(x) - Codes<T>::Read(zero_point));
  return static_cast<float>(difference) * scale;
}

// The reference. `zero_point` may be null: zero.
template <typename T, typename Out>
void DequantizeLinearReference(const T* x, const float* scale, const T* zero_point,
                               const Granularity& g, Out* y) {
  for (int64_t i = 0; i < g.size(); ++i) {
    const int64_t p = g.ParameterIndex(i);
    y[i] = FromFloat32<Out>(DequantizeValue(x[i], scale[p], zero_point ? zero_point[p] : T{}));
  }
}

// Elements [begin, end) of the same, run by run.
template <typename T, typename Out>
void DequantizeLinear(const T* x, const float* scale, const T* zero_point, const Granularity& g,
                      int64_t begin, int64_t end, Out* y) {
  const T zero{};
  ForEachRun(g, begin, end, [&](int64_t first, int64_t count, int64_t parameter, int64_t step) {
    const T* from = x + first;
    Out* to = y + first;
    const float* s = scale + parameter;
    const T* z = zero_point != nullptr ? zero_point + parameter : &zero;
    if (step == 0) {
      const float one_scale = *s;
      const T one_zero = *z;
      for (int64_t k = 0; k < count; ++k) {
        to[k] = FromFloat32<Out>(DequantizeValue(from[k], one_scale, one_zero));
      }
    } else if (zero_point != nullptr) {
      for (int64_t k = 0; k < count; ++k) {
        to[k] = FromFloat32<Out>(DequantizeValue(from[k], s[k], z[k]));
      }
    } else {
      for (int64_t k = 0; k < count; ++k) {
        to[k] = FromFloat32<Out>(DequantizeValue(from[k], s[k], zero));
      }
    }
  });
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_DEQUANTIZE_LINEAR_H_
