#include <immintrin.h>

#include "cc/core/nbits_kernels.h"

// g++ -O2 keeps arrays of vectors in memory unless the loops over them are unrolled.
#define UNROLL _Pragma("GCC unroll 16")

namespace tf_qops {
namespace {

constexpr int kLanes = 8;
// A page ahead, since the hardware's own prefetching ends with the page: 1.1 times the speed where
// the weights exceed the caches.
constexpr int kPrefetchBytes = 4096;
static_assert(kNBitsPanel == 2 * kLanes, "a panel is two vectors");

template <int kBits>
constexpr int kCodesInWord = 32 / kBits;

__m256i Load(const uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// The codes in the lowest bits of words, minus their zero points.
template <int kBits>
__m256 Lowest(__m256i words, __m256 zero_points) {
  const __m256i codes = _mm256_and_si256(words, _mm256_set1_epi32((1 << kBits) - 1));
  return _mm256_sub_ps(_mm256_cvtepi32_ps(codes), zero_points);
}

// Code number `index` of words, minus the zero points; `index` is a constant where this is inlined.
template <int kBits>
__m256 Weights(__m256i words, int index, __m256 zero_points) {
  const __m256i shifted = _mm256_srli_epi32(words, index * kBits);
  if (index + 1 == kCodesInWord<kBits>) {
    return _mm256_sub_ps(_mm256_cvtepi32_ps(shifted), zero_points);
  }
  return Lowest<kBits>(shifted, zero_points);
}

// A code of the low half of a word as a float without conversion: where it stands in the mantissa
// of 2^(23 - its bit), it counts whole ones.
template <int kBits>
constexpr int kCodesInHalf = 16 / kBits;

template <int kBits>
constexpr float Lift(int index) {
  return static_cast<float>(1 << (23 - index * kBits));
}

template <int kBits>
__m256 Lifted(__m256i words, int index) {
  const __m256i code =
      _mm256_and_si256(words, _mm256_set1_epi32(((1 << kBits) - 1) << (index * kBits)));
  const __m256i lift = _mm256_castps_si256(_mm256_set1_ps(Lift<kBits>(index)));
  return _mm256_castsi256_ps(_mm256_or_si256(code, lift));
}

// Codes minus zero points, of kVectors vectors of columns.
template <int kBits, int kVectors, bool kWholeZeroPoints>
class Differences {
 public:
  void SetZeroPoints(const __m256* zero_points) {
    UNROLL for (int v = 0; v < kVectors; ++v) {
      zero_points_[v] = zero_points[v];
      if (!kWholeZeroPoints) continue;
      UNROLL for (int i = 0; i < kCodesInHalf<kBits>; ++i) {
        lifted_[i][v] = _mm256_add_ps(_mm256_set1_ps(Lift<kBits>(i)), zero_points[v]);
      }
    }
  }

  // For all codes of words, in order.
  template <typename Take>
  void ForEach(__m256i* words, Take&& take) const {
    if (!kWholeZeroPoints) {
      UNROLL for (int i = 0; i < kCodesInWord<kBits>; ++i) {
        take(i, [&](int v) { return Weights<kBits>(words[v], i, zero_points_[v]); });
      }
      return;
    }
    UNROLL for (int half = 0; half < 2; ++half) {
      UNROLL for (int i = 0; i < kCodesInHalf<kBits>; ++i) {
        take(half * kCodesInHalf<kBits> + i,
             [&](int v) { return _mm256_sub_ps(Lifted<kBits>(words[v], i), lifted_[i][v]); });
      }
      UNROLL for (int v = 0; v < kVectors; ++v) words[v] = _mm256_srli_epi32(words[v], 16);
    }
  }

  // For the first `count` codes.
  template <typename Take>
  void ForFirst(int64_t count, __m256i* words, Take&& take) const {
    for (int64_t i = 0; i < count; ++i) {
      take(i, [&](int v) { return Lowest<kBits>(words[v], zero_points_[v]); });
      UNROLL for (int v = 0; v < kVectors; ++v) words[v] = _mm256_srli_epi32(words[v], kBits);
    }
  }

 private:
  __m256 zero_points_[kVectors];
  __m256 lifted_[kCodesInHalf<kBits>][kVectors];
};

template <int kBits, int kPanels, bool kWholeZeroPoints>
void Row(const float* x, const int64_t* group_sizes, int64_t groups, const NBitsPanel* panels,
         float* y) {
  constexpr int kVectors = 2 * kPanels;
  constexpr int kCodes = kCodesInWord<kBits>;
  const uint32_t* words[kPanels];
  UNROLL for (int p = 0; p < kPanels; ++p) words[p] = panels[p].words;
  const auto next_words = [&](__m256i* w) {
    UNROLL for (int v = 0; v < kVectors; ++v) w[v] = Load(words[v / 2] + v % 2 * kLanes);
    UNROLL for (int p = 0; p < kPanels; ++p) {
      _mm_prefetch(reinterpret_cast<const char*>(words[p]) + kPrefetchBytes, _MM_HINT_T0);
      words[p] += kNBitsPanel;
    }
  };
  __m256 total[kVectors];
  UNROLL for (int v = 0; v < kVectors; ++v) total[v] = _mm256_setzero_ps();
  Differences<kBits, kVectors, kWholeZeroPoints> differences;
  for (int64_t g = 0; g < groups; ++g) {
    __m256 sums[kVectors], zero_points[kVectors];
    if (g == 0 || panels[0].zero_point_step != 0) {
      UNROLL for (int v = 0; v < kVectors; ++v) {
        const NBitsPanel& panel = panels[v / 2];
        zero_points[v] =
            _mm256_loadu_ps(panel.zero_points + g * panel.zero_point_step + v % 2 * kLanes);
      }
      differences.SetZeroPoints(zero_points);
    }
    UNROLL for (int v = 0; v < kVectors; ++v) sums[v] = _mm256_setzero_ps();
    const auto add = [&](int64_t i, auto&& difference) {
      const __m256 value = _mm256_broadcast_ss(x + i);
      UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[v] = _mm256_fmadd_ps(value, difference(v), sums[v]);
      }
    };
    __m256i w[kVectors];
    int64_t left = group_sizes[g];
    for (; left >= kCodes; left -= kCodes, x += kCodes) {
      next_words(w);
      differences.ForEach(w, add);
    }
    if (left > 0) {
      next_words(w);
      differences.ForFirst(left, w, add);
      x += left;
    }
    UNROLL for (int v = 0; v < kVectors; ++v) {
      const float* scale = panels[v / 2].scales + g * kNBitsPanel + v % 2 * kLanes;
      total[v] = _mm256_fmadd_ps(sums[v], _mm256_loadu_ps(scale), total[v]);
    }
  }
  UNROLL for (int v = 0; v < kVectors; ++v) _mm256_storeu_ps(y + v * kLanes, total[v]);
}

template <int kBits, bool kWhole>
void Row(const float* x, const int64_t* group_sizes, int64_t groups, const NBitsPanel* panels,
         int count, float* y) {
  if (count == 2) {
    Row<kBits, 2, kWhole>(x, group_sizes, groups, panels, y);
  } else {
    Row<kBits, 1, kWhole>(x, group_sizes, groups, panels, y);
  }
}

template <int kBits>
void Row(const float* x, const int64_t* group_sizes, int64_t groups, const NBitsPanel* panels,
         int count, float* y) {
  if (panels[0].whole_zero_points) {
    Row<kBits, true>(x, group_sizes, groups, panels, count, y);
  } else {
    Row<kBits, false>(x, group_sizes, groups, panels, count, y);
  }
}

template <int kBits>
void Expand(const uint32_t* words, int64_t size, const float* zero_point, float* weights) {
  constexpr int kCodes = kCodesInWord<kBits>;
  for (int v = 0; v < 2; ++v) {
    const __m256 zeros = _mm256_loadu_ps(zero_point + v * kLanes);
    const uint32_t* from = words + v * kLanes;
    float* to = weights + v * kLanes;
    int64_t left = size;
    for (; left >= kCodes; left -= kCodes, from += kNBitsPanel, to += kCodes * kNBitsPanel) {
      const __m256i w = Load(from);
      UNROLL for (int j = 0; j < kCodes; ++j) {
        _mm256_storeu_ps(to + j * kNBitsPanel, Weights<kBits>(w, j, zeros));
      }
    }
    if (left == 0) continue;
    __m256i w = Load(from);
    for (; left > 0; --left, to += kNBitsPanel) {
      _mm256_storeu_ps(to, Lowest<kBits>(w, zeros));
      w = _mm256_srli_epi32(w, kBits);
    }
  }
}

template <int kRows>
void Tile(const float* x, int64_t size, const float* weights, const float* scale, float* acc) {
  __m256 sums[kRows][2];
  UNROLL for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_ps();
  for (int64_t i = 0; i < size; ++i, x += kRows, weights += kNBitsPanel) {
    const __m256 a = _mm256_loadu_ps(weights), b = _mm256_loadu_ps(weights + kLanes);
    UNROLL for (int r = 0; r < kRows; ++r) {
      const __m256 value = _mm256_broadcast_ss(x + r);
      sums[r][0] = _mm256_fmadd_ps(value, a, sums[r][0]);
      sums[r][1] = _mm256_fmadd_ps(value, b, sums[r][1]);
    }
  }
  const __m256 a = _mm256_loadu_ps(scale), b = _mm256_loadu_ps(scale + kLanes);
  UNROLL for (int r = 0; r < kRows; ++r) {
    float* to = acc + r * kNBitsPanel;
    _mm256_storeu_ps(to, _mm256_fmadd_ps(sums[r][0], a, _mm256_loadu_ps(to)));
    to += kLanes;
    _mm256_storeu_ps(to, _mm256_fmadd_ps(sums[r][1], b, _mm256_loadu_ps(to)));
  }
}

void Tile(int64_t rows, const float* x, int64_t size, const float* weights, const float* scale,
          float* acc) {
  static constexpr decltype(&Tile<1>) kTiles[kNBitsTileRows] = {Tile<1>, Tile<2>, Tile<3>,
                                                                Tile<4>, Tile<5>, Tile<6>};
  kTiles[rows - 1](x, size, weights, scale, acc);
}

template <int kBits>
constexpr NBitsKernels kKernels{Row<kBits>, Expand<kBits>, Tile};

}  // namespace

const NBitsKernels& NBitsKernelsAvx2(int64_t bits) {
  return bits == 2 ? kKernels<2> : bits == 4 ? kKernels<4> : kKernels<8>;
}

}  // namespace tf_qops
