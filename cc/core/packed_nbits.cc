#include "cc/core/packed_nbits.h"

#include <algorithm>
#include <numeric>

namespace tf_qops {
namespace {

constexpr int64_t kFewRows = 3;
constexpr int64_t kBlockRows = 48;  // Rows for which a panel's weights are expanded once.

// Writes a row's sums of a panel, with the bias.
void Put(const PackedNBits& w, const float* sums, const float* bias, int64_t row, int64_t panel,
         float* y) {
  const int64_t first = panel * kNBitsPanel;
  const int64_t count = std::min<int64_t>(kNBitsPanel, w.columns - first);
  float* to = y + row * w.columns + first;
  for (int64_t j = 0; j < count; ++j) to[j] = bias == nullptr ? sums[j] : sums[j] + bias[first + j];
}

// Few rows: weights are expanded in registers, for each row again.
void RowProducts(const PackedNBits& w, const float* a, int64_t rows, const float* bias, float* y,
                 const Workers& workers, const NBitsKernels& kernels) {
  std::vector<float> in_order(w.order.empty() ? 0 : rows * w.depth);
  for (size_t i = 0; i < in_order.size(); ++i) {
    in_order[i] = a[i / w.depth * w.depth + w.order[i % w.depth]];
  }
  const float* x = in_order.empty() ? a : in_order.data();
  const int64_t pairs = (w.panels() + 1) / 2;
  const int64_t cost = rows * w.depth * 2 * kNBitsPanel / 16 + 100;
  workers.run(pairs, cost, [&](int64_t begin, int64_t end) {
    for (int64_t first = 2 * begin; first < std::min(2 * end, w.panels()); first += 2) {
      const int count = first + 1 < w.panels() ? 2 : 1;
      const NBitsPanel panels[] = {w.Panel(first), w.Panel(first + count - 1)};
      for (int64_t row = 0; row < rows; ++row) {
        float sums[2 * kNBitsPanel];
        kernels.row(x + row * w.depth, w.group_sizes.data(), w.group_sizes.size(), panels, count,
                    sums);
        for (int p = 0; p < count; ++p) Put(w, sums + p * kNBitsPanel, bias, row, first + p, y);
      }
    }
  });
}

// Rows [first, first + count) of `a` in tiles of nearly equal height, the positions in order.
class RowTiles {
 public:
  RowTiles(const PackedNBits& w, const float* a, int64_t first, int64_t count)
      : count_(count),
        tiles_((count + kNBitsTileRows - 1) / kNBitsTileRows),
        values_(count * w.depth) {
    float* to = values_.data();
    for (int64_t t = 0; t < tiles_; ++t) {
      for (int64_t i = 0; i < w.depth; ++i) {
        const int64_t k = w.order.empty() ? i : w.order[i];
        for (int64_t r = Begin(t); r < Begin(t + 1); ++r) *to++ = a[(first + r) * w.depth + k];
      }
    }
    depth_ = w.depth;
  }

  int64_t size() const { return tiles_; }
  int64_t Begin(int64_t tile) const { return count_ * tile / tiles_; }
  int64_t Rows(int64_t tile) const { return Begin(tile + 1) - Begin(tile); }
  const float* At(int64_t tile, int64_t position) const {
    return values_.data() + Begin(tile) * depth_ + position * Rows(tile);
  }

