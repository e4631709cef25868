#include "cc/core/range_mode.h"

namespace tf_qops {

Result<ResolvedGranularity> ResolveRange(const Shape& x, const Shape& min, const Shape& max,
                                         bool per_tensor, int64_t axis) {
  const std::pair<const char*, const Shape&> ranges[] = {{"min_range", min}, {"max_range", max}};
  if (per_tensor) {
    for (const auto& [name, shape] : ranges) {
      if (!MayBeOneElement(shape)) {
        return Invalid(name, " must be a scalar or of shape [1] without an axis. Received: shape ",
                       Show{shape});
      }
    }
    return ResolvedGranularity{PerTensor(x), x};
  }
  Shape known = x;
  Granularity g;
  for (const auto& [name, shape] : ranges) {
    const auto resolved = ResolveAxis({"input", name, name}, known, shape, axis);
    if (!resolved.ok()) return resolved;
    known = resolved->x;
    g = resolved->granularity;
  }
  return ResolvedGranularity{g, known};
}

}  // namespace tf_qops
