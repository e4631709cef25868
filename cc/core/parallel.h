#ifndef TF_QOPS_CC_CORE_PARALLEL_H_
#define TF_QOPS_CC_CORE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace tf_qops {

// The threads of whoever calls the core, which has none of its own.
struct Workers {
  int threads = 1;
  // Runs work(begin, end) over ranges that cover [0, total), perhaps at once; `cost` is about the
  // nanoseconds that one unit takes.
  std::function<void(int64_t total, int64_t cost,
                     const std::function<void(int64_t begin, int64_t end)>& work)>
      run;
};

// Everything on the calling thread.
inline Workers Serial() {
  return {1, [](int64_t total, int64_t /*cost*/, const auto& work) {
            if (total > 0) work(0, total);
          }};
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PARALLEL_H_
