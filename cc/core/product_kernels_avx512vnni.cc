#include <immintrin.h>

#include <cstring>

#include "cc/core/product_tile.h"

namespace tf_qops {
namespace {

__m512i Load(const void* p) { return _mm512_loadu_si512(p); }

struct VnniBytes {
  using Panel = __m512i;
  static constexpr bool kHasTerms = true;

  static Panel LoadPanel(const Lane* from) { return Load(from); }
  static Panel LoadSums(const int32_t* from) { return Load(from); }
  static void StoreSums(int32_t* to, Panel sums) { _mm512_storeu_si512(to, sums); }
  static Panel BroadcastLane(const Lane* from) {
    int32_t lane;
    std::memcpy(&lane, from, sizeof(lane));
    return _mm512_set1_epi32(lane);
  }
  static Panel AddProduct(Panel sums, int32_t row, const int32_t* columns) {
    return _mm512_add_epi32(sums, _mm512_mullo_epi32(_mm512_set1_epi32(row), Load(columns)));
  }
  static Panel MultiplyAdd(Panel sums, Panel x, Panel w) { return _mm512_dpbusd_epi32(sums, x, w); }

  class Quantizer {
   public:
    explicit Quantizer(const CodeRange& range)
        : low_(_mm512_set1_ps(range.low)),
          high_(_mm512_set1_ps(range.high)),
          zero_point_(_mm512_set1_epi32(range.zero_point)) {}

    template <int kPanels>
    void Store(const Panel (&sums)[kPanels], const float* scale, int64_t columns,
               uint8_t* y) const {
      if constexpr (kPanels == 4) {
        if (columns >= 64) {
          _mm512_storeu_si512(y, Bytes(Codes(sums[0], scale), Codes(sums[1], scale + 16),
                                       Codes(sums[2], scale + 32), Codes(sums[3], scale + 48)));
          return;
        }
      }
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p, columns -= kPanel, y += kPanel) {
        const __m128i bytes = _mm512_cvtepi32_epi8(Codes(sums[p], scale + p * kPanel));
        if (columns >= kPanel) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
        } else {
          _mm_mask_storeu_epi8(y, (1u << columns) - 1, bytes);
        }
      }
    }

   private:
    // As int32. Clamping comes before the conversion, which is wrong beyond 2^31; max gives `low`
    // for NaN.
    Panel Codes(Panel sums, const float* scale) const {
      const __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(scale));
      const __m512 clamped = _mm512_min_ps(_mm512_max_ps(value, low_), high_);
      return _mm512_add_epi32(_mm512_cvtps_epi32(clamped), zero_point_);
    }

    // The low bytes of 64 codes. Packing works on quarters of the registers, hence the order.
    static __m512i Bytes(Panel a, Panel b, Panel c, Panel d) {
      const __m512i low_byte = _mm512_set1_epi32(0xff);
      const auto words = [&](Panel first, Panel second) {
        return _mm512_packus_epi32(_mm512_and_si512(first, low_byte),
                                   _mm512_and_si512(second, low_byte));
      };
      const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(words(a, b), words(c, d)));
    }

    const __m512 low_, high_;
    const __m512i zero_point_;
  };
};

void Requantize(const int32_t* acc, int64_t count, const CodesOutput& output) {
  const VnniBytes::Quantizer quantizer(output.range);
  for (int64_t j = 0; j < count; j += kPanel) {
    const __m512i sums[1] = {_mm512_add_epi32(Load(acc + j), Load(output.bias + j))};
    quantizer.Store<1>(sums, output.scale + j, count - j, output.y + j);
  }
}

void Pack(const uint8_t* codes, bool is_signed, int64_t count, int32_t /*zero_point*/, Lane* to) {
  if (!is_signed && count > 0) std::memcpy(to, codes, count);
  if (!is_signed) return;
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  for (int64_t i = 0; i < count; i += 64) {
    const __mmask64 inside = count - i < 64 ? (uint64_t{1} << (count - i)) - 1 : ~uint64_t{0};
    const __m512i read = _mm512_maskz_loadu_epi8(inside, codes + i);
    _mm512_mask_storeu_epi8(bytes + i, inside, _mm512_xor_si512(read, sign));
  }
}

