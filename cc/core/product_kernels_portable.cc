#include <algorithm>
#include <cstring>

#include "cc/core/product_tile.h"

namespace tf_qops {
namespace {

struct PortableWords {
  static constexpr bool kHasTerms = false;
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
  struct Quantizer {
    explicit Quantizer(const CodeRange& code_range) : range(code_range) {}

    template <int kPanels>
    void Store(const Panel (&sums)[kPanels], const float* scale, int64_t columns,
               uint8_t* y) const {
      for (int64_t j = 0; j < columns; ++j) {
        const auto sum = static_cast<int32_t>(sums[j / kPanel].lanes[j % kPanel]);
        y[j] = static_cast<uint8_t>(range.Quantize(static_cast<float>(sum) * scale[j]));
      }
    }

    const CodeRange& range;
  };

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

void Requantize(const int32_t* acc, int64_t count, const CodesOutput& output) {
  const PortableWords::Quantizer quantizer(output.range);
  for (int64_t j = 0; j < count; j += kPanel) {
    PortableWords::Panel sums[1] = {PortableWords::LoadSums(acc + j)};
    for (int i = 0; i < kPanel; ++i) sums[0].lanes[i] += static_cast<uint32_t>(output.bias[j + i]);
    quantizer.Store<1>(sums, output.scale + j, std::min<int64_t>(kPanel, count - j), output.y + j);
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
                int32_t zero_point, int64_t panel_step, Lane* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t low = Difference(codes[i], is_signed, zero_point);
    const uint16_t high = Difference(codes[i + step], is_signed, zero_point);
    to[i / kPanel * panel_step + i % kPanel] = low | static_cast<Lane>(high) << 16;
  }
}

ProductKernels MakeKernels() {
  ProductKernels kernels{};
  kernels.format = LaneFormat::kWords;
  AddDense<PortableWords, 1>(std::make_integer_sequence<int, 4>(), &kernels);
  AddDepthwise<PortableWords, 1>(std::make_integer_sequence<int, 4>(), &kernels);
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
