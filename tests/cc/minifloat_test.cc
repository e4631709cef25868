// Every code of every narrow format, and rounding to it by search among all its codes.

#include "cc/core/minifloat.h"

#include <limits>
#include <vector>

#include "tests/cc/check.h"

namespace tf_qops {
namespace {

template <typename Format>
std::vector<uint32_t> FiniteMagnitudes() {
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code <= Format::kLargest; ++code) codes.push_back(code);
  return codes;
}

template <typename Format>
float Value(uint32_t code) {
  return Format{static_cast<decltype(Format::bits)>(code)}.ToFloat();
}

template <typename Format>
void EveryCodeComesBack(const char* name) {
  for (uint32_t code = 0; code <= (Format::kSign | Format::kAllOnes); ++code) {
    const float value = Value<Format>(code);
    if (std::isnan(value)) {
      CHECK(std::isnan(Format::FromFloat(value, true).ToFloat())) << name << ' ' << code;
      continue;
    }
    CHECK(Format::FromFloat(value, false).bits == code) << name << ' ' << code << ' ' << value;
  }
}

// The nearest finite code, the even one of two; a distance to infinity does not count.
template <typename Format>
uint32_t NearestBySearch(float magnitude) {
  uint32_t best = 0;
  for (uint32_t code : FiniteMagnitudes<Format>()) {
    const double distance = std::fabs(double{Value<Format>(code)} - magnitude);
    const double least = std::fabs(double{Value<Format>(best)} - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best;
}

template <typename Format>
void RoundsToTheNearest(const char* name, int samples) {
  Random random(7);
  const float largest = Value<Format>(Format::kLargest);
  std::vector<float> values;
  for (uint32_t code : FiniteMagnitudes<Format>()) {
    if (code == Format::kLargest || (samples < 1000 && random(0, 99) > 0)) continue;
    // The middle of two codes, and the floats next to it.
    const float middle = Value<Format>(code) / 2 + Value<Format>(code + 1) / 2;
    for (float v : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      values.push_back(v);
    }
  }
  for (int i = 0; i < samples; ++i) {
    values.push_back(std::ldexp(largest, -static_cast<int>(random(0, 40))) *
                     static_cast<float>(random(1, 1 << 24)) / (1 << 24));
  }
  for (float value : values) {
    const uint32_t want = NearestBySearch<Format>(value);
    CHECK(Format::FromFloat(value, true).bits == want) << name << ' ' << value;
    const uint32_t negative = want == 0 && Value<Format>(Format::kSign) != 0.0f
                                  ? 0  // A format without -0.
                                  : want | Format::kSign;
    CHECK(Format::FromFloat(-value, true).bits == negative) << name << ' ' << -value;
  }
}

// ONNX's table of saturation: largest number, or infinity, or NaN.
template <typename Format>
void Overflows(const char* name, float without_saturation) {
  const float largest = Value<Format>(Format::kLargest);
  for (float value : {largest * 1.5f, 3e38f, std::numeric_limits<float>::infinity()}) {
    CHECK(Format::FromFloat(value, true).ToFloat() == largest) << name << ' ' << value;
    CHECK(Format::FromFloat(-value, true).ToFloat() == -largest) << name << ' ' << value;
    const float got = Format::FromFloat(value, false).ToFloat();
    CHECK(got == without_saturation || (std::isnan(got) && std::isnan(without_saturation)))
        << name << ' ' << value << ' ' << got;
  }
}

template <typename Format>
void Check(const char* name, float largest, float smallest, float beyond, int samples = 3000) {
  CHECK(Value<Format>(Format::kLargest) == largest) << name;
  CHECK(Value<Format>(1) == smallest) << name;
  EveryCodeComesBack<Format>(name);
  RoundsToTheNearest<Format>(name, samples);
  Overflows<Format>(name, beyond);
}

void BFloat16RoundsToEven() {
  CHECK(BFloat16::FromFloat(FloatOf(0x3f808000u)).bits == 0x3f80) << "tie to even, down";
  CHECK(BFloat16::FromFloat(FloatOf(0x3f818000u)).bits == 0x3f82) << "tie to even, up";
  CHECK(BFloat16::FromFloat(FloatOf(0x3f808001u)).bits == 0x3f81) << "above a tie";
  CHECK(std::isnan(BFloat16::FromFloat(FloatOf(0x7f800001u)).ToFloat())) << "NaN stays NaN";
  for (uint32_t code = 0; code <= 0xffff; ++code) {
    const float value = BFloat16{static_cast<uint16_t>(code)}.ToFloat();
    CHECK(std::isnan(value) || BFloat16::FromFloat(value).bits == code) << code;
  }
}

}  // namespace
}  // namespace tf_qops

// Largest and smallest numbers as in the OCP and ONNX tables of the formats.
int main() {
  using namespace tf_qops;  // NOLINT
  Check<Float8E4M3Fn>("E4M3FN", 448.0f, 0x1p-9f, NAN);
  Check<Float8E4M3Fnuz>("E4M3FNUZ", 240.0f, 0x1p-10f, NAN);
  Check<Float8E5M2>("E5M2", 57344.0f, 0x1p-16f, INFINITY);
  Check<Float8E5M2Fnuz>("E5M2FNUZ", 57344.0f, 0x1p-17f, NAN);
  Check<Float4E2M1Fn>("E2M1FN", 6.0f, 0.5f, 6.0f);
  Check<Float16>("float16", 65504.0f, 0x1p-24f, INFINITY, 200);
  BFloat16RoundsToEven();
  return 0;
}
