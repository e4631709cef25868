#ifndef TF_QOPS_CC_CORE_MATMUL_GEOMETRY_H_
#define TF_QOPS_CC_CORE_MATMUL_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "cc/core/result.h"
#include "cc/core/shape.h"

namespace tf_qops {

// numpy.matmul of [..., M, K] and [..., K, N] with every number known: one product for each index
// of the batch, whose dimensions are broadcast.
struct MatMulGeometry {
  int64_t rows = 0;     // M; 1 where a is a vector.
  int64_t depth = 0;    // K.
  int64_t columns = 0;  // N; 1 where b is a vector.
  Dims batch;           // Of the output.
  Dims a_batch;         // Of a and b, before broadcasting; aligned at the end.
  Dims b_batch;

  int64_t batches() const;
  // Which matrix of a, or of b, the product at `index` of the batch takes.
  int64_t AMatrix(int64_t index) const { return Source(index, a_batch); }
  int64_t BMatrix(int64_t index) const { return Source(index, b_batch); }

 private:
  int64_t Source(int64_t index, const Dims& source) const;
};

struct ResolvedMatMul {
  Shape output;
  MatMulGeometry geometry;  // Meaningful where a and b are fully known.
};

// numpy.matmul's rules for shapes that may be known in part.
Result<ResolvedMatMul> ResolveMatMul(const Shape& a, const Shape& b);

// A parameter of a's rows (`per_row`) or of b's columns: a scalar, [1], [D] with D the number of
// rows or columns, or of the matrices' own shape with 1 in place of the other dimension:
// [..., M, 1] or [..., 1, N], where the batch dimensions may be 1 too.
Result<bool> CheckVectorParameter(const char* name, const Shape& parameter, const char* operand,
                                  const Shape& matrices, bool per_row);

// Indices into such a parameter: element i * D + d is for row or column d of matrix i.
std::vector<int64_t> VectorParameterIndices(const Dims& parameter, const Dims& matrices,
                                            bool per_row);

// The shape of Gemm's operand, a matrix, after it was transposed if it is to be.
Result<Shape> GemmOperand(const char* name, const Shape& shape, bool transposed);

// Gemm's third term broadcasts to the product in one direction.
Result<bool> CheckGemmTerm(const Shape& c, const Shape& product);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_MATMUL_GEOMETRY_H_
