// Run by run, DequantizeLinear and QuantizeLinear give what their references give element by
// element, for every granularity and any split into ranges.

#include "cc/core/dequantize_linear.h"
#include "cc/core/quantize_linear.h"
#include "tests/cc/check.h"

namespace tf_qops {
namespace {

struct Case {
  Dims shape;
  Granularity granularity;
  int64_t parameters;
};

Case RandomCase(Random* random) {
  Case c;
  const int64_t rank = (*random)(1, 4);
  for (int64_t d = 0; d < rank; ++d) c.shape.push_back((*random)(0, 9));
  const int64_t axis = (*random)(-rank, rank - 1);
  const int64_t at = axis < 0 ? axis + rank : axis;
  Dims scale;
  int64_t block_size = 0;
  switch ((*random)(0, 2)) {
    case 0:
      break;
    case 1:
      scale = {c.shape[at]};
      break;
    default:
      block_size = (*random)(1, 6);
      scale = c.shape;
      scale[at] = (scale[at] + block_size - 1) / block_size;
  }
  const auto resolved = ResolveGranularity({"x", "x_scale", "x_zero_point"}, c.shape, scale,
                                           nullptr, axis, block_size);
  CHECK(resolved.ok()) << resolved.error().message;
  c.granularity = resolved->granularity;
  c.parameters = 1;
  for (int64_t dim : scale) c.parameters *= dim;
  int64_t size = 1;
  for (int64_t dim : c.shape) size *= dim;
  CHECK(c.granularity.size() == size) << Show{c.shape};
  return c;
}

template <typename T>
std::vector<T> RandomCodes(Random* random, int64_t count) {
  std::vector<T> codes(count);
  for (T& code : codes) {
    const uint64_t bits = static_cast<uint64_t>((*random)(0, 1 << 30));
    std::memcpy(&code, &bits, sizeof(code));
  }
  return codes;
}

template <typename T>
bool SameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <typename T>
void Compare(Random* random, const char* name) {
  for (int i = 0; i < 300; ++i) {
    const Case c = RandomCase(random);
    const int64_t size = c.granularity.size();
    const std::vector<T> x = RandomCodes<T>(random, size);
    const std::vector<T> zeros = RandomCodes<T>(random, c.parameters);
    const T* zero = (*random)(0, 1) == 0 ? nullptr : zeros.data();
    std::vector<float> scale(c.parameters);
    for (float& s : scale) s = static_cast<float>((*random)(1, 1000)) / 512.0f;
    const int64_t middle = (*random)(0, size);

    std::vector<float> want(size), got(size);
    DequantizeLinearReference(x.data(), scale.data(), zero, c.granularity, want.data());
    DequantizeLinear(x.data(), scale.data(), zero, c.granularity, 0, middle, got.data());
    DequantizeLinear(x.data(), scale.data(), zero, c.granularity, middle, size, got.data());
    CHECK(SameBytes(got, want)) << name << Show{c.shape};

    if constexpr (!std::is_same_v<T, int32_t>) {
      const QuantizeOptions options{(*random)(0, 1) == 1, static_cast<Precision>((*random)(0, 2))};
      std::vector<T> codes(size), reference(size);
      QuantizeLinearReference(want.data(), scale.data(), zero, c.granularity, options,
                              reference.data());
      for (const auto& [begin, end] : {std::pair{int64_t{0}, middle}, std::pair{middle, size}}) {
        QuantizeLinear(want.data(), scale.data(), zero, c.granularity, options, begin, end,
                       codes.data());
      }
      CHECK(SameBytes(codes, reference)) << name << Show{c.shape};
    }
  }
}

}  // namespace
}  // namespace tf_qops

int main() {
  using namespace tf_qops;  // NOLINT
  Random random(3);
  Compare<int8_t>(&random, "int8");
  Compare<uint8_t>(&random, "uint8");
  Compare<int16_t>(&random, "int16");
  Compare<uint16_t>(&random, "uint16");
  Compare<int32_t>(&random, "int32");
  Compare<Int4>(&random, "int4");
  Compare<UInt4>(&random, "uint4");
  Compare<Int2>(&random, "int2");
  Compare<UInt2>(&random, "uint2");
  Compare<Float8E4M3Fn>(&random, "float8_e4m3fn");
  Compare<Float8E4M3Fnuz>(&random, "float8_e4m3fnuz");
  Compare<Float8E5M2>(&random, "float8_e5m2");
  Compare<Float8E5M2Fnuz>(&random, "float8_e5m2fnuz");
  Compare<Float4E2M1Fn>(&random, "float4_e2m1fn");
  return 0;
}
