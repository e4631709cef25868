#include <cstring>

#include "cc/core/byte_kernels.h"
#include "cc/core/codes_avx2.h"

namespace tf_qops {
namespace {

constexpr int64_t kLanes = 16;  // Codes made at once.

struct Values {
  __m256 a, b;
};

// Calls step(first, lanes) for each kLanes elements; `lanes` is smaller at the end.
template <typename Step>
__attribute__((always_inline)) inline void ForEachLanes(int64_t count, Step&& step) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(i, kLanes);
  if (i < count) step(i, count - i);
}

template <typename T>
__attribute__((always_inline)) inline const T* Padded(const T* from, int64_t lanes, T* buffer) {
  if (lanes == kLanes) return from;
  std::memcpy(buffer, from, lanes * sizeof(T));
  return buffer;
}

void StoreCodes(const Values& v, const CodeRange& range, int64_t lanes, uint8_t* y) {
  const __m128i codes = PackCodes(QuantizeCodes(v.a, range), QuantizeCodes(v.b, range));
  if (lanes == kLanes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), codes);
  } else {
    uint8_t buffer[kLanes];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(buffer), codes);
    std::memcpy(y, buffer, lanes);
  }
}

// An operand of a binary operator: its codes as float32 numbers.
class Operand {
 public:
  Operand(const ByteFormat& format, const uint8_t* codes, int64_t step)
      : codes_(codes),
        repeated_(step == 0),
        flip_(_mm_set1_epi8(format.is_signed ? -128 : 0)),
        zero_(_mm256_set1_epi32(format.zero_point + (format.is_signed ? 128 : 0))),
        scale_(_mm256_set1_ps(format.scale)) {}

  Values Load(int64_t i, int64_t lanes) const {
    uint8_t buffer[kLanes] = {};
    const __m128i bytes =
        repeated_
            ? _mm_set1_epi8(static_cast<char>(codes_[0]))
            : _mm_loadu_si128(reinterpret_cast<const __m128i*>(Padded(codes_ + i, lanes, buffer)));
    const __m128i codes = _mm_xor_si128(bytes, flip_);
    return {Value(codes), Value(_mm_srli_si128(codes, 8))};
  }

 private:
  __m256 Value(__m128i codes) const {
    const __m256i difference = _mm256_sub_epi32(_mm256_cvtepu8_epi32(codes), zero_);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(difference), scale_);
  }

  const uint8_t* const codes_;
  const bool repeated_;
  const __m128i flip_;
  const __m256i zero_;
  const __m256 scale_;
};

template <BinaryKind kKind>
void BinaryLoop(const Operand& a, const Operand& b, const BinaryFormats& f, const CodeRange& range,
                int64_t count, uint8_t* c) {
  const __m256 scale = _mm256_set1_ps(f.c.scale);
  const __m256 plus = _mm256_set1_ps(static_cast<float>(f.c.zero_point));
  const auto combine = [&](__m256 x, __m256 y) {
    const __m256 both = kKind == BinaryKind::kAdd ? _mm256_add_ps(x, y) : _mm256_mul_ps(x, y);
    return _mm256_add_ps(_mm256_div_ps(both, scale), plus);
  };
  ForEachLanes(count, [&](int64_t i, int64_t lanes) {
    const Values x = a.Load(i, lanes), y = b.Load(i, lanes);
    StoreCodes({combine(x.a, y.a), combine(x.b, y.b)}, range, lanes, c + i);
  });
}

void Binary(BinaryKind kind, const BinaryFormats& f, const uint8_t* a, int64_t a_step,
            const uint8_t* b, int64_t b_step, int64_t count, uint8_t* c) {
  const CodeRange range = ByteRange(f.c.is_signed, 0);
  (kind == BinaryKind::kAdd ? BinaryLoop<BinaryKind::kAdd>
                            : BinaryLoop<BinaryKind::kMul>)(Operand(f.a, a, a_step),
                                                            Operand(f.b, b, b_step), f, range,
                                                            count, c);
}

