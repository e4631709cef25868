#ifndef TF_QOPS_CC_CORE_EXPONENTIAL_H_
#define TF_QOPS_CC_CORE_EXPONENTIAL_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tf_qops {

// Functions of additions, multiplications and divisions of doubles alone, so that every CPU and C
// library gives the same bits. They are accurate enough that rounding to float32 almost always
// gives the float32 nearest to the exact value. NaN stays NaN.

inline constexpr double kExpLimit = 700.0;
inline constexpr double kOneByLn2 = 1.4426950408889634;
// ln 2 in two parts: the first has room for a factor of 11 bits.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kNoFraction = 6755399441055744.0;  // 1.5 * 2^52: the spacing there is 1.
inline constexpr int kExpTerms = 13;
inline constexpr double kExpSeries[kExpTerms] = {// 1 / 12!, ..., 1 / 0!
                                                 1.0 / 479001600.0,
                                                 1.0 / 39916800.0,
                                                 1.0 / 3628800.0,
                                                 1.0 / 362880.0,
                                                 1.0 / 40320.0,
                                                 1.0 / 5040.0,
                                                 1.0 / 720.0,
                                                 1.0 / 120.0,
                                                 1.0 / 24.0,
                                                 1.0 / 6.0,
                                                 1.0 / 2.0,
                                                 1.0,
                                                 1.0};

// e^x, within 4e-16 of it; x is first brought into [-700, 700].
inline double Exp(double x) {
  x = x < -kExpLimit ? -kExpLimit : x > kExpLimit ? kExpLimit : x;
  // x = n * ln 2 + r with |r| <= ln(2) / 2.
  const double shifted = x * kOneByLn2 + kNoFraction;
  const double n = shifted - kNoFraction;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = kExpSeries[0];
  for (int i = 1; i < kExpTerms; ++i) sum = sum * r + kExpSeries[i];
  uint64_t bits;  // n stands in the lowest bits of `shifted`; those above it leave at the top.
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 1023) << 52;
  double power;  // 2^n
  std::memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

inline double Sigmoid(double x) { return 1.0 / (1.0 + Exp(-x)); }

// Near 0 the difference of exponentials loses its digits; the next term of the series there is
// x^5 * 2 / 15.
inline constexpr double kTanhNear = 0x1p-10;

inline double Tanh(double x) {
  if (std::abs(x) < kTanhNear) return x * (1.0 - x * x / 3.0);
  const double power = Exp(2.0 * x);
  return (power - 1.0) / (power + 1.0);
}

// ln(1 + u) for u in [0, 1]: twice the inverse hyperbolic tangent of u / (2 + u), which is at most
// 1 / 3.
inline double LogOnePlus(double u) {
  const double s = u / (2.0 + u);
  const double square = s * s;
  double sum = 0.0;
  for (int k = 27; k > 0; k -= 2) sum = sum * square + 1.0 / k;
  return 2.0 * s * sum;
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_EXPONENTIAL_H_
