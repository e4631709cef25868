// Every instruction set and division of work gives the sums of MatMulSumsReference.

#include "cc/core/integer_matmul.h"

#include "cc/core/matmul_geometry.h"
#include "cc/core/product_sink.h"
#include "tests/cc/check.h"
#include "tests/cc/workers.h"

namespace tf_qops {
namespace {

ByteMatrix RandomMatrix(Random* random, int64_t rows, int64_t columns,
                        std::vector<uint8_t>* bytes) {
  bytes->resize(rows * columns);
  for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>((*random)(0, 255));
  const Bytes codes{bytes->data(), (*random)(0, 1) == 1};
  if ((*random)(0, 1) == 1) return {codes, rows, columns, 1, rows};
  return {codes, rows, columns, columns, 1};
}

std::vector<int32_t> RandomZeros(Random* random, int64_t count) {
  std::vector<int32_t> zeros(count);
  for (int32_t& zero : zeros) zero = static_cast<int32_t>((*random)(-128, 127));
  return zeros;
}

void SumsAreExact(Random* random) {
  const int64_t rows = (*random)(0, 150), depth = (*random)(0, 40), columns = (*random)(0, 70);
  std::vector<uint8_t> a_bytes, b_bytes;
  const ByteMatrix a = RandomMatrix(random, rows, depth, &a_bytes);
  const ByteMatrix b = RandomMatrix(random, depth, columns, &b_bytes);
  const auto a_zero = RandomZeros(random, rows), b_zero = RandomZeros(random, columns);
  const auto want = MatMulSumsReference(a, a_zero.data(), b, b_zero.data());
  for (InstructionSet isa : UsableInstructionSets()) {
    for (Algorithm algorithm : AlgorithmsOf(isa)) {
      const PackedPanels packed = PackMatrix(b, b_zero.data(), isa, algorithm);
      for (const Workers& workers : {Serial(), TwoThreads()}) {
        std::vector<int32_t> got(want.size(), 7);
        PackedMatMul(a, a_zero.data(), packed, 0, Int32Sink({columns}, got.data()), workers, isa);
        CHECK(got == want) << NameOf(isa) << ' ' << NameOf(algorithm) << ' ' << rows << 'x' << depth
                           << 'x' << columns;
      }
    }
  }
}

// The largest sums of the smallest and the longest products, where a sum in 16 bits would saturate
// first: weights at both ends or of many sizes, x of 255, zero points at both ends, codes at an odd
// address, as many threads as may come.
void EdgesAreExact(Random* random) {
  const int64_t kDepths[] = {1, 2, 3, 4, 5, 7, 8, 31, 64, 129, 1000, 5000};
  const int64_t depth = kDepths[(*random)(0, 11)], rows = (*random)(1, 9);
  const int64_t columns = (*random)(1, 35), spread = (*random)(1, 128);
  std::vector<uint8_t> a_bytes(rows * depth + 1, 255), b_bytes(depth * columns + 1);
  if ((*random)(0, 1) == 1) {
    for (uint8_t& byte : a_bytes) byte = static_cast<uint8_t>(-(*random)(0, 1));
  }
  const bool ends = (*random)(0, 2) == 0;
  for (uint8_t& byte : b_bytes) {
    const int64_t w = (*random)(-spread, spread - 1);
    byte = static_cast<uint8_t>(ends ? (w < 0 ? -128 : 127) : w);
  }
  const ByteMatrix a{{a_bytes.data() + 1, (*random)(0, 1) == 1}, rows, depth, depth, 1};
  const ByteMatrix b{{b_bytes.data() + 1, (*random)(0, 3) != 0}, depth, columns, columns, 1};
  const auto end = [&](const ByteMatrix& m) {
    return static_cast<int32_t>((*random)(0, 1) == 1 ? 255 : 0) - (m.codes.is_signed ? 128 : 0);
  };
  const std::vector<int32_t> a_zero(rows, end(a)), b_zero(columns, (*random)(0, 1) * end(b));
  const auto want = MatMulSumsReference(a, a_zero.data(), b, b_zero.data());
  Workers workers = TwoThreads();
  workers.threads = static_cast<int>((*random)(1, 8));
  for (InstructionSet isa : UsableInstructionSets()) {
    for (Algorithm algorithm : AlgorithmsOf(isa)) {
      const PackedPanels packed = PackMatrix(b, b_zero.data(), isa, algorithm);
      std::vector<int32_t> got(want.size(), 7);
      PackedMatMul(a, a_zero.data(), packed, 0, Int32Sink({columns}, got.data()), workers, isa);
      CHECK(got == want) << NameOf(isa) << ' ' << NameOf(algorithm) << ' ' << rows << 'x' << depth
                         << 'x' << columns << " spread " << spread;
    }
  }
}

// The formula of QLinearMatMul and QGemm, element by element.
void CodesFollowTheFormula(Random* random) {
  const int64_t rows = (*random)(1, 9), columns = (*random)(1, 40);
  const auto lanes = [&](int64_t count) {
    Lanes<float> values;
    values.values.resize((*random)(0, 1) == 1 ? 1 : count);
    for (float& v : values.values) v = static_cast<float>((*random)(1, 100)) / 64.0f;
    return values;
  };
  std::vector<int32_t> c(rows * columns);
  for (int32_t& v : c) v = static_cast<int32_t>((*random)(-900, 900));
  ProductScaling scaling{(*random)(0, 1) == 1 ? 1.0f : 0.7f, lanes(rows), lanes(columns),
                         lanes(rows)};
  const int64_t c_kind = (*random)(0, 3);
  if (c_kind > 0) scaling.c = c.data();
  if (c_kind > 1) scaling.c_column_step = 1;
  if (c_kind > 2) scaling.c_row_step = columns;
  Lanes<int32_t> zero{RandomZeros(random, (*random)(0, 1) == 1 ? 1 : rows)};

  for (InstructionSet isa : UsableInstructionSets()) {
    std::vector<int8_t> y(rows * columns);
    const ProductCodesSink sink(scaling, zero, true, columns, isa, y.data());
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t first = 0; first < columns; first += kPanel) {
        int32_t acc[kPanel];
        for (int32_t& v : acc) v = static_cast<int32_t>((*random)(-9000, 9000));
        const int64_t count = std::min<int64_t>(kPanel, columns - first);
        sink.Store(acc, kPanel, m, 1, first, count);
        for (int64_t j = 0; j < count; ++j) {
          const int64_t n = first + j;
          const float scale =
              scaling.alpha * scaling.a_scale[m] * scaling.b_scale[n] / scaling.y_scale[m];
          const int32_t bias = c_kind == 0   ? 0
                               : c_kind == 1 ? c[0]
                               : c_kind == 2 ? c[n]
                                             : c[m * columns + n];
          const double rounded = std::nearbyint(static_cast<float>(acc[j] + bias) * scale);
          const double want = std::min(127.0, std::max(-128.0, rounded + zero[m]));
          CHECK(y[m * columns + n] == want) << NameOf(isa);
        }
      }
    }
  }
}

