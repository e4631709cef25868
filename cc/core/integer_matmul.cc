#include "cc/core/integer_matmul.h"

#include <algorithm>

namespace tf_qops {
namespace {

constexpr int64_t kBlockRows = 96;  // Fewer would read a panel of b too often.

// Rows of a left operand, as the kernels read them.
class PackedRows {
 public:
  PackedRows(const ByteMatrix& a, const int32_t* zeros, LaneFormat format,
             const ProductKernels& kernels, int64_t most_rows)
      : a_(a),
        zeros_(zeros),
        kernels_(kernels),
        lanes_(LanesFor(format, a.columns)),
        in_place_(format == LaneFormat::kBytes && !a.codes.is_signed && a.column_step == 1 &&
                  a.columns % GroupSize(format) == 0),
        rows_(in_place_ ? 0 : most_rows * lanes_),
        codes_(in_place_ || a.column_step == 1 ? 0 : a.columns) {}

  // Makes rows [first, first + count) available.
  void Load(int64_t first, int64_t count) {
    first_ = first;
    if (in_place_) return;
    for (int64_t m = first; m < first + count; ++m) {
      Lane* to = rows_.data() + (m - first) * lanes_;
      if (lanes_ > 0) to[lanes_ - 1] = 0;
      kernels_.pack(Codes(m), a_.codes.is_signed, a_.columns, zeros_[m], to);
    }
  }

  const Lane* Row(int64_t i) const {
    if (!in_place_) return rows_.data() + i * lanes_;
    return reinterpret_cast<const Lane*>(Bytes() + (first_ + i) * a_.row_step);
  }

 private:
  const uint8_t* Bytes() const { return static_cast<const uint8_t*>(a_.codes.data); }

  const uint8_t* Codes(int64_t row) {
    const uint8_t* from = Bytes() + row * a_.row_step;
    if (a_.column_step == 1) return from;
    for (int64_t k = 0; k < a_.columns; ++k) codes_[k] = from[k * a_.column_step];
    return codes_.data();
  }

  const ByteMatrix& a_;
  const int32_t* const zeros_;
  const ProductKernels& kernels_;
  const int64_t lanes_;
  const bool in_place_;
  LaneVector rows_;
  std::vector<uint8_t> codes_;
  int64_t first_ = 0;
};

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

PackedPanels PackMatrix(const ByteMatrix& b, const int32_t* b_zero, InstructionSet isa,
                        std::optional<Algorithm> forced) {
  auto packed =
      PackProducts({1, b.columns, 1, b.rows}, isa, forced,
                   [&](int64_t, int64_t n, int64_t, int64_t k) { return b.At(k, n) - b_zero[n]; });
  return std::move(packed[0]);
}

void PackedMatMul(const ByteMatrix& a, const int32_t* a_zero, const PackedPanels& b,
                  int64_t first_row, const AccumulatorSink& sink, const Workers& workers,
                  InstructionSet isa) {
  if (a.rows == 0 || b.columns == 0) return;
  const ProductKernels& kernels = ProductKernelsOf(isa, b.algorithm);
  const int64_t block_rows = std::min(kBlockRows, a.rows);
  const int64_t blocks = (a.rows + block_rows - 1) / block_rows;
  // Where there are too few blocks of rows for the threads, the columns are divided too.
  const int64_t wanted = workers.threads == 1 ? 1 : 4 * workers.threads;
  const int64_t chunks = std::min(b.panels(), std::max<int64_t>(wanted / blocks, 1));

  const std::vector<int64_t> tap_offsets{0};
  const int32_t sign = a.codes.is_signed && b.format == LaneFormat::kBytes ? 128 : 0;
  std::vector<int32_t> zeros(a_zero, a_zero + a.rows);
  for (int32_t& zero : zeros) zero += sign;
  if (std::all_of(zeros.begin(), zeros.end(), [&](int32_t zero) { return zero == zeros[0]; })) {
    zeros.resize(1);
  }
  const PanelProduct product(b, tap_offsets, zeros, kernels, sink, 0);

  const int64_t products = block_rows * a.columns * b.columns / chunks;
  workers.run(blocks * chunks, products / 64 + 1000, [&](int64_t begin, int64_t end) {
    PackedRows rows(a, a_zero, b.format, kernels, block_rows);
    std::vector<int32_t> sums(product.needs_row_sums() ? block_rows : 0);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = unit / blocks, first = unit % blocks * block_rows;
      const int64_t count = std::min(block_rows, a.rows - first);
      rows.Load(first, count);
      for (int64_t r = 0; r < std::min<int64_t>(count, sums.size()); ++r) {
        sums[r] = product.RowSum(rows.Row(r));
      }
      product.Run(
          b.panels() * chunk / chunks, b.panels() * (chunk + 1) / chunks, count,
          [&](int64_t r) { return rows.Row(r); }, sums.empty() ? nullptr : sums.data(), first,
          first_row + first);
    }
  });
}

}  // namespace tf_qops
