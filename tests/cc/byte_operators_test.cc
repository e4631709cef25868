// On random shapes and formats, with every instruction set and with threads, the operators on
// bytes give the bits of their references.

#include <cmath>
#include <thread>

#include "cc/core/average_pool.h"
#include "cc/core/binary.h"
#include "cc/core/concat.h"
#include "cc/core/dynamic_quantize.h"
#include "cc/core/softmax.h"
#include "tests/cc/check.h"

namespace tf_qops {
namespace {

std::vector<uint8_t> RandomBytes(Random* random, int64_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)(0, 255));
  return bytes;
}

ByteFormat RandomFormat(Random* random) {
  ByteFormat format;
  format.is_signed = (*random)(0, 1) == 1;
  format.zero_point = format.Code(static_cast<uint8_t>((*random)(0, 255)));
  const float kSpecial[] = {0.0f, -0.125f, INFINITY, NAN, 0x1p-5f};
  format.scale = (*random)(0, 9) == 0 ? kSpecial[(*random)(0, 4)]
                                      : static_cast<float>((*random)(1, 1000)) / 8192.0f;
  return format;
}

int64_t SizeOf(const Dims& dims) {
  int64_t size = 1;
  for (int64_t dim : dims) size *= dim;
  return size;
}

// Two parts on two threads, so that ranges begin in the middle.
Workers TwoThreads() {
  return {2, [](int64_t total, int64_t, const auto& work) {
            const int64_t middle = total / 3;
            std::thread other([&] {
              if (middle < total) work(middle, total);
            });
            if (middle > 0) work(0, middle);
            other.join();
          }};
}

// run(workers, isa, y) on every combination gives `want`.
template <typename Run>
void CompareAll(const std::vector<uint8_t>& want, const char* name, const Dims& shape, Run&& run) {
  for (InstructionSet isa : UsableInstructionSets()) {
    for (const Workers& workers : {Serial(), TwoThreads()}) {
      std::vector<uint8_t> y(want.size(), 0x5a);
      run(workers, isa, y.data());
      CHECK(y == want) << name << ' ' << Show{shape} << ' ' << NameOf(isa) << ", "
                       << workers.threads << " threads";
    }
  }
}

void CompareBinary(Random* random) {
  Dims a, b;
  const int64_t rank = (*random)(0, 4);
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t dim = (*random)(d == rank - 1 ? 1 : 0, d == rank - 1 ? 40 : 4);
    a.push_back((*random)(0, 3) == 0 ? 1 : dim);
    b.push_back((*random)(0, 3) == 0 ? 1 : dim);
  }
  (*random)(0, 1) == 0 ? a.erase(a.begin(), a.begin() + (*random)(0, rank))
                       : b.erase(b.begin(), b.begin() + (*random)(0, rank));
  const auto c = ResolveBinary(a, b);
  CHECK(c.ok()) << Show{a} << Show{b};
  const BroadcastWalk walk(a, b);
  CHECK(walk.size() == SizeOf(**c)) << Show{a} << Show{b};

  const auto x = RandomBytes(random, SizeOf(a)), y = RandomBytes(random, SizeOf(b));
  const BinaryFormats formats{RandomFormat(random), RandomFormat(random), RandomFormat(random)};
  for (BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kMul}) {
    std::vector<uint8_t> want(walk.size());
    BinaryReference(kind, formats, walk, x.data(), y.data(), want.data());
    CompareAll(want, "binary", **c, [&](const Workers& workers, InstructionSet isa, uint8_t* to) {
      Binary(kind, formats, walk, x.data(), y.data(), to, workers, isa);
    });
  }
}

void ComparePooling(Random* random) {
  const int64_t rank = (*random)(1, 4);
  PoolingAttributes a;
  a.channels_last = (*random)(0, 1) == 1;
  a.ceil_mode = (*random)(0, 1) == 1;
  a.count_include_pad = (*random)(0, 1) == 1;
  a.auto_pad = static_cast<AutoPad>((*random)(0, 3));
  Dims x_dims{(*random)(0, 2), (*random)(0, 20)};
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t at = a.channels_last ? 1 + d : 2 + d;
    x_dims.insert(x_dims.begin() + at, (*random)(0, rank == 1 ? 99 : rank == 2 ? 24 : 5));
    a.kernel_shape.push_back((*random)(1, rank < 3 && (*random)(0, 2) == 0 ? 20 : 3));
    a.strides.push_back((*random)(1, 3));
    a.dilations.push_back((*random)(1, 2));
  }
  if (a.auto_pad == AutoPad::kNotSet) {
    for (int64_t d = 0; d < 2 * rank; ++d) a.pads.push_back((*random)(0, 3));
  }
  const bool global = (*random)(0, 3) == 0;
  const auto resolved =
      global ? ResolveGlobalPooling(a.channels_last, x_dims) : ResolvePooling(a, x_dims);
  if (!resolved.ok()) return;  // A kernel larger than the padded input.
  const PoolingGeometry& g = resolved->geometry;

  const auto x = RandomBytes(random, SizeOf(x_dims));
  const AveragePooling pooling{global, !global && a.count_include_pad, RandomFormat(random),
                               RandomFormat(random)};
  std::vector<uint8_t> want(SizeOf(*resolved->output));
  AveragePoolReference(g, pooling, x.data(), want.data());
  CompareAll(want, "pooling", x_dims, [&](const Workers& workers, InstructionSet isa, uint8_t* y) {
    AveragePool(g, pooling, x.data(), y, workers, isa);
  });
}

