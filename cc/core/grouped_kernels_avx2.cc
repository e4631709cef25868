#include <cstring>

#include "cc/core/codes_avx2.h"
#include "cc/core/grouped_panels.h"
#include "cc/core/product_kernels.h"

namespace tf_qops {
namespace {

constexpr int kRegister = 8;  // Lanes.
constexpr int kTileRows = 4;

__m256i Load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void Store(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

__m256i Broadcast(const Lane* from) {
  return _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(from)));
}

// Hides where a pointer comes from, so that what it points to is read again instead of being kept
// in registers, which are needed for sums.
const Lane* Hidden(const Lane* p) {
  asm volatile("" : "+r"(p));
  return p;
}

// Sums of some rows and a panel, in registers.
template <int kRows>
class GroupedSums {
 public:
  __attribute__((always_inline)) explicit GroupedSums(const Tile& tile)
      : offset_(tile.tap_offsets), w_(tile.w) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      x_[r] = tile.x[r];
      low_[r] = Load(tile.start);
      high_[r] = Load(tile.start + kRegister);
    }
    AddGroups<0>(tile.group_counts);
    AddGroups<1>(tile.group_counts);
    AddGroups<2>(tile.group_counts);
    AddGroups<3>(tile.group_counts);
    AddGroups<4>(tile.group_counts);
    AddGroups<5>(tile.group_counts);
    AddGroups<6>(tile.group_counts);
    for (int i = 0; i < tile.term_count; ++i) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m256i row = _mm256_set1_epi32(tile.terms[i].rows[r]);
        const int32_t* columns = tile.terms[i].columns;
        low_[r] = _mm256_add_epi32(low_[r], _mm256_mullo_epi32(row, Load(columns)));
        high_[r] = _mm256_add_epi32(high_[r], _mm256_mullo_epi32(row, Load(columns + kRegister)));
      }
    }
  }

  __m256i low(int r) const { return low_[r]; }
  __m256i high(int r) const { return high_[r]; }

 private:
  template <int kKind>
  __attribute__((always_inline)) void AddGroups(const int64_t* counts) {
    constexpr int kQuads = kGroupKindTable[kKind].quads;
    constexpr bool kComplemented = kGroupKindTable[kKind].complemented;
    constexpr int kRegisters = 2 * (kQuads + (kComplemented ? 1 : 0));
    constexpr int kKept = kRegisters < 3 ? kRegisters : 3;
    __m256i ones = _mm256_set1_epi16(1);
    asm("" : "+x"(ones));  // In a register, too.
    for (int64_t count = counts[kKind]; count > 0; --count) {
      __m256i kept[kKept];
#pragma GCC unroll 4
      for (int i = 0; i < kKept; ++i) kept[i] = Load(w_ + i * kRegister);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const Lane* again = Hidden(w_);
        const auto w = [&](int i) __attribute__((always_inline)) {
          return i < kKept ? kept[i] : Load(again + i * kRegister);
        };
        __m256i low, high;
#pragma GCC unroll 4
        for (int q = 0; q < kQuads; ++q) {
          __m256i x_low = Broadcast(x_[r] + offset_[q]), x_high = x_low;
          if (kComplemented && q == kQuads - 1) {
            x_low = _mm256_xor_si256(x_low, w(2 * kQuads));
            x_high = _mm256_xor_si256(x_high, w(2 * kQuads + 1));
          }
          const __m256i more_low = _mm256_maddubs_epi16(x_low, w(2 * q));
          const __m256i more_high = _mm256_maddubs_epi16(x_high, w(2 * q + 1));
          low = q == 0 ? more_low : _mm256_add_epi16(low, more_low);
          high = q == 0 ? more_high : _mm256_add_epi16(high, more_high);
        }
        low_[r] = _mm256_add_epi32(low_[r], _mm256_madd_epi16(low, ones));
        high_[r] = _mm256_add_epi32(high_[r], _mm256_madd_epi16(high, ones));
      }
      offset_ += kQuads;
      w_ = Hidden(w_ + kRegisters * kRegister);
    }
  }

  const int64_t* offset_;
  const Lane* w_;
  const Lane* x_[kRows];
  __m256i low_[kRows], high_[kRows];
};

template <int kRows>
void Multiply(const Tile& tile) {
  const GroupedSums<kRows> sums(tile);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    Store(tile.acc + r * kPanel, sums.low(r));
    Store(tile.acc + r * kPanel + kRegister, sums.high(r));
  }
}

template <int kRows>
void MultiplyToCodes(const Tile& tile, const CodesOutput& output, int64_t columns) {
  const GroupedSums<kRows> sums(tile);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    StoreCodes(sums.low(r), sums.high(r), output.scale, output.range, columns,
               output.y + r * output.row_step);
  }
}

void Pack(const uint8_t* codes, bool is_signed, int64_t count, int32_t /*zero_point*/, Lane* to) {
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  if (!is_signed) {
    if (count > 0) std::memcpy(bytes, codes, count);
    return;
  }
  const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) Store(bytes + i, _mm256_xor_si256(Load(codes + i), sign));
  for (; i < count; ++i) bytes[i] = codes[i] ^ 0x80;
}

int32_t Sum(const Lane* x, int64_t lanes) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(x);
  __m256i sums = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + 32 <= 4 * lanes; i += 32) {
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(Load(bytes + i), _mm256_setzero_si256()));
  }
  int64_t quarters[4];
  Store(quarters, sums);
  int64_t sum = quarters[0] + quarters[1] + quarters[2] + quarters[3];
  for (; i < 4 * lanes; ++i) sum += bytes[i];
  return static_cast<int32_t>(sum);
}

template <int... kRows>
void AddRows(std::integer_sequence<int, kRows...>, ProductKernels* kernels) {
  ((kernels->dense[1][kRows + 1] = Multiply<kRows + 1>), ...);
  ((kernels->dense_codes[1][kRows + 1] = MultiplyToCodes<kRows + 1>), ...);
}

ProductKernels MakeKernels() {
  ProductKernels kernels = ProductKernelsAvx2();
  kernels.format = LaneFormat::kBytes;
  kernels.most_rows[1] = kTileRows;
  AddRows(std::make_integer_sequence<int, kTileRows>(), &kernels);
  kernels.pack = Pack;
  kernels.sum = Sum;
  return kernels;
}

}  // namespace

const ProductKernels& GroupedKernelsAvx2() {
  static const ProductKernels kernels = MakeKernels();
  return kernels;
}

}  // namespace tf_qops
