#ifndef TF_QOPS_CC_CORE_MATMUL_NBITS_H_
#define TF_QOPS_CC_CORE_MATMUL_NBITS_H_

#include <cstdint>
#include <optional>

#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// com.microsoft MatMulNBits, whose right operand has codes of 2, 4 or 8 bits, quantized in blocks
// of K.

struct NBitsAttributes {
  int64_t k = 0;
  int64_t n = 0;
  int64_t bits = 4;
  int64_t block_size = 32;

  int64_t blocks() const { return (k + block_size - 1) / block_size; }
  int64_t block_bytes() const { return block_size * bits / 8; }
  int64_t zero_point_bytes() const { return (blocks() * bits + 7) / 8; }  // Of a column.
};

// The shapes of the inputs, known perhaps in part; nothing where an optional one is not given.
struct NBitsShapes {
  Shape a, b, scales;
  std::optional<Shape> zero_points, g_idx, bias;
  bool zero_points_packed = true;  // uint8, not of a float type.
};

struct ResolvedNBits {
  Shape output;
  int64_t rows = 0;         // Of a, all leading dimensions together; where they are known.
  bool no_weights = false;  // b has a dimension of 0: the product is 0.
};

// a is [..., k], b [n, blocks, block_bytes]; scales and float zero points are [n, blocks], packed
// ones [n, zero_point_bytes], all three also of one dimension; g_idx is [k] or [blocks *
// block_size], bias [n].
Result<ResolvedNBits> ResolveMatMulNBits(const NBitsAttributes& attributes,
                                         const NBitsShapes& shapes);

// The right operand. Codes, and packed zero points, stand in their bytes lowest bits first; each
// block, and each column's zero points, begin a byte.
struct NBitsWeights {
  NBitsAttributes attributes;
  const uint8_t* codes;
  const float* scales;
  const uint8_t* packed_zero_points = nullptr;  // At most one of the two; 2^(bits - 1) without.
  const float* zero_points = nullptr;
  const int32_t* g_idx = nullptr;  // The block whose scale and zero point a k has; k / block_size.

  int32_t Code(int64_t column, int64_t k) const;
  // The codes that follow k in its block, to the end of four bytes; k begins a byte.
  uint32_t FourBytes(int64_t column, int64_t k) const;
  float ZeroPoint(int64_t column, int64_t block) const;
  float Scale(int64_t column, int64_t block) const {
    return scales[column * attributes.blocks() + block];
  }
  int64_t Block(int64_t k) const { return g_idx != nullptr ? g_idx[k] : k / attributes.block_size; }

 private:
  const uint8_t* BytesOfBlock(int64_t column, int64_t k) const;
};

// The definition. With fma(p, q, s) = p * q + s rounded to float32 once, for each block that has
// any k, in ascending order,
//   d = fma(a[m, k], f32(code) - zero_point, d)  for its k in ascending order, from d = 0
//   y[m, n] = fma(d, scale, y[m, n])             from y = 0
// and the bias is added last. A zero point of a float type may make the difference inexact: it is
// rounded to float32. `bias` may be null.
void MatMulNBitsReference(const NBitsWeights& w, const float* a, int64_t rows, const float* bias,
                          float* y);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_MATMUL_NBITS_H_
