#ifndef TF_QOPS_CC_CORE_QUANTIZE_LINEAR_H_
#define TF_QOPS_CC_CORE_QUANTIZE_LINEAR_H_

#include <cstdint>

#include "cc/core/codes.h"
#include "cc/core/granularity.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// The type to which the quotient x / y_scale is rounded.
enum class Precision { kFloat32, kFloat16, kBFloat16 };

inline float RoundTo(Precision precision, float value) {
  switch (precision) {
    case Precision::kFloat16:
      return Float16::FromFloat(value, false).ToFloat();
    case Precision::kBFloat16:
      return BFloat16::FromFloat(value).ToFloat();
    case Precision::kFloat32:
      return value;
  }
  return value;
}

struct QuantizeOptions {
  bool saturate = true;  // For float8; integers always saturate.
  Precision precision = Precision::kFloat32;
};

// ONNX QuantizeLinear: y = saturate(rint(x / y_scale) + y_zero_point), ties to even before the
// zero point is added; NaN gives the lowest integer. A float format rounds the quotient itself.
template <typename Q>
Q QuantizeValue(float x, float scale, Q zero_point, const QuantizeOptions& options) {
  const float quotient = RoundTo(options.precision, x / scale);
  if constexpr (Codes<Q>::kInteger) {
    const CodeRange range(Codes<Q>::kLow, Codes<Q>::kHigh, Codes<Q>::Read(zero_point));
    return Codes<Q>::Write(range.Quantize(quotient));
  } else {
    const float zero = zero_point.ToFloat();
    // Without the test, adding +0 would turn -0 into +0.
    return Q::FromFloat(zero == 0.0f ? quotient : quotient + zero, options.saturate);
  }
}

// The reference. `zero_point` may be null: zero.
template <typename X, typename Q>
void QuantizeLinearReference(const X* x, const float* scale, const Q* zero_point,
                             const Granularity& g, const QuantizeOptions& options, Q* y) {
  for (int64_t i = 0; i < g.size(); ++i) {
    const int64_t p = g.ParameterIndex(i);
    y[i] = QuantizeValue(ToFloat32(x[i]), scale[p], zero_point ? zero_point[p] : Q{}, options);
  }
}

// Elements [begin, end) of the same, run by run.
template <typename X, typename Q>
void QuantizeLinear(const X* x, const float* scale, const Q* zero_point, const Granularity& g,
                    const QuantizeOptions& options, int64_t begin, int64_t end, Q* y) {
  ForEachRun(g, begin, end, [&](int64_t first, int64_t count, int64_t parameter, int64_t step) {
    const X* from = x + first;
    Q* to = y + first;
    const float* s = scale + parameter;
    const Q* z = zero_point != nullptr ? zero_point + parameter : nullptr;
    if (step == 0) {
      const float one_scale = *s;
      const Q one_zero = z != nullptr ? *z : Q{};
      for (int64_t k = 0; k < count; ++k) {
        to[k] = QuantizeValue(ToFloat32(from[k]), one_scale, one_zero, options);
      }
    } else {
      for (int64_t k = 0; k < count; ++k) {
        to[k] = QuantizeValue(ToFloat32(from[k]), s[k], z != nullptr ? z[k] : Q{}, options);
      }
    }
  });
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_QUANTIZE_LINEAR_H_
