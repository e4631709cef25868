#ifndef TF_QOPS_TESTS_CC_CHECK_H_
#define TF_QOPS_TESTS_CC_CHECK_H_

#include <cstdlib>
#include <iostream>
#include <random>

namespace tf_qops {

// Ends the program where `condition` does not hold; what follows << says with which input.
#define CHECK(condition) \
  if (condition) {       \
  } else /* NOLINT */    \
    tf_qops::Failure(__FILE__, __LINE__, #condition).stream()

class Failure {
 public:
  Failure(const char* file, int line, const char* condition) {
    std::cerr << file << ':' << line << ": not true: " << condition << ' ';
  }
  ~Failure() {
    std::cerr << std::endl;
    std::exit(1);
  }
  std::ostream& stream() { return std::cerr; }
};

// Whole numbers in [low, high], the same on every run.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_TESTS_CC_CHECK_H_
