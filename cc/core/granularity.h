#ifndef TF_QOPS_CC_CORE_GRANULARITY_H_
#define TF_QOPS_CC_CORE_GRANULARITY_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// Which element of a scale (or zero point) belongs to which element of x, in ONNX's sense: one for
// the tensor, one for each slice along an axis, or one for each block of an axis.
//
// x is seen as [outer, axis_dim, inner]; a blocked scale as [outer, blocks, inner].
struct Granularity {
  enum class Kind { kTensor, kAxis, kBlock };

  Kind kind = Kind::kTensor;
  int axis = 0;  // Not negative; 0 where per tensor.
  int64_t outer = 1;
  int64_t axis_dim = 1;
  int64_t inner = 1;
  int64_t block_size = 1;
  int64_t blocks = 1;

  int64_t size() const { return outer * axis_dim * inner; }

  // The definition, for the references: the scale of the element at flat index `i`.
  int64_t ParameterIndex(int64_t i) const {
    const int64_t along_axis = i / inner % axis_dim;
    switch (kind) {
      case Kind::kTensor:
        return 0;
      case Kind::kAxis:
        return along_axis;
      case Kind::kBlock:
        return (i / (inner * axis_dim) * blocks + along_axis / block_size) * inner + i % inner;
    }
    return 0;
  }
};

// Names the arguments in messages.
struct GranularityNames {
  const char* x;
  const char* scale;
  const char* zero_point;
};

// A granularity, and what the scale tells about the shape of x.
struct ResolvedGranularity {
  Granularity granularity;  // Meaningful where every dimension is known.
  Shape x;
};

// Applies the rules of DequantizeLinear and QuantizeLinear (versions 10 to 28) to shapes that may
// be known in part:
//   scale of rank 0, or of one element and rank 1: per tensor, the axis is ignored;
//   block_size 0: scale is 1-D with the length of x's dimension `axis`;
//   block_size > 0: scale has x's rank and dimensions, but ceil(dim / block_size) at `axis`.
// `zero_point`, where there is one, has the shape of the scale; [1] and a scalar are alike.
Result<ResolvedGranularity> ResolveGranularity(const GranularityNames& names, const Shape& x,
                                               const Shape& scale, const Shape* zero_point,
                                               int64_t axis, int64_t block_size);

// The second rule by itself: `scale` is 1-D, even where it has one element.
Result<ResolvedGranularity> ResolveAxis(const GranularityNames& names, const Shape& x,
                                        const Shape& scale, int64_t axis);

// The granularity of one scale for all of x.
Granularity PerTensor(const Shape& x);

// A scalar or of shape [1], or not known to be otherwise.
bool MayBeOneElement(const Shape& shape);

// The error of a scale or zero point that is not such.
std::optional<Error> CheckOneElement(const std::string& name, const Shape& shape);

// Cuts the elements [begin, end) of x into runs and calls
//   run(first, count, parameter, step)
// for each: element first + k has the scale at parameter + k * step, and step is 0 or 1.
template <typename Run>
void ForEachRun(const Granularity& g, int64_t begin, int64_t end, Run&& run) {
  using Kind = Granularity::Kind;
  if (g.kind == Kind::kTensor) {
    if (begin < end) run(begin, end - begin, int64_t{0}, int64_t{0});
    return;
  }
  const bool along_last = g.inner == 1;
  const int64_t block = g.kind == Kind::kBlock ? g.block_size : along_last ? g.axis_dim : 1;
  const int64_t step = (g.kind == Kind::kAxis) == along_last ? 1 : 0;
  for (int64_t first = begin; first < end;) {
    const int64_t along_axis = first / g.inner % g.axis_dim;
    const int64_t left = along_last ? std::min(block - along_axis % block, g.axis_dim - along_axis)
                                    : g.inner - first % g.inner;
    const int64_t count = std::min(left, end - first);
    run(first, count, g.ParameterIndex(first), step);
    first += count;
  }
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_GRANULARITY_H_
