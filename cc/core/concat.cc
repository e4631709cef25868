#include "cc/core/concat.h"

#include <algorithm>

#include "cc/core/byte_kernels.h"

namespace tf_qops {
namespace {

bool ChangesNothing(const ByteTable& table) {
  for (int byte = 0; byte < 256; ++byte) {
    if (table[byte] != byte) return false;
  }
  return true;
}

}  // namespace

Result<Shape> ResolveConcat(const std::vector<Shape>& inputs, int64_t axis) {
  const auto known = std::find_if(inputs.begin(), inputs.end(), [](const Shape& s) { return !!s; });
  if (known == inputs.end()) return Shape();
  const int64_t rank = (*known)->size();
  if (axis < -rank || axis >= rank) {
    return Invalid("axis must be in [", -rank, ", ", rank - 1, "] for inputs of rank ", rank,
                   ". Received: ", axis);
  }
  const int64_t at = axis < 0 ? axis + rank : axis;
  Dims y(rank, kUnknown);
  y[at] = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      y[at] = kUnknown;
      continue;
    }
    const Dims& x = *inputs[i];
    bool ok = static_cast<int64_t>(x.size()) == rank;
    for (int64_t d = 0; ok && d < rank; ++d) {
      if (d == at) {
        y[d] = y[d] == kUnknown || x[d] == kUnknown ? kUnknown : y[d] + x[d];
      } else if (y[d] == kUnknown) {
        y[d] = x[d];
      } else {
        ok = x[d] == kUnknown || x[d] == y[d];
      }
    }
    if (!ok) {
      return Invalid("inputs must have the same shape but for the axis. Received: input ", i,
                     " of shape ", Show{inputs[i]}, ", input ", known - inputs.begin(),
                     " of shape ", Show{*known}, ", axis=", axis);
    }
  }
  return Shape(y);
}

void ConcatReference(const std::vector<ConcatPart>& parts, int64_t outer, uint8_t* y) {
  for (int64_t o = 0; o < outer; ++o) {
    for (const ConcatPart& part : parts) {
      for (int64_t i = 0; i < part.row; ++i) *y++ = part.table[part.x[o * part.row + i]];
    }
  }
}

void Concat(const std::vector<ConcatPart>& parts, int64_t outer, uint8_t* y, const Workers& workers,
            InstructionSet isa) {
  int64_t row = 0;
  std::vector<bool> copied;
  for (const ConcatPart& part : parts) {
    row += part.row;
    copied.push_back(ChangesNothing(part.table));
  }
  workers.run(outer * row, 1, [&](int64_t begin, int64_t end) {
    int64_t at = begin / row * row;  // Where the part begins in y.
    for (int64_t o = begin / row; at < end; ++o) {
      for (size_t p = 0; p < parts.size(); at += parts[p].row, ++p) {
        const int64_t first = std::max(begin, at), last = std::min(end, at + parts[p].row);
        if (first >= last) continue;
        const uint8_t* x = parts[p].x + o * parts[p].row + first - at;
        if (copied[p]) {
          std::copy_n(x, last - first, y + first);
        } else {
          ByteKernelsOf(isa).look_up(parts[p].table.data(), x, last - first, y + first);
        }
      }
    }
  });
}

}  // namespace tf_qops
