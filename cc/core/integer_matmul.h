#ifndef TF_QOPS_CC_CORE_INTEGER_MATMUL_H_
#define TF_QOPS_CC_CORE_INTEGER_MATMUL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cc/core/accumulator_sink.h"
#include "cc/core/bytes.h"
#include "cc/core/cpu.h"
#include "cc/core/packed_panels.h"
#include "cc/core/parallel.h"
#include "cc/core/plan.h"

namespace tf_qops {

// A matrix of 8-bit codes; a transposed one has its steps exchanged.
struct ByteMatrix {
  Bytes codes;
  int64_t rows;
  int64_t columns;
  int64_t row_step;
  int64_t column_step;

  int32_t At(int64_t row, int64_t column) const {
    return codes[row * row_step + column * column_step];
  }
};

// sums[m, n] = sum over k of (a[m, k] - a_zero[m]) * (b[k, n] - b_zero[n]), modulo 2^32, by its
// definition.
std::vector<int32_t> MatMulSumsReference(const ByteMatrix& a, const int32_t* a_zero,
                                         const ByteMatrix& b, const int32_t* b_zero);

// A right operand for the kernels of an instruction set.
PackedPanels PackMatrix(const ByteMatrix& b, const int32_t* b_zero, InstructionSet isa,
                        std::optional<Algorithm> forced = ForcedAlgorithm());

// The sums of MatMulSumsReference; row m of `a` is row first_row + m of the sink. `b` was packed
// for the same instruction set.
void PackedMatMul(const ByteMatrix& a, const int32_t* a_zero, const PackedPanels& b,
                  int64_t first_row, const AccumulatorSink& sink, const Workers& workers,
                  InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_INTEGER_MATMUL_H_
