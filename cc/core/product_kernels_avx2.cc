#include <algorithm>

#include "cc/core/codes_avx2.h"
#include "cc/core/product_tile.h"

namespace tf_qops {
namespace {

__m256i Load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void Store(void* p, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

struct Avx2Words {
  static constexpr bool kHasTerms = false;
  struct Panel {
    __m256i low, high;
  };

  static Panel LoadPanel(const Lane* from) { return {Load(from), Load(from + 8)}; }
  static Panel LoadSums(const int32_t* from) { return {Load(from), Load(from + 8)}; }
  static void StoreSums(int32_t* to, const Panel& sums) {
    Store(to, sums.low);
    Store(to + 8, sums.high);
  }
  static Panel BroadcastLane(const Lane* from) {
    const __m256i lane =
        _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(from)));
    return {lane, lane};
  }
  struct Quantizer {
    explicit Quantizer(const CodeRange& code_range) : range(code_range) {}

    template <int kPanels>
    void Store(const Panel (&sums)[kPanels], const float* scale, int64_t columns,
               uint8_t* y) const {
      static_assert(kPanels == 1, "the registers hold no more");
      StoreCodes(sums[0].low, sums[0].high, scale, range, columns, y);
    }

    const CodeRange& range;
  };

  static Panel MultiplyAdd(const Panel& sums, const Panel& x, const Panel& w) {
    return {_mm256_add_epi32(sums.low, _mm256_madd_epi16(x.low, w.low)),
            _mm256_add_epi32(sums.high, _mm256_madd_epi16(x.high, w.high))};
  }
};

void Requantize(const int32_t* acc, int64_t count, const CodesOutput& output) {
  const Avx2Words::Quantizer quantizer(output.range);
  for (int64_t j = 0; j < count; j += kPanel) {
    const Avx2Words::Panel sums[1] = {
        {_mm256_add_epi32(Load(acc + j), Load(output.bias + j)),
         _mm256_add_epi32(Load(acc + j + 8), Load(output.bias + j + 8))}};
    quantizer.Store<1>(sums, output.scale + j, std::min<int64_t>(kPanel, count - j), output.y + j);
  }
}

// Sixteen codes minus their zero point.
__m256i Differences(const uint8_t* codes, bool is_signed, __m256i zero_point) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  return _mm256_sub_epi16(is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes),
                          zero_point);
}

int16_t Difference(uint8_t code, bool is_signed, int32_t zero_point) {
  return static_cast<int16_t>((is_signed ? static_cast<int8_t>(code) : code) - zero_point);
}

void Pack(const uint8_t* codes, bool is_signed, int64_t count, int32_t zero_point, Lane* to) {
  auto* words = reinterpret_cast<int16_t*>(to);
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) Store(words + i, Differences(codes + i, is_signed, zero));
  for (; i < count; ++i) words[i] = Difference(codes[i], is_signed, zero_point);
}

void Interleave(const uint8_t* codes, int64_t step, bool is_signed, int64_t count,
                int32_t zero_point, int64_t panel_step, Lane* to) {
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
  int64_t i = 0;
  for (; i + kPanel <= count; i += kPanel, to += panel_step) {
    const __m256i even = Differences(codes + i, is_signed, zero);
    const __m256i odd = Differences(codes + i + step, is_signed, zero);
    const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
    Store(to, _mm256_permute2x128_si256(low, high, 0x20));
    Store(to + 8, _mm256_permute2x128_si256(low, high, 0x31));
  }
  for (; i < count; ++i, ++to) {
    const uint16_t low = Difference(codes[i], is_signed, zero_point);
    const uint16_t high = Difference(codes[i + step], is_signed, zero_point);
    *to = low | static_cast<Lane>(high) << 16;
  }
}

ProductKernels MakeKernels() {
  ProductKernels kernels{};
  kernels.format = LaneFormat::kWords;
  AddDense<Avx2Words, 1>(std::make_integer_sequence<int, 6>(), &kernels);
  AddDepthwise<Avx2Words, 1>(std::make_integer_sequence<int, 4>(), &kernels);
  kernels.requantize = Requantize;
  kernels.pack = Pack;
  kernels.interleave = Interleave;
  return kernels;
}

}  // namespace

const ProductKernels& ProductKernelsAvx2() {
  static const ProductKernels kernels = MakeKernels();
  return kernels;
}

}  // namespace tf_qops