// Sixty-four lanes of four columns of bytes.
void InterleaveBlock(const uint8_t* codes, int64_t step, __m512i sign, int64_t panel_step,
                     Lane* to) {
  const auto column = [&](int i) { return _mm512_xor_si512(Load(codes + i * step), sign); };
  const __m512i a = column(0), b = column(1), c = column(2), d = column(3);
  const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
  // Quarter q of part i holds lanes 16 * q + 4 * i and on.
  const __m512i parts[] = {
      _mm512_unpacklo_epi16(ab_low, cd_low), _mm512_unpackhi_epi16(ab_low, cd_low),
      _mm512_unpacklo_epi16(ab_high, cd_high), _mm512_unpackhi_epi16(ab_high, cd_high)};
  const __m512i first = _mm512_shuffle_i32x4(parts[0], parts[1], 0x44);
  const __m512i second = _mm512_shuffle_i32x4(parts[2], parts[3], 0x44);
  const __m512i third = _mm512_shuffle_i32x4(parts[0], parts[1], 0xee);
  const __m512i fourth = _mm512_shuffle_i32x4(parts[2], parts[3], 0xee);
  _mm512_storeu_si512(to, _mm512_shuffle_i32x4(first, second, 0x88));
  _mm512_storeu_si512(to + panel_step, _mm512_shuffle_i32x4(first, second, 0xdd));
  _mm512_storeu_si512(to + 2 * panel_step, _mm512_shuffle_i32x4(third, fourth, 0x88));
  _mm512_storeu_si512(to + 3 * panel_step, _mm512_shuffle_i32x4(third, fourth, 0xdd));
}

void Interleave(const uint8_t* codes, int64_t step, bool is_signed, int64_t count,
                int32_t /*zero_point*/, int64_t panel_step, Lane* to) {
  const __m512i sign = _mm512_set1_epi8(is_signed ? static_cast<char>(0x80) : 0);
  int64_t i = 0;
  for (; i + 4 * kPanel <= count; i += 4 * kPanel, to += 4 * panel_step) {
    InterleaveBlock(codes + i, step, sign, panel_step, to);
  }
  for (; i < count; i += kPanel, to += panel_step) {
    const __mmask16 inside = count - i < kPanel ? (1u << (count - i)) - 1 : 0xffff;
    __m512i lanes = sign;
    for (int group = 0; group < 4; ++group) {
      const __m512i bytes =
          _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(inside, codes + i + group * step));
      lanes = _mm512_xor_si512(lanes, _mm512_sllv_epi32(bytes, _mm512_set1_epi32(8 * group)));
    }
    _mm512_mask_storeu_epi32(to, inside, lanes);
  }
}

int32_t Sum(const Lane* x, int64_t lanes) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int64_t i = 0; i < lanes; i += kPanel) {
    const __mmask16 inside = lanes - i < kPanel ? (1u << (lanes - i)) - 1 : 0xffff;
    sums = _mm512_dpbusd_epi32(sums, _mm512_maskz_loadu_epi32(inside, x + i), ones);
  }
  return _mm512_reduce_add_epi32(sums);
}

ProductKernels MakeKernels() {
  ProductKernels kernels{};
  kernels.format = LaneFormat::kBytes;
  AddDense<VnniBytes, 1>(std::make_integer_sequence<int, 12>(), &kernels);
  AddDense<VnniBytes, 2>(std::make_integer_sequence<int, 12>(), &kernels);
  AddDense<VnniBytes, 3>(std::make_integer_sequence<int, 8>(), &kernels);
  AddDense<VnniBytes, 4>(std::make_integer_sequence<int, 6>(), &kernels);
  AddDepthwise<VnniBytes, 1>(std::make_integer_sequence<int, 8>(), &kernels);
  AddDepthwise<VnniBytes, 2>(std::make_integer_sequence<int, 8>(), &kernels);
  AddDepthwise<VnniBytes, 3>(std::make_integer_sequence<int, 6>(), &kernels);
  AddDepthwise<VnniBytes, 4>(std::make_integer_sequence<int, 4>(), &kernels);
  kernels.requantize = Requantize;
  kernels.pack = Pack;
  kernels.interleave = Interleave;
  kernels.sum = Sum;
  return kernels;
}

}  // namespace

const ProductKernels& ProductKernelsAvx512Vnni() {
  static const ProductKernels kernels = MakeKernels();
  return kernels;
}

}  // namespace tf_qops
