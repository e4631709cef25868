#include <immintrin.h>

#include <algorithm>

#include "cc/core/activation_kernels.h"
#include "cc/core/exponential.h"

namespace tf_qops {
namespace {

__m256d Set(double value) { return _mm256_set1_pd(value); }

// exponential.h's functions, operation by operation. Minimum and maximum return their second
// operand for NaN.
__m256d Exp(__m256d x) {
  x = _mm256_min_pd(Set(kExpLimit), _mm256_max_pd(Set(-kExpLimit), x));
  const __m256d shifted = _mm256_add_pd(_mm256_mul_pd(x, Set(kOneByLn2)), Set(kNoFraction));
  const __m256d n = _mm256_sub_pd(shifted, Set(kNoFraction));
  const __m256d r = _mm256_sub_pd(_mm256_sub_pd(x, _mm256_mul_pd(n, Set(kLn2High))),
                                  _mm256_mul_pd(n, Set(kLn2Low)));
  __m256d sum = Set(kExpSeries[0]);
  for (int i = 1; i < kExpTerms; ++i) {
    sum = _mm256_add_pd(_mm256_mul_pd(sum, r), Set(kExpSeries[i]));
  }
  const __m256i power = _mm256_slli_epi64(
      _mm256_add_epi64(_mm256_castpd_si256(shifted), _mm256_set1_epi64x(1023)), 52);
  return _mm256_mul_pd(sum, _mm256_castsi256_pd(power));
}

__m256d Sigmoid(__m256d x) {
  const __m256d negative = _mm256_xor_pd(x, Set(-0.0));
  return _mm256_div_pd(Set(1.0), _mm256_add_pd(Set(1.0), Exp(negative)));
}

__m256d Tanh(__m256d x) {
  const __m256d power = Exp(_mm256_mul_pd(Set(2.0), x));
  const __m256d far = _mm256_div_pd(_mm256_sub_pd(power, Set(1.0)), _mm256_add_pd(power, Set(1.0)));
  const __m256d square = _mm256_mul_pd(x, x);
  const __m256d near = _mm256_mul_pd(x, _mm256_sub_pd(Set(1.0), _mm256_div_pd(square, Set(3.0))));
  const __m256d magnitude = _mm256_andnot_pd(Set(-0.0), x);
  return _mm256_blendv_pd(far, near, _mm256_cmp_pd(magnitude, Set(kTanhNear), _CMP_LT_OQ));
}

template <__m256d (*kFunction)(__m256d)>
void ApplyToAll(float* values, int64_t count) {
  const auto apply = [](float* four) {
    _mm_storeu_ps(four, _mm256_cvtpd_ps(kFunction(_mm256_cvtps_pd(_mm_loadu_ps(four)))));
  };
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) apply(values + i);
  float last[4] = {};
  std::copy(values + i, values + count, last);
  apply(last);
  std::copy_n(last, count - i, values + i);
}

}  // namespace

const ActivationKernels& ActivationKernelsAvx2() {
  static constexpr ActivationKernels kKernels{ApplyToAll<Sigmoid>, ApplyToAll<Tanh>};
  return kKernels;
}

}  // namespace tf_qops
