#include <cstring>

#include "cc/core/product_tile.h"

namespace tf_qops {
namespace {

struct PortableWords {
  struct Panel {
    uint32_t lanes[kPanel];
  };

  template <typename T>
  static Panel Load(const T* from) {
    Panel panel;
    std::memcpy(panel.lanes, from, sizeof(panel.lanes));
    return panel;
  }
  static Panel LoadPanel(const Lane* from) { return Load(from); }
  static Panel LoadSums(const int32_t* from) { return Load(from); }
  static void StoreSums(int32_t* to, const Panel& sums) {
    std::memcpy(to, sums.lanes, sizeof(sums.lanes));
  }
  static Panel BroadcastLane(const Lane* from) {
    Panel panel;
    for (Lane& lane : panel.lanes) lane = *from;
    return panel;
  }
  static Panel MultiplyAdd(Panel sums, const Panel& x, const Panel& w) {
    const auto low = [](Lane lane) { return static_cast<int16_t>(lane); };
    const auto high = [](Lane lane) { return static_cast<int16_t>(lane >> 16); };
    for (int j = 0; j < kPanel; ++j) {
      const Lane a = x.lanes[j], b = w.lanes[j];
      sums.lanes[j] += static_cast<uint32_t>(low(a) * low(b) + high(a) * high(b));
    }
    return sums;
  }
};

void Requantize(const int32_t* acc, int64_t count, const int32_t* bias, const float* scale,
                const CodeRange& range, uint8_t* y) {
  for (int64_t j = 0; j < count; ++j) {
    const uint32_t sum = static_cast<uint32_t>(acc[j]) + static_cast<uint32_t>(bias[j]);
    const float value = static_cast<float>(static_cast<int32_t>(sum)) * scale[j];
    y[j] = static_cast<uint8_t>(range.Quantize(value));
  }
}

int16_t Difference(uint8_t code, bool is_signed, int32_t zero_point) {
  return static_cast<int16_t>((is_signed ? static_cast<int8_t>(code) : code) - zero_point);
}

void Pack(const uint8_t* codes, bool is_signed, int64_t count, int32_t zero_point, Lane* to) {
  auto* words = reinterpret_cast<char*>(to);
  for (int64_t i = 0; i < count; ++i, words += sizeof(int16_t)) {
    const int16_t word = Difference(codes[i], is_signed, zero_point);
    std::memcpy(words, &word, sizeof(word));
  }
}

void Interleave(const uint8_t* codes, int64_t step, bool is_signed, int64_t count,
                int32_t zero_point, Lane* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t low = Difference(codes[i], is_signed, zero_point);
    const uint16_t high = Difference(codes[i + step], is_signed, zero_point);
    to[i] = low | static_cast<Lane>(high) << 16;
  }
}

ProductKernels MakeKernels() {
  ProductKernels kernels{};
  kernels.format = LaneFormat::kWords;
  AddDense<PortableWords, 1>(std::make_integer_sequence<int, 4>(), &kernels);
  AddDepthwise<PortableWords>(std::make_integer_sequence<int, 4>(), &kernels);
  kernels.requantize = Requantize;
  kernels.pack = Pack;
  kernels.interleave = Interleave;
  return kernels;
}

}  // namespace

const ProductKernels& ProductKernelsPortable() {
  static const ProductKernels kernels = MakeKernels();
  return kernels;
}

}  // namespace tf_qops
