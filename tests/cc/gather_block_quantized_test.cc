// Gathering by rows and blocks gives what each code's own scale gives; shapes and errors.

#include "cc/core/gather_block_quantized.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "tests/cc/check.h"

namespace tf_qops {
namespace {

int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

void CompareOnce(Random* random) {
  GatherAttributes a;
  a.data = GatherData::kFloats;  // Takes every axis and broadcasts scales; codes do not matter.
  const int64_t rank = (*random)(1, 4);
  a.gather_axis = (*random)(-rank, rank - 1);
  a.quantize_axis = (*random)(-rank, rank - 1);
  a.block_size = (*random)(0, 2) == 0 ? 0 : 16;
  const int64_t quantize = (a.quantize_axis + rank) % rank;
  Dims data, scales;
  for (int64_t d = 0; d < rank; ++d) {
    data.push_back((*random)(1, d == quantize ? 40 : 5));
    scales.push_back(d == quantize          ? (a.block_size == 0 ? 1 : (data[d] + 15) / 16)
                     : (*random)(0, 3) == 0 ? 1
                                            : data[d]);
  }
  const auto resolved = ResolveGather(a, data, Dims{2, 3}, scales, std::nullopt);
  CHECK(resolved.ok()) << Show{data} << Show{scales};
  const GatherGeometry& g = resolved->geometry;

  std::vector<uint8_t> codes(Product(data));
  for (uint8_t& code : codes) code = static_cast<uint8_t>((*random)(0, 255));
  std::vector<float> scale(Product(scales));
  for (float& s : scale) s = static_cast<float>((*random)(-999, 999)) / 512.0f;
  const PlainElements<int8_t> elements{reinterpret_cast<const int8_t*>(codes.data())};
  const auto zero_point = [&](int64_t i) { return static_cast<int32_t>(i % 7); };
  for (int64_t outer = 0; outer < g.outer; ++outer) {
    const int64_t begin = g.Begin(outer, (*random)(0, g.axis_dim - 1));
    std::vector<float> want(g.inner), got(g.inner);
    GatherSliceReference(g, begin, elements, zero_point, scale.data(), want.data());
    GatherSlice(g, begin, elements, zero_point, scale.data(), got.data());
    CHECK(got == want) << Show{data} << Show{scales} << ", gather " << a.gather_axis
                       << ", quantize " << a.quantize_axis << ", block " << a.block_size;
  }
}

void PackedCodesBeginWithTheLowestBits() {
  const uint8_t bytes[] = {0xe4, 0x1b};
  for (int i = 0; i < 4; ++i) {
    CHECK(PackedCodes<2>{bytes}[i] == i && PackedCodes<2>{bytes}[4 + i] == 3 - i);
  }
  CHECK(PackedCodes<4>{bytes}[0] == 4 && PackedCodes<4>{bytes}[1] == 14);
  CHECK(PackedCodes<8>{bytes}[1] == 0x1b);
}

struct ShapeRow {
  GatherAttributes attributes;
  Shape data, indices, scales;
  std::optional<Shape> zero_points;
  Shape output;
  const char* wrong;
};

constexpr GatherData kInts = GatherData::kIntegers, kFloats = GatherData::kFloats;

const ShapeRow kShapes[] = {
    {{0, 1, 16, 4}, Dims{9, 20}, Dims{2, 3}, Dims{9, 3}, Dims{9, 2}, Dims{2, 3, 40}, ""},
    {{0, 1, 16, 2}, Dims{9, 20}, Dims{}, Dims{9, 5}, Dims{9, 2}, Dims{80}, ""},
    {{0, -1, 16, 8}, Dims{9, 20}, Dims{-1}, Dims{9, 2}, Dims{9, 2}, Dims{-1, 20}, ""},
    {{0, 1, 16, 4}, Dims{9, 20, 3}, Dims{2}, Dims{9, 2, 6}, Dims{9, 2, 3}, Dims{2, 20, 6}, ""},
    {{2, 0, 16, 4, kInts}, Dims{40, 5, 9}, Dims{2}, Dims{3, 5, 9}, {}, Dims{40, 5, 2}, ""},
    {{1, 1, 16, 4, kInts}, Dims{4, 40}, Dims{2}, Dims{4, 3}, Dims{4, 3}, Dims{4, 2}, ""},
    {{0, 1, 16, 4, kInts}, Dims{-1, 40, -1}, Dims{2}, Dims{9, -1, 5}, {}, Dims{2, 40, 5}, ""},
    {{0, 1, 16}, std::nullopt, Dims{2}, Dims{9, 3}, {}, std::nullopt, ""},
    {{0, 1, 16}, Dims{9, 20}, std::nullopt, std::nullopt, {}, std::nullopt, ""},
    {{0, 1, 0, 0, kFloats}, Dims{9, 20}, Dims{2}, Dims{9, 1}, {}, Dims{2, 20}, ""},
    {{0, 1, 0, 4, kFloats}, Dims{9, 20}, Dims{2}, Dims{1, 1}, {}, Dims{2, 20}, ""},
    {{0, 1, 32, 3}, {}, {}, {}, {}, {}, "bits must be 2, 4 or 8. Received: 3"},
    {{0, 1, 32, 8, kInts}, {}, {}, {}, {}, {}, "bits must be 4 where data is int4 or uint4. R"},
    {{0, 1, 0},
     {},
     {},
     {},
     {},
     {},
     "block_size must be a power of two of at least 16. Received: 0"},
    {{0, 1, 24, 4, kFloats}, {}, {}, {}, {}, {}, "block_size must be 0 or a power of two of at"},
    {{2, 1, 16},
     Dims{9, 20},
     {},
     {},
     {},
     {},
     "gather_axis must be in [-2, 1] for data of shape "
     "[9,20]. Received: 2"},
    {{0, -3, 16}, Dims{9, 20}, {}, {}, {}, {}, "quantize_axis must be in [-2, 1]"},
    {{1, 0, 16},
     Dims{9, 20},
     {},
     {},
     {},
     {},
     "gather_axis must be 0, and quantize_axis another "
     "one, where data is uint8. Received: gather_axis=1, quantize_axis=0"},
    {{0, 0, 16}, Dims{9, 20}, {}, {}, {}, {}, "gather_axis must be 0, and quantize_axis another"},
    {{0, 1, 16},
     Dims{9, 20},
     Dims{2},
     Dims{9, 2},
     {},
     {},
     "scales must have the shape of data with"
     " ceil(dim / block_size) at dimension 1. Received: scales of shape [9,2], data of shape "
     "[9,20], bits=4, block_size=16"},
    {{0, 1, 16, 4, kInts}, Dims{9, 20}, Dims{2}, Dims{1, 2}, {}, {}, "scales must have the shape"},
    {{0, 1, 16}, Dims{9, 20}, Dims{2}, Dims{3}, {}, {}, "scales must have the shape of data"},
    {{0, 1, 16},
     Dims{9, 20},
     Dims{2},
     Dims{9, 3},
     Dims{9, 3},
     {},
     "zero_points must have the shape"
     " of scales, packed as data is. Received: zero_points of shape [9,3], scales of shape [9,3]"},
    {{0, 1, 0, 4, kFloats},
     Dims{9, 20},
     Dims{2},
     Dims{9, 1},
     Dims{9, 1},
     {},
     "zero_points must be left out where data is float8 or float4. Received: shape [9,1]"},
};

void Shapes() {
  for (const ShapeRow& row : kShapes) {
    const auto got =
        ResolveGather(row.attributes, row.data, row.indices, row.scales, row.zero_points);
    CHECK(got.ok() == (row.wrong[0] == '\0')) << row.wrong << Show{row.data};
    if (got.ok()) {
      CHECK(got->output == row.output) << Show{row.data} << Show{got->output};
    } else {
      CHECK(got.error().message.find(row.wrong) != std::string::npos) << got.error().message;
    }
  }
}

}  // namespace
}  // namespace tf_qops

int main() {
  using namespace tf_qops;  // NOLINT
  Random random(32);
  for (int i = 0; i < 2000; ++i) CompareOnce(&random);
  PackedCodesBeginWithTheLowestBits();
  Shapes();
  return 0;
}
