#include "cc/core/matmul_nbits.h"

#include <cmath>
#include <limits>
#include <vector>

namespace tf_qops {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// Lowest bits first.
int32_t Unpack(const uint8_t* bytes, int64_t index, int64_t bits) {
  const int64_t bit = index * bits;
  return bytes[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
}

bool Fits(const Shape& shape, const Dims& want) {
  if (!shape) return true;
  if (shape->size() != want.size()) return false;
  for (size_t d = 0; d < want.size(); ++d) {
    if ((*shape)[d] != kUnknown && (*shape)[d] != want[d]) return false;
  }
  return true;
}

std::optional<Error> CheckShape(const char* name, const Shape& shape, const Dims& want,
                                const Dims& or_else, const NBitsAttributes& a) {
  if (Fits(shape, want) || Fits(shape, or_else)) return std::nullopt;
  return Invalid(name, " must be of shape ", Show{want}, " or ", Show{or_else}, " for k=", a.k,
                 ", n=", a.n, ", bits=", a.bits, ", block_size=", a.block_size,
                 ". Received: shape ", Show{shape});
}

std::optional<Error> CheckAttributes(const NBitsAttributes& a) {
  for (const auto& [name, value] : {std::pair<const char*, int64_t>{"k", a.k}, {"n", a.n}}) {
    if (value < 1 || value > kLargest) {
      return Invalid(name, " must be in [1, ", kLargest, "]. Received: ", value);
    }
  }
  if (a.bits != 2 && a.bits != 4 && a.bits != 8) {
    return Invalid("bits must be 2, 4 or 8. Received: ", a.bits);
  }
  if (a.block_size < 16 || a.block_size > kLargest || (a.block_size & (a.block_size - 1)) != 0) {
    return Invalid("block_size must be a power of two of at least 16. Received: ", a.block_size);
  }
  return std::nullopt;
}

// b with one or more dimensions of 0 stands for weights that a graph leaves out.
bool IsLeftOut(const Shape& b, const Dims& want) {
  if (!b || b->size() != want.size()) return false;
  Dims filled = *b;
  bool empty = false;
  for (size_t d = 0; d < want.size(); ++d) {
    if (filled[d] != 0) continue;
    filled[d] = want[d];
    empty = true;
  }
  return empty && Fits(filled, want);
}

}  // namespace

Result<ResolvedNBits> ResolveMatMulNBits(const NBitsAttributes& a, const NBitsShapes& s) {
  if (auto error = CheckAttributes(a)) return *error;
  ResolvedNBits result;
  if (s.a) {
    if (s.a->empty() || (s.a->back() != kUnknown && s.a->back() != a.k)) {
      return Invalid("a must have a last dimension of k. Received: a of shape ", Show{s.a},
                     ", k=", a.k);
    }
    result.output = s.a;
    result.output->back() = a.n;
    result.rows = 1;
    for (size_t d = 0; d + 1 < s.a->size(); ++d) result.rows *= (*s.a)[d];
  }
  if (s.bias && !Fits(*s.bias, {a.n})) {
    return Invalid("bias must be of shape [n]. Received: shape ", Show{*s.bias}, ", n=", a.n);
  }

  const int64_t blocks = a.blocks();
  const Dims b{a.n, blocks, a.block_bytes()};
  result.no_weights = IsLeftOut(s.b, b);
  if (result.no_weights) return result;
  if (!Fits(s.b, b)) {
    return Invalid("b must be of shape ", Show{b}, " for k=", a.k, ", n=", a.n, ", bits=", a.bits,
                   ", block_size=", a.block_size, ". Received: shape ", Show{s.b});
  }
  if (auto error = CheckShape("scales", s.scales, {a.n, blocks}, {a.n * blocks}, a)) return *error;
  if (s.zero_points) {
    const int64_t width = s.zero_points_packed ? a.zero_point_bytes() : blocks;
    if (auto error = CheckShape("zero_points", *s.zero_points, {a.n, width}, {a.n * width}, a)) {
      return *error;
    }
  }
  if (s.g_idx) {
    if (auto error = CheckShape("g_idx", *s.g_idx, {a.k}, {blocks * a.block_size}, a)) {
      return *error;
    }
  }
  return result;
}

const uint8_t* NBitsWeights::BytesOfBlock(int64_t column, int64_t k) const {
  const NBitsAttributes& a = attributes;
  return codes + (column * a.blocks() + k / a.block_size) * a.block_bytes();
}

int32_t NBitsWeights::Code(int64_t column, int64_t k) const {
  return Unpack(BytesOfBlock(column, k), k % attributes.block_size, attributes.bits);
}

uint32_t NBitsWeights::FourBytes(int64_t column, int64_t k) const {
  const uint8_t* bytes = BytesOfBlock(column, k) + k % attributes.block_size * attributes.bits / 8;
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

float NBitsWeights::ZeroPoint(int64_t column, int64_t block) const {
  const NBitsAttributes& a = attributes;
  if (zero_points != nullptr) return zero_points[column * a.blocks() + block];
  if (packed_zero_points == nullptr) return static_cast<float>(1 << (a.bits - 1));
  const uint8_t* own = packed_zero_points + column * a.zero_point_bytes();
  return static_cast<float>(Unpack(own, block, a.bits));
}

void MatMulNBitsReference(const NBitsWeights& w, const float* a, int64_t rows, const float* bias,
                          float* y) {
  const int64_t depth = w.attributes.k, columns = w.attributes.n;
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      float sum = 0.0f;
      for (int64_t block = 0; block < w.attributes.blocks(); ++block) {
        float d = 0.0f;
        bool any = false;
        for (int64_t k = 0; k < depth; ++k) {
          if (w.Block(k) != block) continue;
          const float difference = static_cast<float>(w.Code(n, k)) - w.ZeroPoint(n, block);
          d = std::fma(a[m * depth + k], difference, d);
          any = true;
        }
        if (any) sum = std::fma(d, w.Scale(n, block), sum);
      }
      y[m * columns + n] = bias == nullptr ? sum : sum + bias[n];
    }
  }
}

}  // namespace tf_qops
