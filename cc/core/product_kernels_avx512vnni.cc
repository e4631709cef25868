#include <immintrin.h>

#include <cstring>

#include "cc/core/product_tile.h"

namespace tf_qops {
namespace {

__m512i Load(const void* p) { return _mm512_loadu_si512(p); }

struct VnniBytes {
  using Panel = __m512i;

  static Panel LoadPanel(const Lane* from) { return Load(from); }
  static Panel LoadSums(const int32_t* from) { return Load(from); }
  static void StoreSums(int32_t* to, Panel sums) { _mm512_storeu_si512(to, sums); }
  static Panel BroadcastLane(const Lane* from) {
    int32_t lane;
    std::memcpy(&lane, from, sizeof(lane));
    return _mm512_set1_epi32(lane);
  }
  static Panel MultiplyAdd(Panel sums, Panel x, Panel w) { return _mm512_dpbusd_epi32(sums, x, w); }
};

void Requantize(const int32_t* acc, int64_t count, const int32_t* bias, const float* scale,
                const CodeRange& range, uint8_t* y) {
  const __m512 low = _mm512_set1_ps(range.low), high = _mm512_set1_ps(range.high);
  const __m512i zero_point = _mm512_set1_epi32(range.zero_point);
  for (int64_t j = 0; j < count; j += kPanel) {
    const __m512i sum = _mm512_add_epi32(Load(acc + j), Load(bias + j));
    __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(scale + j));
    // Clamping comes first: the conversion is wrong beyond 2^31, and max gives `low` for NaN.
    value = _mm512_min_ps(_mm512_max_ps(value, low), high);
    const __m512i codes = _mm512_add_epi32(_mm512_cvtps_epi32(value), zero_point);
    const __mmask16 inside = count - j < kPanel ? (1u << (count - j)) - 1 : 0xffff;
    _mm_mask_storeu_epi8(y + j, inside, _mm512_cvtepi32_epi8(codes));
  }
}

void Pack(const uint8_t* codes, bool is_signed, int64_t count, int32_t /*zero_point*/, Lane* to) {
  if (!is_signed) {
    std::memcpy(to, codes, count);
    return;
  }
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  for (int64_t i = 0; i < count; i += 64) {
    const __mmask64 inside = count - i < 64 ? (uint64_t{1} << (count - i)) - 1 : ~uint64_t{0};
    const __m512i read = _mm512_maskz_loadu_epi8(inside, codes + i);
    _mm512_mask_storeu_epi8(bytes + i, inside, _mm512_xor_si512(read, sign));
  }
}

void Interleave(const uint8_t* codes, int64_t step, bool is_signed, int64_t count,
                int32_t /*zero_point*/, Lane* to) {
  const __m512i sign = _mm512_set1_epi8(is_signed ? static_cast<char>(0x80) : 0);
  for (int64_t i = 0; i < count; i += kPanel) {
    const __mmask16 inside = count - i < kPanel ? (1u << (count - i)) - 1 : 0xffff;
    __m512i lanes = sign;
    for (int group = 0; group < 4; ++group) {
      const __m512i bytes =
          _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(inside, codes + i + group * step));
      lanes = _mm512_xor_si512(lanes, _mm512_sllv_epi32(bytes, _mm512_set1_epi32(8 * group)));
    }
    _mm512_mask_storeu_epi32(to + i, inside, lanes);
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
  AddDepthwise<VnniBytes>(std::make_integer_sequence<int, 12>(), &kernels);
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
