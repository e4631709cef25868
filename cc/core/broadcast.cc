#include "cc/core/broadcast.h"

namespace tf_qops {
namespace {

std::optional<int64_t> BroadcastDim(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a == kUnknown) return b;  // Which a must turn out to be, or 1.
  if (b == kUnknown) return a;
  return std::nullopt;
}

void AlignRanks(Dims* a, Dims* b) {
  const size_t rank = std::max(a->size(), b->size());
  a->insert(a->begin(), rank - a->size(), 1);
  b->insert(b->begin(), rank - b->size(), 1);
}

}  // namespace

std::optional<Dims> BroadcastDims(Dims a, Dims b) {
  AlignRanks(&a, &b);
  Dims both;
  for (size_t d = 0; d < a.size(); ++d) {
    const auto dim = BroadcastDim(a[d], b[d]);
    if (!dim) return std::nullopt;
    both.push_back(*dim);
  }
  return both;
}

BroadcastWalk::BroadcastWalk(const Dims& a_dims, const Dims& b_dims) {
  Dims a = a_dims, b = b_dims;
  AlignRanks(&a, &b);
  int64_t a_size = 1, b_size = 1;
  for (size_t d = a.size(); d-- > 0; a_size *= a[d], b_size *= b[d]) {
    const Loop loop{a[d] == 1 ? b[d] : a[d], a[d] == 1 ? 0 : a_size, b[d] == 1 ? 0 : b_size};
    if (loop.extent == 1) continue;
    size_ *= loop.extent;
    if (!loops_.empty()) {
      Loop& inner = loops_.front();
      if (loop.a_step == inner.a_step * inner.extent &&
          loop.b_step == inner.b_step * inner.extent) {
        inner.extent *= loop.extent;
        continue;
      }
    }
    loops_.insert(loops_.begin(), loop);
  }
  if (loops_.empty()) loops_.push_back({1, 1, 1});
}

}  // namespace tf_qops
