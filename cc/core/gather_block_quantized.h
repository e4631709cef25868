#ifndef TF_QOPS_CC_CORE_GATHER_BLOCK_QUANTIZED_H_
#define TF_QOPS_CC_CORE_GATHER_BLOCK_QUANTIZED_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cc/core/codes.h"
#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// com.microsoft GatherBlockQuantized: slices of a tensor that is quantized in blocks of one of its
// axes, dequantized.

enum class GatherData {
  kPacked,    // uint8: codes of `bits` bits along the last dimension, lowest bits first.
  kIntegers,  // int4 or uint4, a code an element.
  kFloats,    // float8 or float4, which have no zero point.
};

struct GatherAttributes {
  int64_t gather_axis = 0;
  int64_t quantize_axis = 1;
  int64_t block_size = 128;
  int64_t bits = 4;  // Of packed data.
  GatherData data = GatherData::kPacked;
};

// A gather with every number known. Codes are counted in the order of data, each by itself.
struct GatherGeometry {
  int64_t outer = 1;     // Indices before the gathered axis.
  int64_t axis_dim = 1;  // Of the gathered axis.
  int64_t inner = 1;     // Codes of a slice.

  // Along each dimension of data: its length, how many codes share a scale, and what the next
  // scale adds to the index.
  Dims dims, blocks, scale_steps;
  int64_t scale_row = 1;       // Scales along the last dimension.
  int64_t zero_point_row = 1;  // Bytes of zero points along it, of packed data.

  int64_t Begin(int64_t outer_index, int64_t index) const {
    return (outer_index * axis_dim + index) * inner;
  }
  int64_t ScaleIndex(int64_t code) const;
};

struct ResolvedGather {
  Shape output;
  GatherGeometry geometry;  // Meaningful where the shapes are fully known.
};

// Scales have the shape of data, but ceil(dim / block_size) at quantize_axis; of floats, any other
// dimension may also be 1. A block_size of 0 (of floats) makes the whole axis one block. Zero
// points have the shape of scales, packed as data is. The output has the shape of indices in place
// of gather_axis. No `zero_points` where there are none.
Result<ResolvedGather> ResolveGather(const GatherAttributes& attributes, const Shape& data,
                                     const Shape& indices, const Shape& scales,
                                     const std::optional<Shape>& zero_points);

// Codes of kBits bits in bytes, lowest bits first.
template <int kBits>
struct PackedCodes {
  const uint8_t* bytes;

  int32_t operator[](int64_t i) const {
    return bytes[i * kBits / 8] >> (i * kBits % 8) & ((1 << kBits) - 1);
  }
};

// Codes that have an element each.
template <typename T>
struct PlainElements {
  const T* elements;

  auto operator[](int64_t i) const { return Codes<T>::Read(elements[i]); }
};

// The reference: codes [begin, begin + g.inner) of data as (code - zero_point) * scale, the
// difference exact, the product rounded to float32 and then to Out. zero_point(i) is the one that
// belongs to scale i.
template <typename Data, typename ZeroPoint, typename Out>
void GatherSliceReference(const GatherGeometry& g, int64_t begin, const Data& data,
                          ZeroPoint&& zero_point, const Out* scales, Out* y) {
  for (int64_t i = 0; i < g.inner; ++i) {
    const int64_t scale = g.ScaleIndex(begin + i);
    const auto difference = static_cast<float>(data[begin + i] - zero_point(scale));
    y[i] = FromFloat32<Out>(difference * ToFloat32(scales[scale]));
  }
}

// The same, row by row and scale by scale.
template <typename Data, typename ZeroPoint, typename Out>
void GatherSlice(const GatherGeometry& g, int64_t begin, const Data& data, ZeroPoint&& zero_point,
                 const Out* scales, Out* y) {
  const int64_t row = g.dims.back(), block = g.blocks.back();
  for (int64_t i = begin; i < begin + g.inner;) {
    int64_t scale = g.ScaleIndex(i);
    int64_t column = i % row;
    const int64_t row_end = std::min(i - column + row, begin + g.inner);
    while (i < row_end) {
      const int64_t end = std::min(i + block - column % block, row_end);
      const float factor = ToFloat32(scales[scale]);
      const auto zero = zero_point(scale);
      column += end - i;
      for (; i < end; ++i) {
        *y++ = FromFloat32<Out>(static_cast<float>(data[i] - zero) * factor);
      }
      scale += g.scale_steps.back();
    }
  }
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_GATHER_BLOCK_QUANTIZED_H_
