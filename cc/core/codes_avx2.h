#ifndef TF_QOPS_CC_CORE_CODES_AVX2_H_
#define TF_QOPS_CC_CORE_CODES_AVX2_H_

#include <immintrin.h>

#include <cstdint>

#include "cc/core/rounding.h"

namespace tf_qops {

// CodeRange::Quantize of eight values. Clamping in float comes first: vcvtps2dq is wrong beyond
// 2^31, and max returns its second operand for NaN.
static inline __m256i QuantizeCodes(__m256 value, const CodeRange& range) {
  value = _mm256_max_ps(value, _mm256_set1_ps(range.low));
  value = _mm256_min_ps(value, _mm256_set1_ps(range.high));
  return _mm256_add_epi32(_mm256_cvtps_epi32(value), _mm256_set1_epi32(range.zero_point));
}

// The low bytes of sixteen codes.
static inline __m128i PackCodes(__m256i a, __m256i b) {
  const __m256i low_byte = _mm256_set1_epi32(0xff);
  const __m256i words = _mm256_permute4x64_epi64(
      _mm256_packus_epi32(_mm256_and_si256(a, low_byte), _mm256_and_si256(b, low_byte)), 0xd8);
  return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

// The codes of sixteen sums, or of the first `columns`.
static inline void StoreCodes(__m256i low, __m256i high, const float* scale, const CodeRange& range,
                              int64_t columns, uint8_t* y) {
  const auto codes = [&](__m256i sums, const float* by) {
    return QuantizeCodes(_mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(by)), range);
  };
  const __m128i bytes = PackCodes(codes(low, scale), codes(high, scale + 8));
  if (columns >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
    return;
  }
  alignas(16) uint8_t all[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
  for (int64_t i = 0; i < columns; ++i) y[i] = all[i];
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CODES_AVX2_H_
