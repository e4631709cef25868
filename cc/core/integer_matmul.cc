#include "cc/core/integer_matmul.h"

#include <algorithm>

namespace tf_qops {
namespace {

constexpr int64_t kBlockRows = 64;  // Fewer would read a panel of b too often.

// Rows [first, first + count) of a, minus their zero points, each of 2 * pairs elements.
void WidenRows(const ByteMatrix& a, const int32_t* a_zero, int64_t first, int64_t count,
               int64_t pairs, const WidenedKernels& kernels, int16_t* to) {
  for (int64_t m = first; m < first + count; ++m, to += 2 * pairs) {
    const int64_t offset = m * a.row_step;
    if (a.column_step == 1 && a.codes.is_signed) {
      kernels.widen_signed(static_cast<const int8_t*>(a.codes.data) + offset, a.columns, a_zero[m],
                           to);
    } else if (a.column_step == 1) {
      kernels.widen_unsigned(static_cast<const uint8_t*>(a.codes.data) + offset, a.columns,
                             a_zero[m], to);
    } else {
      for (int64_t k = 0; k < a.columns; ++k) to[k] = static_cast<int16_t>(a.At(m, k) - a_zero[m]);
    }
    if (a.columns < 2 * pairs) to[a.columns] = 0;
  }
}

}  // namespace

std::vector<int32_t> MatMulSumsReference(const ByteMatrix& a, const int32_t* a_zero,
                                         const ByteMatrix& b, const int32_t* b_zero) {
  std::vector<int32_t> sums(a.rows * b.columns);
  for (int64_t m = 0; m < a.rows; ++m) {
    for (int64_t n = 0; n < b.columns; ++n) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < a.columns; ++k) {
        sum += static_cast<uint32_t>((a.At(m, k) - a_zero[m]) * (b.At(k, n) - b_zero[n]));
      }
      sums[m * b.columns + n] = static_cast<int32_t>(sum);
    }
  }
  return sums;
}

WidenedMatrix WidenMatrix(const ByteMatrix& b, const int32_t* b_zero) {
  WidenedMatrix packed{b.rows, b.columns, {}};
  packed.data.resize(packed.panels() * packed.pairs() * kPanel * 2);
  PackPanels(
      b.columns, 1, b.rows, [&](int64_t n, int64_t, int64_t k) { return b.At(k, n) - b_zero[n]; },
      packed.data.data());
  return packed;
}

void WidenedMatMul(const ByteMatrix& a, const int32_t* a_zero, const WidenedMatrix& b,
                   int64_t first_row, const AccumulatorSink& sink, const Workers& workers,
                   InstructionSet isa) {
  if (a.rows == 0 || b.columns == 0) return;
  const WidenedKernels& kernels = WidenedKernelsOf(isa);
  const int64_t block_rows = std::min(kBlockRows, a.rows);
  const int64_t blocks = (a.rows + block_rows - 1) / block_rows;
  // Where there are too few blocks of rows for the threads, the columns are divided too.
  const int64_t wanted = workers.threads == 1 ? 1 : 4 * workers.threads;
  const int64_t chunks = std::min(b.panels(), std::max<int64_t>(wanted / blocks, 1));

  const int64_t products = block_rows * b.depth * b.columns / chunks;
  workers.run(blocks * chunks, products / 32 + 1000, [&](int64_t begin, int64_t end) {
    std::vector<int16_t> rows(block_rows * 2 * b.pairs());
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * block_rows;
      const int64_t count = std::min(block_rows, a.rows - first);
      WidenRows(a, a_zero, first, count, b.pairs(), kernels, rows.data());
      const int64_t chunk = unit / blocks;
      for (int64_t panel = b.panels() * chunk / chunks; panel < b.panels() * (chunk + 1) / chunks;
           ++panel) {
        const int16_t* w = b.data.data() + panel * b.pairs() * kPanel * 2;
        for (int64_t r = 0; r < count; r += kTileRows) {
          const int16_t* x[kTileRows];
          for (int64_t i = 0; i < kTileRows; ++i) {
            x[i] = rows.data() + std::min(r + i, count - 1) * 2 * b.pairs();
          }
          const int64_t offset = 0;
          int32_t acc[kTileRows * kPanel];
          if (r + 1 == count) {
            kernels.dense_row(x[0], b.pairs(), w, acc);
          } else {
            kernels.dense(x, &offset, 1, b.pairs(), w, acc);
          }
          for (int64_t i = 0; i < std::min<int64_t>(kTileRows, count - r); ++i) {
            sink.Store(acc + i * kPanel, first_row + first + r + i, panel * kPanel,
                       std::min<int64_t>(kPanel, b.columns - panel * kPanel));
          }
        }
      }
    }
  });
}

}  // namespace tf_qops
