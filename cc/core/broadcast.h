#ifndef TF_QOPS_CC_CORE_BROADCAST_H_
#define TF_QOPS_CC_CORE_BROADCAST_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cc/core/shape.h"

namespace tf_qops {

// numpy's rule for dimensions that may be unknown; nothing where two do not fit each other.
std::optional<Dims> BroadcastDims(Dims a, Dims b);

// Which elements of two tensors meet in their broadcast result, for known dimensions. Neighbouring
// dimensions along which each operand goes on, or stands still, are joined.
class BroadcastWalk {
 public:
  // `a` and `b` broadcast.
  BroadcastWalk(const Dims& a, const Dims& b);

  int64_t size() const { return size_; }
  // Along the last joined dimension: 1 where the operand goes on, 0 where it stands still.
  int64_t a_step() const { return loops_.back().a_step; }
  int64_t b_step() const { return loops_.back().b_step; }

  // Cuts the elements [begin, end) of the result into runs along the last joined dimension:
  //   run(first, count, a_first, b_first)
  template <typename Run>
  void ForEachRun(int64_t begin, int64_t end, Run&& run) const {
    const int64_t inner = loops_.back().extent;
    for (int64_t first = begin; first < end;) {
      const int64_t count = std::min(inner - first % inner, end - first);
      int64_t a = 0, b = 0, left = first;
      for (size_t d = loops_.size(); d-- > 0; left /= loops_[d].extent) {
        const int64_t index = left % loops_[d].extent;
        a += index * loops_[d].a_step;
        b += index * loops_[d].b_step;
      }
      run(first, count, a, b);
      first += count;
    }
  }

 private:
  struct Loop {
    int64_t extent;
    int64_t a_step;
    int64_t b_step;
  };

  std::vector<Loop> loops_;  // The outermost first; at least one.
  int64_t size_ = 1;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BROADCAST_H_
