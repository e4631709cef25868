// Every algorithm and instruction set gives the bits of QLinearConvReference.

#include "cc/core/qlinear_conv.h"

#include "cc/core/banded_conv.h"
#include "tests/cc/check.h"
#include "tests/cc/workers.h"

namespace tf_qops {
namespace {

std::vector<uint8_t> RandomBytes(Random* random, int64_t count, bool extremes) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(extremes ? 127 + (*random)(0, 1) + 128 * (*random)(0, 1)
                                         : (*random)(0, 255));
  }
  return bytes;
}

ConvolutionAttributes RandomAttributes(Random* random, size_t spatial_rank) {
  ConvolutionAttributes a;
  a.channels_last = (*random)(0, 1) == 1;
  a.auto_pad = static_cast<AutoPad>((*random)(0, 3));
  for (size_t i = 0; i < spatial_rank; ++i) {
    a.strides.push_back((*random)(1, 3));
    a.dilations.push_back((*random)(1, 2));
  }
  if (a.auto_pad == AutoPad::kNotSet) {
    for (size_t i = 0; i < 2 * spatial_rank; ++i) a.pads.push_back((*random)(0, 4));
  }
  const int64_t kGroups[] = {1, 1, 2, 3, 16, 20};
  a.group = kGroups[(*random)(0, 5)];
  return a;
}

void CompareOnce(Random* random) {
  const size_t rank = (*random)(1, 3);
  const ConvolutionAttributes a = RandomAttributes(random, rank);
  const int64_t per_group = (*random)(0, 1) == 1 ? 1 : (*random)(0, 9);
  const int64_t filters = a.group * (a.group > 3 ? (*random)(1, 2) : (*random)(1, 35));
  Dims x_dims{(*random)(0, 2)}, w_dims{filters, per_group};
  if (!a.channels_last) x_dims.push_back(a.group * per_group);
  for (size_t i = 0; i < rank; ++i) {
    x_dims.push_back((*random)(rank == 1 ? 40 : 1, rank == 1 ? 300 : rank == 2 ? 20 : 6));
    w_dims.push_back((*random)(1, 4));
  }
  if (a.channels_last) x_dims.push_back(a.group * per_group);
  const auto resolved = ResolveConvolution(a, x_dims, w_dims);
  if (!resolved.ok()) return;  // A kernel larger than the padded input.
  const ConvolutionGeometry& g = resolved->geometry;

  const bool extremes = (*random)(0, 3) == 0;
  const auto x_bytes = RandomBytes(random, g.batch * g.channels * g.input_pixels(), extremes);
  const auto w_bytes = RandomBytes(random, filters * per_group * g.taps(), extremes);
  const Bytes x{x_bytes.data(), (*random)(0, 1) == 1}, w{w_bytes.data(), (*random)(0, 1) == 1};
  const auto zero_bytes = RandomBytes(random, 2, extremes);
  const int32_t x_zero = Bytes{zero_bytes.data(), x.is_signed}[0];
  const auto w_zero_bytes = RandomBytes(random, filters, extremes);
  const auto w_zero = WeightZeroPoints({w_zero_bytes.data(), w.is_signed}, filters, filters);
  const bool y_signed = (*random)(0, 1) == 1;
  std::vector<float> w_scale(filters);
  std::vector<int32_t> bias(filters);
  for (int64_t m = 0; m < filters; ++m) {
    w_scale[m] = static_cast<float>((*random)(1, 1000)) / 4096.0f;
    bias[m] = static_cast<int32_t>((*random)(-100000, 100000));
    if ((*random)(0, 20) == 0) bias[m] = INT32_MAX - 5;
  }
  const float y_scale = (*random)(0, 9) == 0 ? 0.0f : static_cast<float>((*random)(1, 99)) * 0.1f;
  const Requantization requantization(
      ConvolutionScales(0.031f, w_scale.data(), filters, y_scale, filters), bias.data(),
      ByteRange(y_signed, Bytes{zero_bytes.data(), y_signed}[1]));

  const OutputPlaces places = OutputPlaces::Of(g);
  const std::vector<int32_t> sums = ConvolutionSumsReference(g, x, x_zero, w, w_zero);
  std::vector<int32_t> expected_sums(sums.size());
  std::vector<uint8_t> expected(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t row = i / filters, filter = i % filters;
    expected_sums[places.Offset(row, filter)] = sums[i];
    expected[places.Offset(row, filter)] =
        static_cast<uint8_t>(requantization.Apply(sums[i], filter));
  }

  CHECK(FitsBands(g));
  for (InstructionSet isa : UsableInstructionSets()) {
    for (Algorithm algorithm : AlgorithmsOf(isa)) {
      const PackedFilters packed = PackFilters(g, w, w_zero, isa, algorithm);
      CHECK(packed.depthwise || packed.groups[0].algorithm == algorithm) << NameOf(algorithm);
      for (const Workers& workers : {Serial(), TwoThreads()}) {
        std::vector<uint8_t> y(sums.size(), 0x5a);
        std::vector<int32_t> y_sums(sums.size(), 0x5a);
        const CodesSink codes(places, requantization, isa, y.data());
        BandedConv(g, x, x_zero, packed, codes, workers, isa);
        BandedConv(g, x, x_zero, packed, Int32Sink(places, y_sums.data()), workers, isa);
        CHECK(y == expected && y_sums == expected_sums)
            << NameOf(isa) << ' ' << NameOf(algorithm) << ", " << workers.threads << " threads, x "
            << Show{x_dims} << ", w " << Show{w_dims} << ", group " << a.group << ", channels last "
            << a.channels_last;
      }
    }
  }
}

// 2 * 255 * 127 = 64770 saturates to 32767 in peers that add pairs of products in int16
// (github.com/microsoft/onnxruntime/issues/6004).
void PairsOfLargeProductsDoNotSaturate() {
  const uint8_t x[] = {255, 255};
  const int8_t w[] = {127, 127};
  const auto resolved = ResolveConvolution({}, Dims{1, 2, 1, 1}, Dims{1, 2, 1, 1});
  const ConvolutionGeometry& g = resolved->geometry;

  const Requantization requantization({1.0f / 300.0f}, nullptr, ByteRange(false, 0));
  for (InstructionSet isa : UsableInstructionSets()) {
    for (Algorithm algorithm : AlgorithmsOf(isa)) {
      const PackedFilters packed = PackFilters(g, {w, true}, {0}, isa, algorithm);
      uint8_t y = 0;
      const CodesSink sink(OutputPlaces::Of(g), requantization, isa, &y);
      BandedConv(g, {x, false}, 0, packed, sink, Serial(), isa);
      CHECK(y == 216) << NameOf(isa) << ' ' << NameOf(algorithm) << ": " << int{y};  // 64770 / 300
    }
  }
}

}  // namespace
}  // namespace tf_qops

int main() {
  tf_qops::Random random(20);
  for (int i = 0; i < 1500; ++i) tf_qops::CompareOnce(&random);
  tf_qops::PairsOfLargeProductsDoNotSaturate();
  return 0;
}