void CompareConcat(Random* random) {
  const int64_t outer = (*random)(0, 5);
  std::vector<std::vector<uint8_t>> x;
  std::vector<ConcatPart> parts;
  const ByteFormat y_format = RandomFormat(random);
  int64_t row = 0;
  for (int64_t i = (*random)(1, 5); i > 0; --i) {
    const int64_t own = (*random)(0, 99);
    row += own;
    x.push_back(RandomBytes(random, outer * own));
    const ByteFormat format = (*random)(0, 2) == 0 ? y_format : RandomFormat(random);
    parts.push_back({x.back().data(), own, TableOf(format, y_format, [](float v) { return v; })});
  }
  std::vector<uint8_t> want(outer * row);
  ConcatReference(parts, outer, want.data());
  CompareAll(want, "concat", {outer, row},
             [&](const Workers& workers, InstructionSet isa, uint8_t* y) {
               Concat(parts, outer, y, workers, isa);
             });
}

void CompareSoftmax(Random* random) {
  const SoftmaxRows rows{(*random)(0, 3), (*random)(0, 1) == 0 ? (*random)(0, 20) : 300,
                         (*random)(1, 3)};
  const int64_t size = rows.outer * rows.length * rows.inner;
  const auto x = RandomBytes(random, size);
  const ByteFormat x_format = RandomFormat(random), y_format = RandomFormat(random);
  std::vector<uint8_t> want(size);
  if (size > 0) SoftmaxReference(rows, x_format, x.data(), y_format, want.data());
  CompareAll(want, "softmax", {rows.outer, rows.length, rows.inner},
             [&](const Workers& workers, InstructionSet, uint8_t* y) {
               Softmax(rows, x_format, x.data(), y_format, y, workers);
             });
}

void CompareDynamic(Random* random) {
  std::vector<float> x((*random)(0, 200));
  const float kSpecial[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 3e38f, -3e38f};
  for (float& value : x) {
    value = (*random)(0, 300) == 0 ? kSpecial[(*random)(0, 6)]
                                   : static_cast<float>((*random)(-1000, 1000)) / 64.0f;
  }
  const FloatRange range = RangeOfReference(x.data(), x.size());
  const DynamicScale chosen(range);
  std::vector<uint8_t> want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    want[i] = ByteFormat{false, chosen.scale, chosen.zero_point}.Quantize(x[i]);
  }
  CompareAll(want, "dynamic", {static_cast<int64_t>(x.size())},
             [&](const Workers& workers, InstructionSet isa, uint8_t* y) {
               const FloatRange found = RangeOf(x.data(), x.size(), workers, isa);
               CHECK(found.low == range.low && found.high == range.high);
               QuantizeToBytes(chosen, x.data(), x.size(), y, workers, isa);
             });
}

// A window of more than 2^23 elements does not fit the fast path's sums.
void LargestWindowsAreExact() {
  const int64_t pixels = AveragePooling::kMostElements + 9;
  const std::vector<uint8_t> x(pixels, 255);
  const auto resolved = ResolveGlobalPooling(false, Dims{1, 1, pixels});
  const AveragePooling pooling{true, false, {false, 1.0f, 0}, {false, 1.0f, 0}};
  uint8_t y = 0;
  AveragePool(resolved->geometry, pooling, x.data(), &y, Serial(), ChosenInstructionSet());
  CHECK(y == 255) << int{y};
}

}  // namespace
}  // namespace tf_qops

int main() {
  tf_qops::Random random(21);
  for (int i = 0; i < 1500; ++i) {
    tf_qops::CompareBinary(&random);
    tf_qops::ComparePooling(&random);
    tf_qops::CompareConcat(&random);
    tf_qops::CompareSoftmax(&random);
    tf_qops::CompareDynamic(&random);
  }
  tf_qops::LargestWindowsAreExact();
  return 0;
}
