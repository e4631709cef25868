#include "cc/core/codes_avx2.h"
#include "cc/core/widened_kernels.h"

namespace tf_qops {
namespace {

__m256i Load(const int16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
__m256i Load(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
void Store(int32_t* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

__m256i MultiplyAdd(__m256i sum, __m256i x, __m256i w) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
}

// Two neighbouring channels of one pixel, in every lane.
__m256i BroadcastPair(const int16_t* p) {
  return _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(p)));
}

void Dense(const int16_t* const* x, const int64_t* tap_offsets, int64_t taps, int64_t pairs,
           const int16_t* w, int32_t* acc) {
  static_assert(kTileRows == 4 && kPanel == 16, "the accumulators are written out");
  __m256i a0 = _mm256_setzero_si256(), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0, a3 = a0,
          b3 = a0;
  for (int64_t t = 0; t < taps; ++t) {
    const int16_t* x0 = x[0] + tap_offsets[t];
    const int16_t* x1 = x[1] + tap_offsets[t];
    const int16_t* x2 = x[2] + tap_offsets[t];
    const int16_t* x3 = x[3] + tap_offsets[t];
    for (int64_t p = 0; p < pairs; ++p, w += 2 * kPanel) {
      const __m256i wa = Load(w), wb = Load(w + kPanel);
      __m256i pair = BroadcastPair(x0 + 2 * p);
      a0 = MultiplyAdd(a0, pair, wa);
      b0 = MultiplyAdd(b0, pair, wb);
      pair = BroadcastPair(x1 + 2 * p);
      a1 = MultiplyAdd(a1, pair, wa);
      b1 = MultiplyAdd(b1, pair, wb);
      pair = BroadcastPair(x2 + 2 * p);
      a2 = MultiplyAdd(a2, pair, wa);
      b2 = MultiplyAdd(b2, pair, wb);
      pair = BroadcastPair(x3 + 2 * p);
      a3 = MultiplyAdd(a3, pair, wa);
      b3 = MultiplyAdd(b3, pair, wb);
    }
  }
  const __m256i rows[] = {a0, b0, a1, b1, a2, b2, a3, b3};
  for (int i = 0; i < 8; ++i) Store(acc + 8 * i, rows[i]);
}

void DenseRow(const int16_t* x, int64_t pairs, const int16_t* w, int32_t* acc) {
  __m256i a = _mm256_setzero_si256(), b = a;
  for (int64_t p = 0; p < pairs; ++p, w += 2 * kPanel) {
    const __m256i pair = BroadcastPair(x + 2 * p);
    a = MultiplyAdd(a, pair, Load(w));
    b = MultiplyAdd(b, pair, Load(w + kPanel));
  }
  Store(acc, a);
  Store(acc + 8, b);
}

void Depthwise(const int16_t* x, const int64_t* tap_offsets, int64_t taps, const int16_t* w,
               int32_t* acc) {
  __m256i a = _mm256_setzero_si256(), b = a;
  for (int64_t t = 0; t < taps; ++t, w += 2 * kPanel) {
    const int16_t* from = x + tap_offsets[t];
    a = MultiplyAdd(a, Load(from), Load(w));
    b = MultiplyAdd(b, Load(from + kPanel), Load(w + kPanel));
  }
  Store(acc, a);
  Store(acc + 8, b);
}

void Requantize(const int32_t* acc, const int32_t* bias, const float* scale, const CodeRange& range,
                uint8_t* y) {
  const auto codes = [&](int first) {
    const __m256i sum = _mm256_add_epi32(Load(acc + first), Load(bias + first));
    const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(scale + first));
    return QuantizeCodes(product, range);
  };
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), PackCodes(codes(0), codes(8)));
}

template <typename T>
void Widen(const T* from, int64_t count, int32_t zero_point, int16_t* to) {
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    const __m256i words =
        std::is_signed_v<T> ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_sub_epi16(words, zero));
  }
  for (; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero_point);
}

}  // namespace

const WidenedKernels& WidenedKernelsAvx2() {
  static constexpr WidenedKernels kKernels{Dense,      DenseRow,      Depthwise,
                                           Requantize, Widen<int8_t>, Widen<uint8_t>};
  return kKernels;
}

}  // namespace tf_qops