struct ShapeRow {
  Shape a, b, output;
  const char* wrong;
};

const ShapeRow kShapes[] = {
    {Dims{2, 3}, Dims{3, 4}, Dims{2, 4}, ""},
    {Dims{3}, Dims{3, 4}, Dims{4}, ""},
    {Dims{2, 3}, Dims{3}, Dims{2}, ""},
    {Dims{3}, Dims{3}, Dims{}, ""},
    {Dims{5, 1, 2, 3}, Dims{7, 3, 4}, Dims{5, 7, 2, 4}, ""},
    {Dims{-1, 3}, Dims{3, -1}, Dims{-1, -1}, ""},
    {Dims{-1, 2, 3}, Dims{5, 3, 4}, Dims{5, 2, 4}, ""},
    {Dims{-1, 2, 3}, Dims{1, 3, 4}, Dims{-1, 2, 4}, ""},
    {Dims{2, -1}, Dims{3, 4}, Dims{2, 4}, ""},
    {std::nullopt, Dims{3, 4}, std::nullopt, ""},
    {Dims{2, 3}, Dims{4, 3}, {}, "a must have as many columns as b has rows. Received: a of"},
    {Dims{2, 2, 3}, Dims{3, 3, 4}, {}, "the batch dimensions of a and b must broadcast"},
    {Dims{}, Dims{3, 4}, {}, "a must have at least 1 dimension"},
};

void Shapes() {
  for (const ShapeRow& row : kShapes) {
    const auto got = ResolveMatMul(row.a, row.b);
    CHECK(got.ok() == (row.wrong[0] == '\0')) << Show{row.a} << Show{row.b};
    if (got.ok()) {
      CHECK(got->output == row.output) << Show{row.a} << Show{row.b} << Show{got->output};
    } else {
      CHECK(got.error().message.find(row.wrong) != std::string::npos) << got.error().message;
    }
  }
}

void RowParametersStandBesideTheirRows() {
  const auto ok = [](Shape p, Shape m, bool per_row) {
    return CheckVectorParameter("zero", p, "a", m, per_row).ok();
  };
  CHECK(ok(Dims{}, Dims{2, 3}, true) && ok(Dims{1}, Dims{2, 3}, true));
  CHECK(ok(Dims{2}, Dims{2, 3}, true) && !ok(Dims{3}, Dims{2, 3}, true));
  CHECK(ok(Dims{3}, Dims{2, 3}, false) && !ok(Dims{2}, Dims{2, 3}, false));
  CHECK(ok(Dims{5, 2, 1}, Dims{5, 2, 3}, true) && !ok(Dims{5, 1, 3}, Dims{5, 2, 3}, true));
  CHECK(ok(Dims{5, 1, 3}, Dims{5, 2, 3}, false) && !ok(Dims{4, 1, 3}, Dims{5, 2, 3}, false));
  CHECK(VectorParameterIndices(Dims{2, 2, 1}, Dims{2, 2, 3}, true) ==
        (std::vector<int64_t>{0, 1, 2, 3}));
  CHECK(VectorParameterIndices(Dims{2, 1, 1}, Dims{2, 2, 3}, true) ==
        (std::vector<int64_t>{0, 0, 1, 1}));
  CHECK(VectorParameterIndices(Dims{3}, Dims{2, 2, 3}, false) ==
        (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
}

}  // namespace
}  // namespace tf_qops

int main() {
  using namespace tf_qops;  // NOLINT
  Random random(5);
  for (int i = 0; i < 300; ++i) SumsAreExact(&random);
  for (int i = 0; i < 400; ++i) EdgesAreExact(&random);
  for (int i = 0; i < 200; ++i) CodesFollowTheFormula(&random);
  Shapes();
  RowParametersStandBesideTheirRows();
  return 0;
}
