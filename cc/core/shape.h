#ifndef TF_QOPS_CC_CORE_SHAPE_H_
#define TF_QOPS_CC_CORE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace tf_qops {

inline constexpr int64_t kUnknown = -1;

// Dimensions, kUnknown where a graph does not know them yet.
using Dims = std::vector<int64_t>;

// Dimensions of a tensor; nothing where even the rank is unknown.
using Shape = std::optional<Dims>;

// A shape as it stands in a message: [2,?,3], or <unknown> without a rank.
struct Show {
  Shape shape;
};

inline std::ostream& operator<<(std::ostream& out, const Show& show) {
  if (!show.shape) return out << "<unknown>";
  out << '[';
  for (size_t i = 0; i < show.shape->size(); ++i) {
    if (i > 0) out << ',';
    if ((*show.shape)[i] == kUnknown) {
      out << '?';
    } else {
      out << (*show.shape)[i];
    }
  }
  return out << ']';
}

// A list of numbers as it stands in a message: [2,-1,3].
struct ShowNumbers {
  const Dims& numbers;
};

inline std::ostream& operator<<(std::ostream& out, const ShowNumbers& show) {
  out << '[';
  for (size_t i = 0; i < show.numbers.size(); ++i) out << (i > 0 ? "," : "") << show.numbers[i];
  return out << ']';
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_SHAPE_H_
