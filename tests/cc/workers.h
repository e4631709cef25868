#ifndef TF_QOPS_TESTS_CC_WORKERS_H_
#define TF_QOPS_TESTS_CC_WORKERS_H_

#include <thread>

#include "cc/core/parallel.h"

namespace tf_qops {

// Two parts on two threads, so that a range begins in the middle.
inline Workers TwoThreads() {
  return {2, [](int64_t total, int64_t, const auto& work) {
            const int64_t middle = total / 3;
            std::thread other([&] { work(middle, total); });
            if (middle > 0) work(0, middle);
            other.join();
          }};
}

}  // namespace tf_qops

#endif  // TF_QOPS_TESTS_CC_WORKERS_H_
