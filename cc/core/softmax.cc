#include "cc/core/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cc/core/exponential.h"

namespace tf_qops {
namespace {

constexpr int kCodes = 256;

}  // namespace

Result<SoftmaxRows> ResolveSoftmax(const Shape& x, int64_t axis, int64_t opset) {
  if (!x) return SoftmaxRows{};
  const int64_t rank = x->size();
  if (axis < -rank || axis >= rank) {
    return Invalid("axis must be in [", -rank, ", ", rank - 1, "] for x of shape ", Show{x},
                   ". Received: ", axis);
  }
  const int64_t at = axis < 0 ? axis + rank : axis;
  SoftmaxRows rows;
  for (int64_t d = 0; d < rank; ++d) {
    (d < at ? rows.outer : d == at || opset < 13 ? rows.length : rows.inner) *= (*x)[d];
  }
  return rows;
}

void SoftmaxReference(const SoftmaxRows& rows, const ByteFormat& x_format, const uint8_t* x,
                      const ByteFormat& y_format, uint8_t* y) {
  const double scale = x_format.scale;
  for (int64_t row = 0; row < rows.outer * rows.inner; ++row) {
    const auto at = [&](int64_t i) {
      return (row / rows.inner * rows.length + i) * rows.inner + row % rows.inner;
    };
    const auto code = [&](int64_t i) { return x_format.Code(x[at(i)]); };
    int32_t best = code(0);
    for (int64_t i = 0; i < rows.length; ++i) {
      best = scale < 0 ? std::min(best, code(i)) : std::max(best, code(i));
    }
    double sum = 0;
    for (int64_t i = 0; i < rows.length; ++i) sum += Exp((code(i) - best) * scale);
    for (int64_t i = 0; i < rows.length; ++i) {
      y[at(i)] = y_format.Quantize(static_cast<float>(Exp((code(i) - best) * scale) / sum));
    }
  }
}

void Softmax(const SoftmaxRows& rows, const ByteFormat& x_format, const uint8_t* x,
             const ByteFormat& y_format, uint8_t* y, const Workers& workers) {
  if (rows.length == 0) return;
  const bool reversed = x_format.scale < 0;
  const CodeRange range = ByteRange(y_format.is_signed, y_format.zero_point);
  std::array<double, kCodes> powers;  // By the distance of a code from the best.
  for (int k = 0; k < kCodes; ++k) {
    powers[k] = Exp((reversed ? k : -k) * static_cast<double>(x_format.scale));
  }
  workers.run(rows.outer * rows.inner, 8 * rows.length, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = row / rows.inner * rows.length * rows.inner + row % rows.inner;
      const int64_t last = first + rows.length * rows.inner;
      int32_t best = x_format.Code(x[first]);
      for (int64_t i = first; i < last; i += rows.inner) {
        const int32_t code = x_format.Code(x[i]);
        best = reversed ? std::min(best, code) : std::max(best, code);
      }
      const auto distance = [&](int64_t i) { return std::abs(x_format.Code(x[i]) - best); };
      double sums[4] = {};  // One alone would wait for each addition.
      int lane = 0;
      for (int64_t i = first; i < last; i += rows.inner) sums[lane++ % 4] += powers[distance(i)];
      const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      const auto quantize = [&](int k) {
        const float p = static_cast<float>(powers[k] / sum);
        return static_cast<uint8_t>(range.Quantize(p / y_format.scale));
      };
      if (rows.length > kCodes) {
        std::array<uint8_t, kCodes> codes;
        for (int k = 0; k < kCodes; ++k) codes[k] = quantize(k);
        for (int64_t i = first; i < last; i += rows.inner) y[i] = codes[distance(i)];
      } else {
        for (int64_t i = first; i < last; i += rows.inner) y[i] = quantize(distance(i));
      }
    }
  });
}

}  // namespace tf_qops
