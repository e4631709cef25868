#ifndef TF_QOPS_CC_KERNELS_PRODUCT_OP_H_
#define TF_QOPS_CC_KERNELS_PRODUCT_OP_H_

#include <vector>

#include "cc/core/integer_matmul.h"
#include "cc/core/matmul_geometry.h"
#include "cc/core/product_sink.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/packed_weights.h"

// What the operators that multiply matrices of codes have in common.

namespace tf_qops {

// A parameter of rows or columns, null for zero: read(i) is its flat element i. One value where it
// has one, else one for each row (column) of each of the operand's matrices.
template <typename T, typename Read>
Lanes<T> LanesOf(const tensorflow::Tensor* parameter, const Dims& matrices, bool per_row,
                 Read&& read) {
  Lanes<T> lanes;
  if (parameter == nullptr || parameter->NumElements() == 1) {
    lanes.values = {parameter == nullptr ? T{} : static_cast<T>(read(0))};
    return lanes;
  }
  for (int64_t i : VectorParameterIndices(*ShapeOf(*parameter), matrices, per_row)) {
    lanes.values.push_back(static_cast<T>(read(i)));
  }
  return lanes;
}

inline Lanes<int32_t> ZeroLanes(const tensorflow::Tensor* zero, const Dims& matrices,
                                bool per_row) {
  return LanesOf<int32_t>(zero, matrices, per_row, [&](int64_t i) { return BytesOf(*zero)[i]; });
}

inline Lanes<float> ScaleLanes(const tensorflow::Tensor& scale, const Dims& matrices,
                               bool per_row) {
  const Float32Values values(scale);
  return LanesOf<float>(&scale, matrices, per_row, [&](int64_t i) { return values.data()[i]; });
}

// Of the operand's lanes, those of matrix `i`, which has `count`.
template <typename T>
Lanes<T> OfMatrix(const Lanes<T>& lanes, int64_t i, int64_t count) {
  if (lanes.uniform()) return lanes;
  const auto begin = lanes.values.begin() + i * count;
  return {{begin, begin + count}};
}

// The operand's row lanes, repeated for each product of the batch.
template <typename T>
Lanes<T> ForAllProducts(const Lanes<T>& lanes, const MatMulGeometry& g) {
  if (lanes.uniform()) return lanes;
  Lanes<T> all;
  for (int64_t i = 0; i < g.batches(); ++i) {
    const auto begin = lanes.values.begin() + g.AMatrix(i) * g.rows;
    all.values.insert(all.values.end(), begin, begin + g.rows);
  }
  return all;
}

template <typename T>
std::vector<T> Spread(const Lanes<T>& lanes, int64_t count) {
  return lanes.uniform() ? std::vector<T>(count, lanes.values[0]) : lanes.values;
}

inline int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

// What they have in common: the sums of every product of the batch, given to sinks.
class ProductOp : public tensorflow::OpKernel {
 public:
  using tensorflow::OpKernel::OpKernel;

 protected:
  // Checks the operands and allocates the output; null after an error.
  tensorflow::Tensor* Prepare(tensorflow::OpKernelContext* c, const Shape& a, const Shape& b,
                              MatMulGeometry* g) const {
    const auto resolved = ResolveMatMul(a, b);
    absl::Status status = resolved.ok() ? absl::OkStatus() : ToStatus(resolved.error());
    tensorflow::Tensor* y = nullptr;
    if (status.ok()) {
      *g = resolved->geometry;
      status = AllocateOutput(c, resolved->output, &y);
    }
    if (!status.ok()) c->CtxFailure(status);
    return status.ok() ? y : nullptr;
  }

  // `sink(m)` takes the sums of the products with matrix m of b. Row r of product i of the batch
  // is its row i * rows + r.
  template <typename MakeSink>
  void Multiply(tensorflow::OpKernelContext* c, const MatMulGeometry& g,
                const tensorflow::Tensor& a, bool trans_a, const Lanes<int32_t>& a_zero,
                const tensorflow::Tensor& b, bool trans_b, const Lanes<int32_t>& b_zero,
                MakeSink&& sink) {
    const int64_t b_matrices = Product(g.b_batch), a_size = g.rows * g.depth;
    const auto packed = packed_.Get(
        {&b}, Spread(b_zero, b_matrices * g.columns), {g.depth, g.columns, trans_b},
        [&](const WeightsKey& key) {
          std::vector<PackedPanels> matrices;
          for (int64_t m = 0; m < b_matrices; ++m) {
            const ByteMatrix matrix{BytesOf(b) + m * g.depth * g.columns, g.depth, g.columns,
                                    trans_b ? 1 : g.columns, trans_b ? g.depth : 1};
            matrices.push_back(
                PackMatrix(matrix, key.zero_points.data() + m * g.columns, ChosenInstructionSet()));
          }
          return matrices;
        });
    const std::vector<int32_t> zeros = Spread(a_zero, Product(g.a_batch) * g.rows);
    const Workers workers = WorkersOf(c);
    const int64_t a_row_step = trans_a ? 1 : g.depth, a_column_step = trans_a ? g.rows : 1;
    if (b_matrices == 1) {  // Then a's matrices are one tall matrix.
      const ByteMatrix all{BytesOf(a), g.batches() * g.rows, g.depth, a_row_step, a_column_step};
      PackedMatMul(all, zeros.data(), (*packed)[0], 0, sink(0), workers, ChosenInstructionSet());
      return;
    }
    for (int64_t i = 0; i < g.batches(); ++i) {
      const ByteMatrix one{BytesOf(a) + g.AMatrix(i) * a_size, g.rows, g.depth, a_row_step,
                           a_column_step};
      PackedMatMul(one, zeros.data() + g.AMatrix(i) * g.rows, (*packed)[g.BMatrix(i)], i * g.rows,
                   sink(g.BMatrix(i)), workers, ChosenInstructionSet());
    }
  }

 private:
  PackedWeights<std::vector<PackedPanels>> packed_;
};

// Whether `parameter`, which may be null, has a shape for the rows or columns of `operand`.
inline absl::Status CheckLanes(const char* name, const tensorflow::Tensor* parameter,
                               const char* operand, const Shape& matrices, bool per_row) {
  if (parameter == nullptr) return absl::OkStatus();
  const auto ok = CheckVectorParameter(name, ShapeOf(*parameter), operand, matrices, per_row);
  return ok.ok() ? absl::OkStatus() : ToStatus(ok.error());
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_PRODUCT_OP_H_
