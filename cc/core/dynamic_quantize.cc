#include "cc/core/dynamic_quantize.h"

#include <algorithm>
#include <mutex>

#include "cc/core/byte_kernels.h"

namespace tf_qops {

FloatRange RangeOfReference(const float* x, int64_t size) {
  FloatRange range;
  for (int64_t i = 0; i < size; ++i) {
    if (x[i] < range.low) range.low = x[i];
    if (x[i] > range.high) range.high = x[i];
  }
  return range;
}

FloatRange RangeOf(const float* x, int64_t size, const Workers& workers, InstructionSet isa) {
  FloatRange all;
  std::mutex mutex;
  workers.run(size, 1, [&](int64_t begin, int64_t end) {
    FloatRange part;
    ByteKernelsOf(isa).find_range(x + begin, end - begin, &part.low, &part.high);
    std::lock_guard<std::mutex> lock(mutex);
    all = {std::min(all.low, part.low), std::max(all.high, part.high)};
  });
  return all;
}

DynamicScale::DynamicScale(const FloatRange& range) : scale((range.high - range.low) / 255.0f) {
  if (scale == 0.0f) scale = 1.0f;
  zero_point = static_cast<uint8_t>(RoundHalfEven(Clamp(0.0f - range.low / scale, 0.0f, 255.0f)));
}

void QuantizeToBytes(const DynamicScale& chosen, const float* x, int64_t size, uint8_t* y,
                     const Workers& workers, InstructionSet isa) {
  const CodeRange range = ByteRange(false, chosen.zero_point);
  workers.run(size, 1, [&](int64_t begin, int64_t end) {
    ByteKernelsOf(isa).quantize(x + begin, end - begin, chosen.scale, range, y + begin);
  });
}

}  // namespace tf_qops