 private:
  const int64_t count_;
  const int64_t tiles_;
  int64_t depth_;
  std::vector<float> values_;
};

// Many rows: the weights of a block are expanded once for all of them.
void BlockProduct(const PackedNBits& w, const float* a, int64_t rows, const float* bias, float* y,
                  const Workers& workers, const NBitsKernels& kernels) {
  const int64_t block_rows = std::min(kBlockRows, rows);
  const int64_t blocks = (rows + block_rows - 1) / block_rows;
  const int64_t wanted = workers.threads == 1 ? 1 : 4 * workers.threads;
  const int64_t chunks = std::min(w.panels(), std::max<int64_t>(wanted / blocks, 1));
  const int64_t largest = *std::max_element(w.group_sizes.begin(), w.group_sizes.end());
  const int64_t codes_in_word = 32 / w.bits;

  const int64_t cost = block_rows * w.depth * w.columns / chunks / 32 + 1000;
  workers.run(blocks * chunks, cost, [&](int64_t begin, int64_t end) {
    AlignedVector<float> weights(largest * kNBitsPanel);
    AlignedVector<float> sums(block_rows * kNBitsPanel);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * block_rows;
      const int64_t count = std::min(block_rows, rows - first);
      const RowTiles x(w, a, first, count);
      const int64_t chunk = unit / blocks;
      for (int64_t p = w.panels() * chunk / chunks; p < w.panels() * (chunk + 1) / chunks; ++p) {
        NBitsPanel panel = w.Panel(p);
        std::fill(sums.begin(), sums.end(), 0.0f);
        int64_t position = 0;
        for (int64_t size : w.group_sizes) {
          kernels.expand(panel.words, size, panel.zero_points, weights.data());
          for (int64_t t = 0; t < x.size(); ++t) {
            kernels.tile(x.Rows(t), x.At(t, position), size, weights.data(), panel.scales,
                         sums.data() + x.Begin(t) * kNBitsPanel);
          }
          position += size;
          panel.words += (size + codes_in_word - 1) / codes_in_word * kNBitsPanel;
          panel.scales += kNBitsPanel;
          panel.zero_points += panel.zero_point_step;
        }
        for (int64_t r = 0; r < count; ++r) {
          Put(w, sums.data() + r * kNBitsPanel, bias, first + r, p, y);
        }
      }
    }
  });
}

// A word of the codes of any k.
uint32_t Gather(const NBitsWeights& w, int64_t column, const int64_t* k, int64_t count) {
  uint32_t word = 0;
  for (int64_t i = 0; i < count; ++i) {
    word |= static_cast<uint32_t>(w.Code(column, k[i])) << (i * w.attributes.bits);
  }
  return word;
}

}  // namespace

NBitsPanel PackedNBits::Panel(int64_t panel) const {
  const int64_t parameters = panel * group_sizes.size() * kNBitsPanel;
  const bool alike = zero_points.size() == kNBitsPanel;
  return {words.data() + panel * panel_words, scales.data() + parameters,
          zero_points.data() + (alike ? 0 : parameters), alike ? 0 : kNBitsPanel,
          whole_zero_points};
}

PackedNBits PackNBits(const NBitsWeights& w) {
  const NBitsAttributes& a = w.attributes;
  PackedNBits packed;
  packed.depth = a.k;
  packed.columns = a.n;
  packed.bits = a.bits;
  packed.whole_zero_points = w.zero_points == nullptr;

  std::vector<int64_t> order(a.k);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t k, int64_t l) { return w.Block(k) < w.Block(l); });
  std::vector<int64_t> blocks;  // Of each group.
  for (int64_t k : order) {
    if (blocks.empty() || blocks.back() != w.Block(k)) {
      blocks.push_back(w.Block(k));
      packed.group_sizes.push_back(0);
    }
    ++packed.group_sizes.back();
  }
  const int64_t groups = blocks.size();
  const int64_t codes_in_word = 32 / a.bits;
  const auto words_of = [=](int64_t size) { return (size + codes_in_word - 1) / codes_in_word; };
  for (int64_t size : packed.group_sizes) packed.panel_words += words_of(size) * kNBitsPanel;

  const bool alike = w.zero_points == nullptr && w.packed_zero_points == nullptr;
  packed.words.assign(packed.panels() * packed.panel_words, 0);
  packed.scales.assign(packed.panels() * groups * kNBitsPanel, 0.0f);
  packed.zero_points.assign(alike ? kNBitsPanel : packed.scales.size(),
                            alike ? w.ZeroPoint(0, 0) : 0.0f);
  for (int64_t n = 0; n < a.n; ++n) {
    const int64_t panel = n / kNBitsPanel, lane = n % kNBitsPanel;
    uint32_t* word = packed.words.data() + panel * packed.panel_words + lane;
    int64_t position = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t at = (panel * groups + g) * kNBitsPanel + lane;
      packed.scales[at] = w.Scale(n, blocks[g]);
      if (!alike) packed.zero_points[at] = w.ZeroPoint(n, blocks[g]);
      const int64_t end = position + packed.group_sizes[g];
      for (; position < end; word += kNBitsPanel) {
        const int64_t count = std::min(codes_in_word, end - position);
        // In their own order, codes stand in bytes as they do in words.
        *word = w.g_idx == nullptr ? w.FourBytes(n, position)
                                   : Gather(w, n, order.data() + position, count);
        position += count;
      }
    }
  }
  if (w.g_idx != nullptr) packed.order = std::move(order);
  return packed;
}

void PackedMatMulNBits(const PackedNBits& w, const float* a, int64_t rows, const float* bias,
                       float* y, const Workers& workers, InstructionSet isa) {
  const NBitsKernels& kernels = NBitsKernelsOf(isa, w.bits);
  if (rows > kFewRows) {
    BlockProduct(w, a, rows, bias, y, workers, kernels);
  } else if (rows > 0) {
    RowProducts(w, a, rows, bias, y, workers, kernels);
  }
}

}  // namespace tf_qops
