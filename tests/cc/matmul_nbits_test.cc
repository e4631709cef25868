// Every instruction set, number of rows and division of work gives the bits of
// MatMulNBitsReference.

#include "cc/core/matmul_nbits.h"

#include <cmath>
#include <cstring>

#include "cc/core/packed_nbits.h"
#include "tests/cc/check.h"
#include "tests/cc/workers.h"

namespace tf_qops {
namespace {

std::vector<float> RandomFloats(Random* random, int64_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>((*random)(-999999, 999999)) / 262144.0f;
  return values;
}

// The same bits, or both NaN.
bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) {
      return false;
    }
  }
  return a.size() == b.size();
}

void CompareOnce(Random* random) {
  NBitsAttributes a;
  a.bits = int64_t{2} << (*random)(0, 2);
  a.block_size = int64_t{16} << (*random)(0, 4);
  a.k = (*random)(1, 400);
  a.n = (*random)(1, 70);
  const int64_t rows = (*random)(0, 3) == 0 ? 1 : (*random)(0, 110);

  std::vector<uint8_t> codes(a.n * a.blocks() * a.block_bytes()),
      packed(a.n * a.zero_point_bytes());
  for (uint8_t& byte : codes) byte = static_cast<uint8_t>((*random)(0, 255));
  for (uint8_t& byte : packed) byte = static_cast<uint8_t>((*random)(0, 255));
  const auto scales = RandomFloats(random, a.n * a.blocks());
  const auto zero_points = RandomFloats(random, a.n * a.blocks());
  std::vector<int32_t> g_idx(a.k);
  for (int32_t& block : g_idx) block = static_cast<int32_t>((*random)(0, a.blocks() - 1));

  NBitsWeights w{a, codes.data(), scales.data()};
  const int64_t zero_kind = (*random)(0, 2);
  if (zero_kind == 1) w.packed_zero_points = packed.data();
  if (zero_kind == 2) w.zero_points = zero_points.data();
  if ((*random)(0, 3) == 0) w.g_idx = g_idx.data();

  auto x = RandomFloats(random, rows * a.k);
  if (!x.empty() && (*random)(0, 9) == 0) x[(*random)(0, x.size() - 1)] = INFINITY;
  const auto bias = RandomFloats(random, a.n);
  const float* bias_or_null = (*random)(0, 1) == 1 ? bias.data() : nullptr;

  std::vector<float> want(rows * a.n);
  MatMulNBitsReference(w, x.data(), rows, bias_or_null, want.data());
  const PackedNBits matrix = PackNBits(w);
  for (InstructionSet isa : UsableInstructionSets()) {
    for (const Workers& workers : {Serial(), TwoThreads()}) {
      std::vector<float> got(want.size(), 0.5f);
      PackedMatMulNBits(matrix, x.data(), rows, bias_or_null, got.data(), workers, isa);
      CHECK(Same(got, want)) << NameOf(isa) << ", " << workers.threads << " threads, bits "
                             << a.bits << ", block " << a.block_size << ", " << rows << 'x' << a.k
                             << 'x' << a.n << ", zero points " << zero_kind << ", g_idx "
                             << (w.g_idx != nullptr);
    }
  }
}

struct ShapeRow {
  NBitsAttributes attributes;
  NBitsShapes shapes;
  Shape output;
  const char* wrong;
};

const ShapeRow kShapes[] = {
    {{40, 3}, {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 2}}, Dims{5, 3}, ""},
    {{40, 3}, {Dims{40}, Dims{3, 2, 16}, Dims{6}}, Dims{3}, ""},
    {{40, 3}, {Dims{-1, 7, -1}, std::nullopt, std::nullopt}, Dims{-1, 7, 3}, ""},
    {{40, 3}, {std::nullopt, Dims{-1, 2, -1}, Dims{-1, 2}}, std::nullopt, ""},
    {{40, 3, 2}, {Dims{5, 40}, Dims{3, 2, 8}, Dims{3, 2}, Dims{3, 1}}, Dims{5, 3}, ""},
    {{40, 3, 8},
     {Dims{5, 40}, Dims{3, 2, 32}, Dims{3, 2}, Dims{6}, Dims{40}, Dims{3}},
     Dims{5, 3},
     ""},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 2}, Dims{3, 2}, Dims{64}, {}, false},
     Dims{5, 3},
     ""},
    {{40, 3}, {Dims{5, 40}, Dims{3, 0, 16}, Dims{0}}, Dims{5, 3}, ""},
    {{40, 3},
     {Dims{5, 41}, Dims{3, 2, 16}, Dims{3, 2}},
     {},
     "a must have a last dimension of k. Received: a of shape [5,41], k=40"},
    {{40, 3}, {Dims{}, Dims{3, 2, 16}, Dims{3, 2}}, {}, "a must have a last dimension"},
    {{0, 3}, {}, {}, "k must be in [1, 2147483647]. Received: 0"},
    {{40, -1}, {}, {}, "n must be in [1, 2147483647]. Received: -1"},
    {{40, 3, 3}, {}, {}, "bits must be 2, 4 or 8. Received: 3"},
    {{40, 3, 4, 8}, {}, {}, "block_size must be a power of two of at least 16. Received: 8"},
    {{40, 3, 4, 48}, {}, {}, "block_size must be a power of two of at least 16. Received: 48"},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 15}, Dims{3, 2}},
     {},
     "b must be of shape [3,2,16] for k=40, n=3, bits=4, block_size=32. Received: shape [3,2,15]"},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 3}},
     {},
     "scales must be of shape [3,2] or [6]"},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 2}, Dims{3, 2}},
     {},
     "zero_points must be of shape [3,1] or [3]"},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 2}, {}, Dims{41}},
     {},
     "g_idx must be of shape [40] or [64]"},
    {{40, 3},
     {Dims{5, 40}, Dims{3, 2, 16}, Dims{3, 2}, {}, {}, Dims{1}},
     {},
     "bias must be of shape [n]. Received: shape [1], n=3"},
};

void Shapes() {
  for (const ShapeRow& row : kShapes) {
    const auto got = ResolveMatMulNBits(row.attributes, row.shapes);
    CHECK(got.ok() == (row.wrong[0] == '\0')) << row.wrong << Show{row.shapes.a};
    if (got.ok()) {
      CHECK(got->output == row.output) << Show{row.shapes.a} << Show{got->output};
    } else {
      CHECK(got.error().message.find(row.wrong) != std::string::npos) << got.error().message;
    }
  }
}

}  // namespace
}  // namespace tf_qops

int main() {
  using namespace tf_qops;  // NOLINT
  Random random(31);
  for (int i = 0; i < 200; ++i) CompareOnce(&random);
  Shapes();
  return 0;
}
