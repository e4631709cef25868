#ifndef TF_QOPS_CC_CORE_EXPONENTIAL_H_
#define TF_QOPS_CC_CORE_EXPONENTIAL_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tf_qops {

// Functions of additions, multiplications and divisions of doubles alone, so that every CPU and C
// library gives the same bits. They are accurate enough that rounding to float32 almost always
// gives the float32 nearest to the exact value. NaN stays NaN.

// e^x, within 4e-16 of it; x is first brought into [-700, 700].
inline double Exp(double x) {
  x = x < -700.0 ? -700.0 : x > 700.0 ? 700.0 : x;
  // x = n * ln 2 + r with |r| <= ln(2) / 2: a double of 1.5 * 2^52 has no room for a fraction.
  constexpr double kMagic = 6755399441055744.0;
  const double shifted = x * 1.4426950408889634 + kMagic;
  const double n = shifted - kMagic;
  // ln 2 in two parts; n has at most 11 bits, so its product with the first is exact.
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double sum = 1.0 / 479001600.0;  // 1 / 12!
  constexpr double kFactors[] = {
      1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
      1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,      1.0 / 2.0,     1.0,          1.0};
  for (double factor : kFactors) sum = sum * r + factor;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 1023) << 52;  // 2^n; what stood above n leaves at the top.
  double power;
  std::memcpy(&power, &bits, sizeof(power));
  return sum * power;
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

inline double Tanh(double x) {
  // Near 0 the difference below loses its digits; the next term of the series is x^5 * 2 / 15.
  if (std::abs(x) < 0x1p-10) return x * (1.0 - x * x / 3.0);
  const double power = Exp(2.0 * x);
  return (power - 1.0) / (power + 1.0);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_EXPONENTIAL_H_
