#ifndef TF_QOPS_CC_CORE_CONCAT_H_
#define TF_QOPS_CC_CORE_CONCAT_H_

#include <cstdint>
#include <vector>

#include "cc/core/byte_table.h"
#include "cc/core/cpu.h"
#include "cc/core/parallel.h"
#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// The shape of com.microsoft's QLinearConcat along `axis`, negative from the end.
Result<Shape> ResolveConcat(const std::vector<Shape>& inputs, int64_t axis);

// An input of it, seen as [outer, row].
struct ConcatPart {
  const uint8_t* x;
  int64_t row;      // Bytes along the axis and within.
  ByteTable table;  // From its codes to those of y.
};

// y, seen as [outer, all rows side by side], by its definition.
void ConcatReference(const std::vector<ConcatPart>& parts, int64_t outer, uint8_t* y);

// The same; a table that changes nothing costs a copy.
void Concat(const std::vector<ConcatPart>& parts, int64_t outer, uint8_t* y, const Workers& workers,
            InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CONCAT_H_
