#include <algorithm>
#include <cmath>

#include "cc/core/nbits_kernels.h"

namespace tf_qops {
namespace {

template <int kBits>
constexpr int kCodesInWord = 32 / kBits;

template <int kBits>
float Weight(uint32_t word, int64_t index, float zero_point) {
  return static_cast<float>(word >> (index * kBits) & ((1u << kBits) - 1)) - zero_point;
}

template <int kBits>
void Row(const float* x, const int64_t* group_sizes, int64_t groups, const NBitsPanel* panels,
         int count, float* y) {
  std::fill_n(y, count * kNBitsPanel, 0.0f);
  for (int p = 0; p < count; ++p, y += kNBitsPanel) {
    NBitsPanel w = panels[p];
    const float* from = x;
    for (int64_t g = 0; g < groups; ++g) {
      float sums[kNBitsPanel] = {};
      for (int64_t i = 0; i < group_sizes[g]; ++i) {
        const int64_t at = i % kCodesInWord<kBits>;
        for (int j = 0; j < kNBitsPanel; ++j) {
          sums[j] = std::fma(from[i], Weight<kBits>(w.words[j], at, w.zero_points[j]), sums[j]);
        }
        if (at + 1 == kCodesInWord<kBits> || i + 1 == group_sizes[g]) w.words += kNBitsPanel;
      }
      for (int j = 0; j < kNBitsPanel; ++j) y[j] = std::fma(sums[j], w.scales[j], y[j]);
      from += group_sizes[g];
      w.scales += kNBitsPanel;
      w.zero_points += w.zero_point_step;
    }
  }
}

template <int kBits>
void Expand(const uint32_t* words, int64_t size, const float* zero_point, float* weights) {
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t* word = words + i / kCodesInWord<kBits> * kNBitsPanel;
    for (int j = 0; j < kNBitsPanel; ++j) {
      *weights++ = Weight<kBits>(word[j], i % kCodesInWord<kBits>, zero_point[j]);
    }
  }
}

void Tile(int64_t rows, const float* x, int64_t size, const float* weights, const float* scale,
          float* acc) {
  float sums[kNBitsTileRows][kNBitsPanel] = {};
  for (int64_t i = 0; i < size; ++i, x += rows, weights += kNBitsPanel) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int j = 0; j < kNBitsPanel; ++j) sums[r][j] = std::fma(x[r], weights[j], sums[r][j]);
    }
  }
  for (int64_t r = 0; r < rows; ++r, acc += kNBitsPanel) {
    for (int j = 0; j < kNBitsPanel; ++j) acc[j] = std::fma(sums[r][j], scale[j], acc[j]);
  }
}

template <int kBits>
constexpr NBitsKernels kKernels{Row<kBits>, Expand<kBits>, Tile};

}  // namespace

const NBitsKernels& NBitsKernelsPortable(int64_t bits) {
  return bits == 2 ? kKernels<2> : bits == 4 ? kKernels<4> : kKernels<8>;
}

}  // namespace tf_qops
