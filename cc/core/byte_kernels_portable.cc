#include "cc/core/byte_kernels.h"

namespace tf_qops {
namespace {

template <BinaryKind kKind>
void Binary(const BinaryFormats& f, const uint8_t* a, int64_t a_step, const uint8_t* b,
            int64_t b_step, int64_t count, uint8_t* c) {
  const CodeRange range = ByteRange(f.c.is_signed, 0);
  const float plus = static_cast<float>(f.c.zero_point);
  for (int64_t i = 0; i < count; ++i) {
    const float x = f.a.Difference(a[i * a_step]), y = f.b.Difference(b[i * b_step]);
    c[i] = static_cast<uint8_t>(
        range.Quantize(BinaryValue(kKind, x, f.a.scale, y, f.b.scale, f.c.scale, plus)));
  }
}

void BinaryOf(BinaryKind kind, const BinaryFormats& formats, const uint8_t* a, int64_t a_step,
              const uint8_t* b, int64_t b_step, int64_t count, uint8_t* c) {
  (kind == BinaryKind::kAdd ? Binary<BinaryKind::kAdd>
                            : Binary<BinaryKind::kMul>)(formats, a, a_step, b, b_step, count, c);
}

void LookUp(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = table[x[i]];
}

void Accumulate(const uint8_t* x, int64_t count, uint8_t flip, int32_t* sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += x[i] ^ flip;
}

int32_t Sum(const uint8_t* x, int64_t count, uint8_t flip) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] ^ flip;
  return sum;
}

void Mean(const int32_t* sums, int64_t count, const MeanScaling& s, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) {
    const float mean = static_cast<float>(sums[i] - s.offset) / s.divisor;
    y[i] = static_cast<uint8_t>(s.range.Quantize(mean * s.factor + s.plus));
  }
}

void FindRange(const float* x, int64_t count, float* low, float* high) {
  for (int64_t i = 0; i < count; ++i) {
    *low = x[i] < *low ? x[i] : *low;
    *high = x[i] > *high ? x[i] : *high;
  }
}

void Quantize(const float* x, int64_t count, float scale, const CodeRange& range, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<uint8_t>(range.Quantize(x[i] / scale));
}

}  // namespace

const ByteKernels& ByteKernelsPortable() {
  static constexpr ByteKernels kKernels{BinaryOf, LookUp,    Accumulate, Sum,
                                        Mean,     FindRange, Quantize};
  return kKernels;
}

}  // namespace tf_qops
