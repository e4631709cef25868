#include "cc/core/granularity.h"

namespace tf_qops {
namespace {

bool Differ(int64_t a, int64_t b) { return a != kUnknown && b != kUnknown && a != b; }

bool Differ(const Shape& a, const Shape& b) {
  if (!a || !b) return false;
  if (a->size() != b->size()) return true;
  return !std::equal(a->begin(), a->end(), b->begin(),
                     [](int64_t p, int64_t q) { return !Differ(p, q); });
}

int64_t CeilDivide(int64_t dim, int64_t block) { return dim / block + (dim % block != 0); }

// x as [outer, axis_dim, inner] around `axis`; only for known dimensions.
Granularity Around(Granularity::Kind kind, const Dims& x, int axis) {
  Granularity g;
  g.kind = kind;
  g.axis = axis;
  for (int d = 0; d < axis; ++d) g.outer *= x[d];
  g.axis_dim = x[axis];
  for (size_t d = axis + 1; d < x.size(); ++d) g.inner *= x[d];
  return g;
}

std::optional<Error> CheckAxis(const GranularityNames& names, const Dims& x, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(x.size());
  if (axis >= -rank && axis < rank) return std::nullopt;
  return Invalid("axis must be in [", -rank, ", ", rank - 1, "] for ", names.x, " of shape ",
                 Show{x}, ". Received: ", axis);
}

}  // namespace

bool MayBeOneElement(const Shape& shape) {
  return !shape || shape->empty() ||
         (shape->size() == 1 && ((*shape)[0] == 1 || (*shape)[0] == kUnknown));
}

std::optional<Error> CheckOneElement(const std::string& name, const Shape& shape) {
  if (MayBeOneElement(shape)) return std::nullopt;
  return Invalid(name, " must be a scalar or of shape [1]. Received: shape ", Show{shape});
}

Granularity PerTensor(const Shape& x) {
  Granularity g;
  if (x) {
    for (int64_t dim : *x) g.inner *= dim;
  }
  return g;
}

Result<ResolvedGranularity> ResolveAxis(const GranularityNames& names, const Shape& x,
                                        const Shape& scale, int64_t axis) {
  if (x) {
    if (auto error = CheckAxis(names, *x, axis)) return *error;
  }
  if (scale && scale->size() != 1) {
    return Invalid(names.scale, " must be 1-D with an axis. Received: shape ", Show{scale});
  }
  if (!x) return ResolvedGranularity{Granularity{}, x};
  const int at = static_cast<int>(axis < 0 ? axis + x->size() : axis);
  const int64_t length = scale ? (*scale)[0] : kUnknown;
  Dims dims = *x;
  if (Differ(dims[at], length)) {
    return Invalid(names.scale, " must have the length of dimension ", at, " of ", names.x,
                   ". Received: ", names.scale, " of shape ", Show{scale}, ", ", names.x,
                   " of shape ", Show{x}, ", axis=", axis);
  }
  if (length != kUnknown) dims[at] = length;
  return ResolvedGranularity{Around(Granularity::Kind::kAxis, dims, at), dims};
}

Result<ResolvedGranularity> ResolveGranularity(const GranularityNames& names, const Shape& x,
                                               const Shape& scale, const Shape* zero_point,
                                               int64_t axis, int64_t block_size) {
  if (block_size < 0) {
    return Invalid("block_size must be 0 (not blocked) or positive. Received: ", block_size);
  }
  if (zero_point != nullptr && Differ(scale, *zero_point) &&
      !(MayBeOneElement(scale) && MayBeOneElement(*zero_point))) {
    return Invalid(names.zero_point, " must have the shape of ", names.scale,
                   ". Received: ", names.zero_point, " of shape ", Show{*zero_point}, ", ",
                   names.scale, " of shape ", Show{scale});
  }
  if (!scale) return ResolvedGranularity{PerTensor(x), x};

  const size_t scale_rank = scale->size();
  const bool one_of_one_dimension = scale_rank == 1 && (*scale)[0] == 1;
  const bool per_tensor =
      scale_rank == 0 || (one_of_one_dimension && (block_size == 0 || !x || x->size() == 1));
  if (per_tensor) return ResolvedGranularity{PerTensor(x), x};
  if (block_size == 0 && scale_rank > 1) {
    return Invalid(names.scale, " must be a scalar or 1-D without block_size. Received: shape ",
                   Show{scale});
  }
  if (!x) return ResolvedGranularity{Granularity{}, x};

  const int64_t rank = static_cast<int64_t>(x->size());
  if (block_size > 0 && static_cast<int64_t>(scale_rank) != rank) {
    return Invalid(names.scale, " must have the rank of ", names.x,
                   " with block_size. Received: ", names.scale, " of shape ", Show{scale}, ", ",
                   names.x, " of shape ", Show{x}, ", block_size=", block_size);
  }
  if (block_size == 0) {
    // One of unknown length may still turn out to be one element, for which any axis is fine.
    const bool maybe_one = (*scale)[0] == kUnknown && (axis < -rank || axis >= rank);
    return maybe_one ? ResolvedGranularity{Granularity{}, x} : ResolveAxis(names, x, scale, axis);
  }
  if (auto error = CheckAxis(names, *x, axis)) return *error;
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  Dims dims = *x;
  for (int d = 0; d < rank; ++d) {
    const int64_t expected =
        d != at || dims[d] == kUnknown ? dims[d] : CeilDivide(dims[d], block_size);
    if (d == at && dims[d] == kUnknown) continue;
    if (Differ(expected, (*scale)[d])) {
      return Invalid(names.scale, " must have the shape of ", names.x, " with ceil(", dims[at],
                     " / block_size) at dimension ", at, ". Received: ", names.scale, " of shape ",
                     Show{scale}, ", ", names.x, " of shape ", Show{x}, ", axis=", axis,
                     ", block_size=", block_size);
    }
    if (d != at && dims[d] == kUnknown) dims[d] = (*scale)[d];
  }
  Granularity g = Around(Granularity::Kind::kBlock, dims, at);
  g.block_size = block_size;
  g.blocks = (*scale)[at];
  return ResolvedGranularity{g, dims};
}

}  // namespace tf_qops