// Sixteen lookups in sixteen entries each. vpshufb gives 0 where the top bit of an index is set; a
// saturating sum sets it for all bytes but those from 0 to 15.
void LookUp(const uint8_t* table, const uint8_t* x, int64_t count, uint8_t* y) {
  const __m256i limit = _mm256_set1_epi8(0x70), sixteen = _mm256_set1_epi8(16);
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    __m256i codes = _mm256_setzero_si256();
    for (int part = 0; part < 16; ++part) {
      const __m256i entries = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * part)));
      codes = _mm256_or_si256(codes, _mm256_shuffle_epi8(entries, _mm256_adds_epu8(index, limit)));
      index = _mm256_sub_epi8(index, sixteen);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), codes);
  }
  for (; i < count; ++i) y[i] = table[x[i]];
}

void Accumulate(const uint8_t* x, int64_t count, uint8_t flip, int32_t* sums) {
  const __m256i flips = _mm256_set1_epi32(flip);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i codes =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + i)));
    __m256i* to = reinterpret_cast<__m256i*>(sums + i);
    const __m256i sum = _mm256_add_epi32(_mm256_loadu_si256(to), _mm256_xor_si256(codes, flips));
    _mm256_storeu_si256(to, sum);
  }
  for (; i < count; ++i) sums[i] += x[i] ^ flip;
}

int32_t Sum(const uint8_t* x, int64_t count, uint8_t flip) {
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  __m256i sums = _mm256_setzero_si256();  // Of four groups of eight codes each.
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    sums = _mm256_add_epi64(
        sums, _mm256_sad_epu8(_mm256_xor_si256(codes, flips), _mm256_setzero_si256()));
  }
  int64_t groups[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(groups), sums);
  int64_t sum = groups[0] + groups[1] + groups[2] + groups[3];
  for (; i < count; ++i) sum += x[i] ^ flip;
  return static_cast<int32_t>(sum);
}

void Mean(const int32_t* sums, int64_t count, const MeanScaling& s, uint8_t* y) {
  const __m256i offset = _mm256_set1_epi32(s.offset);
  const __m256 divisor = _mm256_set1_ps(s.divisor), factor = _mm256_set1_ps(s.factor),
               plus = _mm256_set1_ps(s.plus);
  const auto value = [&](const int32_t* from) {
    const __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256 mean = _mm256_div_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(sum, offset)), divisor);
    return _mm256_add_ps(_mm256_mul_ps(mean, factor), plus);
  };
  ForEachLanes(count, [&](int64_t i, int64_t lanes) {
    int32_t buffer[kLanes] = {};
    const int32_t* from = Padded(sums + i, lanes, buffer);
    StoreCodes({value(from), value(from + 8)}, s.range, lanes, y + i);
  });
}

// min and max return their second operand where one is NaN.
void FindRange(const float* x, int64_t count, float* low, float* high) {
  __m256 lows[2] = {_mm256_set1_ps(*low), _mm256_set1_ps(*low)};
  __m256 highs[2] = {_mm256_set1_ps(*high), _mm256_set1_ps(*high)};
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (int k = 0; k < 2; ++k) {
      const __m256 values = _mm256_loadu_ps(x + i + 8 * k);
      lows[k] = _mm256_min_ps(values, lows[k]);
      highs[k] = _mm256_max_ps(values, highs[k]);
    }
  }
  float ends[16];
  _mm256_storeu_ps(ends, _mm256_min_ps(lows[0], lows[1]));
  _mm256_storeu_ps(ends + 8, _mm256_max_ps(highs[0], highs[1]));
  for (int k = 0; k < 8; ++k) {
    *low = ends[k] < *low ? ends[k] : *low;
    *high = ends[8 + k] > *high ? ends[8 + k] : *high;
  }
  for (; i < count; ++i) {
    *low = x[i] < *low ? x[i] : *low;
    *high = x[i] > *high ? x[i] : *high;
  }
}

void Quantize(const float* x, int64_t count, float scale, const CodeRange& range, uint8_t* y) {
  const __m256 divisor = _mm256_set1_ps(scale);
  ForEachLanes(count, [&](int64_t i, int64_t lanes) {
    float buffer[kLanes] = {};
    const float* from = Padded(x + i, lanes, buffer);
    const Values quotients{_mm256_div_ps(_mm256_loadu_ps(from), divisor),
                           _mm256_div_ps(_mm256_loadu_ps(from + 8), divisor)};
    StoreCodes(quotients, range, lanes, y + i);
  });
}

}  // namespace

const ByteKernels& ByteKernelsAvx2() {
  static constexpr ByteKernels kKernels{Binary, LookUp, Accumulate, Sum, Mean, FindRange, Quantize};
  return kKernels;
}

}  // namespace tf_qops
