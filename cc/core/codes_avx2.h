#ifndef TF_QOPS_CC_CORE_CODES_AVX2_H_
#define TF_QOPS_CC_CORE_CODES_AVX2_H_

#include <immintrin.h>

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

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CODES_AVX2_H_
