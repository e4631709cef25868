// MatMulInteger, MatMulIntegerToFloat, DynamicQuantizeMatMul, QLinearMatMul and QGemm on the CPU.

#include "cc/core/dynamic_quantize.h"
#include "cc/core/integer_matmul.h"
#include "cc/core/matmul_geometry.h"
#include "cc/core/product_sink.h"
#include "cc/core/quantize_linear.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/packed_weights.h"
#include "cc/ops/attributes.h"
#include "cc/ops/dtypes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// A parameter of rows or columns, null for zero: read(i) is its flat element i. One value where it
// has one, else one for each row (column) of each of the operand's matrices.
template <typename T, typename Read>
Lanes<T> LanesOf(const Tensor* parameter, const Dims& matrices, bool per_row, Read&& read) {
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

Lanes<int32_t> ZeroLanes(const Tensor* zero, const Dims& matrices, bool per_row) {
  return LanesOf<int32_t>(zero, matrices, per_row, [&](int64_t i) { return BytesOf(*zero)[i]; });
}

Lanes<float> ScaleLanes(const Tensor& scale, const Dims& matrices, bool per_row) {
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

int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

// What they have in common: the sums of every product of the batch, given to sinks.
class ProductOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

 protected:
  // Checks the operands and allocates the output; null after an error.
  Tensor* Prepare(OpKernelContext* c, const Shape& a, const Shape& b, MatMulGeometry* g) const {
    const auto resolved = ResolveMatMul(a, b);
    absl::Status status = resolved.ok() ? absl::OkStatus() : ToStatus(resolved.error());
    Tensor* y = nullptr;
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
  void Multiply(OpKernelContext* c, const MatMulGeometry& g, const Tensor& a, bool trans_a,
                const Lanes<int32_t>& a_zero, const Tensor& b, bool trans_b,
                const Lanes<int32_t>& b_zero, MakeSink&& sink) {
    const int64_t b_matrices = Product(g.b_batch), a_size = g.rows * g.depth;
    const auto packed =
        packed_.Get(b, Spread(b_zero, b_matrices * g.columns), [&](const auto& zero_points) {
          std::vector<PackedPanels> matrices;
          for (int64_t m = 0; m < b_matrices; ++m) {
            const ByteMatrix matrix{BytesOf(b) + m * g.depth * g.columns, g.depth, g.columns,
                                    trans_b ? 1 : g.columns, trans_b ? g.depth : 1};
            matrices.push_back(
                PackMatrix(matrix, zero_points.data() + m * g.columns, ChosenInstructionSet()));
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
absl::Status CheckLanes(const char* name, const Tensor* parameter, const char* operand,
                        const Shape& matrices, bool per_row) {
  if (parameter == nullptr) return absl::OkStatus();
  const auto ok = CheckVectorParameter(name, ShapeOf(*parameter), operand, matrices, per_row);
  return ok.ok() ? absl::OkStatus() : ToStatus(ok.error());
}

class MatMulIntegerOp : public ProductOp {
 public:
  using ProductOp::ProductOp;

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &b = c->input(1);
    const Tensor *a_zero = nullptr, *b_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "a_zero_point", &a_zero));
    OP_REQUIRES_OK(c, OptionalInput(c, "b_zero_point", &b_zero));
    OP_REQUIRES_OK(c, CheckLanes("a_zero_point", a_zero, "a", ShapeOf(a), true));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", b_zero, "b", ShapeOf(b), false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, ShapeOf(a), ShapeOf(b), &g);
    if (y == nullptr || y->NumElements() == 0) return;
    const Int32Sink sink({g.columns}, MutableData<int32_t>(y));
    Multiply(c, g, a, false, ZeroLanes(a_zero, *ShapeOf(a), true), b, false,
             ZeroLanes(b_zero, *ShapeOf(b), false),
             [&](int64_t) -> const AccumulatorSink& { return sink; });
  }
};

// MatMulIntegerToFloat and DynamicQuantizeMatMul: f32(acc) * (a_scale * b_scale) + bias.
class ProductToFloatOp : public ProductOp {
 public:
  using ProductOp::ProductOp;

 protected:
  // Checks what concerns b; the rest is of a and checked by the caller.
  void MultiplyToFloat(OpKernelContext* c, const Tensor& a, const Tensor& a_scale,
                       const Tensor* a_zero, const Tensor& b, const Tensor& b_scale) {
    const Tensor *b_zero = nullptr, *bias = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "b_zero_point", &b_zero));
    OP_REQUIRES_OK(c, OptionalInput(c, "bias", &bias));
    const Shape a_shape = ShapeOf(a), b_shape = ShapeOf(b);
    OP_REQUIRES_OK(c, CheckLanes("b_scale", &b_scale, "b", b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", b_zero, "b", b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("bias", bias, "b", b_shape, false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, a_shape, b_shape, &g);
    if (y == nullptr || y->NumElements() == 0) return;

    ProductScaling scaling;
    scaling.a_scale = ForAllProducts(ScaleLanes(a_scale, *a_shape, true), g);
    const Lanes<float> b_lanes = ScaleLanes(b_scale, *b_shape, false);
    std::vector<float> terms;
    if (bias != nullptr) {
      terms = Spread(ScaleLanes(*bias, *b_shape, false), Product(g.b_batch) * g.columns);
    }
    std::optional<ProductFloatSink> sink;
    Multiply(c, g, a, false, ZeroLanes(a_zero, *a_shape, true), b, false,
             ZeroLanes(b_zero, *b_shape, false), [&](int64_t m) -> const AccumulatorSink& {
               scaling.b_scale = OfMatrix(b_lanes, m, g.columns);
               return sink.emplace(scaling, terms.empty() ? nullptr : terms.data() + m * g.columns,
                                   g.columns, MutableData<float>(y));
             });
  }
};

class MatMulIntegerToFloatOp : public ProductToFloatOp {
 public:
  using ProductToFloatOp::ProductToFloatOp;

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &a_scale = c->input(2);
    const Tensor* a_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "a_zero_point", &a_zero));
    OP_REQUIRES_OK(c, CheckLanes("a_scale", &a_scale, "a", ShapeOf(a), true));
    OP_REQUIRES_OK(c, CheckLanes("a_zero_point", a_zero, "a", ShapeOf(a), true));
    MultiplyToFloat(c, a, a_scale, a_zero, c->input(1), c->input(3));
  }
};

class DynamicQuantizeMatMulOp : public ProductToFloatOp {
 public:
  using ProductToFloatOp::ProductToFloatOp;

  void Compute(OpKernelContext* c) override {
    const Tensor& a = c->input(0);
    Tensor codes, scale, zero_point;
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_UINT8, a.shape(), &codes));
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_FLOAT, {}, &scale));
    OP_REQUIRES_OK(c, c->allocate_temp(tensorflow::DT_UINT8, {}, &zero_point));
    const Workers workers = WorkersOf(c);
    const InstructionSet isa = ChosenInstructionSet();
    const DynamicScale chosen(RangeOf(Data<float>(a), a.NumElements(), workers, isa));
    QuantizeToBytes(chosen, Data<float>(a), a.NumElements(), MutableData<uint8_t>(&codes), workers,
                    isa);
    *MutableData<float>(&scale) = chosen.scale;
    *MutableData<uint8_t>(&zero_point) = chosen.zero_point;
    MultiplyToFloat(c, codes, scale, &zero_point, c->input(1), c->input(2));
  }
};

class QLinearMatMulOp : public ProductOp {
 public:
  explicit QLinearMatMulOp(OpKernelConstruction* c) : ProductOp(c) {
    const std::pair<const char*, tensorflow::DataType> operands[] = {
        {"a", c->input_type(0)}, {"b", c->input_type(3)}, {"y_zero_point", c->output_type(0)}};
    for (const auto& [name, dtype] : operands) OP_REQUIRES_OK(c, CheckByteCode(name, dtype));
  }

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &a_scale = c->input(1), &a_zero = c->input(2), &b = c->input(3),
                 &b_scale = c->input(4), &b_zero = c->input(5), &y_scale = c->input(6),
                 &y_zero = c->input(7);
    const Shape a_shape = ShapeOf(a), b_shape = ShapeOf(b);
    OP_REQUIRES_OK(c, CheckLanes("a_scale", &a_scale, "a", a_shape, true));
    OP_REQUIRES_OK(c, CheckLanes("a_zero_point", &a_zero, "a", a_shape, true));
    OP_REQUIRES_OK(c, CheckLanes("b_scale", &b_scale, "b", b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", &b_zero, "b", b_shape, false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, a_shape, b_shape, &g);
    if (y == nullptr) return;
    Dims y_rows = g.batch;  // The output as matrices, even where a or b is a vector.
    y_rows.insert(y_rows.end(), {g.rows, g.columns});
    OP_REQUIRES_OK(c, CheckLanes("y_scale", &y_scale, "y", y_rows, true));
    OP_REQUIRES_OK(c, CheckLanes("y_zero_point", &y_zero, "y", y_rows, true));
    if (y->NumElements() == 0) return;

    ProductScaling scaling;
    scaling.a_scale = ForAllProducts(ScaleLanes(a_scale, *a_shape, true), g);
    scaling.y_scale = ScaleLanes(y_scale, y_rows, true);
    const Lanes<float> b_lanes = ScaleLanes(b_scale, *b_shape, false);
    if (!IsInteger(a) || !IsInteger(b) || !IsInteger(*y)) {
      scaling.b_scale = b_lanes;
      MultiplyDecoded(c, g, scaling, y_rows, y);
      return;
    }
    const Lanes<int32_t> zero = ZeroLanes(&y_zero, y_rows, true);
    std::optional<ProductCodesSink> sink;
    Multiply(c, g, a, false, ZeroLanes(&a_zero, *a_shape, true), b, false,
             ZeroLanes(&b_zero, *b_shape, false), [&](int64_t m) -> const AccumulatorSink& {
               scaling.b_scale = OfMatrix(b_lanes, m, g.columns);
               return sink.emplace(scaling, zero, y->dtype() == tensorflow::DT_INT8, g.columns,
                                   ChosenInstructionSet(), y->data());
             });
  }

 private:
  static bool IsInteger(const Tensor& t) {
    return t.dtype() == tensorflow::DT_INT8 || t.dtype() == tensorflow::DT_UINT8;
  }

  // Where a float of 8 bits takes part: codes less their zero points as float32, products and sums
  // rounded to it in the order of the depth.
  void MultiplyDecoded(OpKernelContext* c, const MatMulGeometry& g, const ProductScaling& scaling,
                       const Dims& y_rows, Tensor* y) {
    const std::vector<float> a = Decoded(c->input(0), c->input(2), g.rows, g.depth, true);
    const std::vector<float> b = Decoded(c->input(3), c->input(5), g.depth, g.columns, false);
    const Tensor& y_zero = c->input(7);
    VisitBytes(y->dtype(), [&](auto tag) {
      using Y = typename decltype(tag)::type;
      const auto zeros =
          LanesOf<Y>(&y_zero, y_rows, true, [&](int64_t i) { return Data<Y>(y_zero)[i]; });
      const auto multiply = [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t i = row / g.rows, first = g.BMatrix(i) * g.columns;
          const float* a_row = a.data() + (g.AMatrix(i) * g.rows + row % g.rows) * g.depth;
          for (int64_t n = 0; n < g.columns; ++n) {
            float sum = 0.0f;
            for (int64_t k = 0; k < g.depth; ++k) {
              sum += a_row[k] * b[first * g.depth + k * g.columns + n];
            }
            const float value = sum * scaling.Scale(row, first + n);
            MutableData<Y>(y)[row * g.columns + n] = QuantizeValue(value, 1.0f, zeros[row], {});
          }
        }
      };
      WorkersOf(c).run(g.batches() * g.rows, g.depth * g.columns, multiply);
    });
  }

  // Codes of [matrices, rows, columns] less the zero point of their row or column.
  static std::vector<float> Decoded(const Tensor& codes, const Tensor& zero_point, int64_t rows,
                                    int64_t columns, bool per_row) {
    std::vector<float> values(codes.NumElements());
    VisitBytes(codes.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto zeros = LanesOf<T>(&zero_point, *ShapeOf(codes), per_row,
                                    [&](int64_t i) { return Data<T>(zero_point)[i]; });
      for (size_t i = 0; i < values.size(); ++i) {
        const int64_t row = i / columns, matrix = row / rows;
        const T zero = zeros[per_row ? row : matrix * columns + i % columns];
        values[i] = static_cast<float>(Codes<T>::Read(Data<T>(codes)[i]) - Codes<T>::Read(zero));
      }
    });
    return values;
  }

  template <typename Visit>
  static void VisitBytes(tensorflow::DataType dtype, Visit&& visit) {
    VisitCodes(dtype, [&](auto tag) {
      if constexpr (kIsByteCode<typename decltype(tag)::type>) visit(tag);
    });
  }
};

class QGemmOp : public ProductOp {
 public:
  explicit QGemmOp(OpKernelConstruction* c) : ProductOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("trans_a", &trans_a_));
    OP_REQUIRES_OK(c, c->GetAttr("trans_b", &trans_b_));
    OP_REQUIRES_OK(c, c->GetAttr("alpha", &alpha_));
  }

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &a_scale = c->input(1), &a_zero = c->input(2), &b = c->input(3),
                 &b_scale = c->input(4), &b_zero = c->input(5);
    const Tensor *term = nullptr, *y_scale = nullptr, *y_zero = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "c", &term));
    OP_REQUIRES_OK(c, OptionalInput(c, "y_scale", &y_scale));
    OP_REQUIRES_OK(c, OptionalInput(c, "y_zero_point", &y_zero));
    const auto a_shape = GemmOperand("a", ShapeOf(a), trans_a_);
    const auto b_shape = GemmOperand("b", ShapeOf(b), trans_b_);
    OP_REQUIRES(c, a_shape.ok(), ToStatus(a_shape.error()));
    OP_REQUIRES(c, b_shape.ok(), ToStatus(b_shape.error()));
    const std::pair<const char*, const Tensor*> scalars[] = {{"a_scale", &a_scale},
                                                             {"a_zero_point", &a_zero},
                                                             {"y_scale", y_scale},
                                                             {"y_zero_point", y_zero}};
    for (const auto& [name, scalar] : scalars) {
      OP_REQUIRES_OK(c, CheckLanes(name, scalar, "a", Dims{1, 1}, true));
    }
    OP_REQUIRES_OK(c, CheckLanes("b_scale", &b_scale, "b", *b_shape, false));
    OP_REQUIRES_OK(c, CheckLanes("b_zero_point", &b_zero, "b", *b_shape, false));
    MatMulGeometry g;
    Tensor* y = Prepare(c, *a_shape, *b_shape, &g);
    if (y == nullptr) return;
    const bool to_float = y->dtype() == tensorflow::DT_FLOAT;
    OP_REQUIRES(c, to_float == (y_scale == nullptr),
                ToStatus(Invalid("y_scale must be given if and only if the output is quantized. "
                                 "Received: output_dtype=",
                                 tensorflow::DataTypeString(y->dtype()), ", ",
                                 y_scale == nullptr ? "no y_scale" : "a y_scale")));

    ProductScaling scaling;
    scaling.alpha = alpha_;
    scaling.a_scale = ScaleLanes(a_scale, {1, 1}, true);
    scaling.b_scale = ScaleLanes(b_scale, **b_shape, false);
    if (y_scale != nullptr) scaling.y_scale = ScaleLanes(*y_scale, {1, 1}, true);
    if (term != nullptr) {
      const Shape shape = ShapeOf(*term);
      const auto ok = CheckGemmTerm(shape, Dims{g.rows, g.columns});
      OP_REQUIRES(c, ok.ok(), ToStatus(ok.error()));
      scaling.c = Data<int32_t>(*term);
      if (!shape->empty() && shape->back() != 1) scaling.c_column_step = 1;
      if (shape->size() == 2 && (*shape)[0] != 1) scaling.c_row_step = shape->back();
    }
    if (y->NumElements() == 0) return;

    const Lanes<int32_t> zero = ZeroLanes(y_zero, {1, 1}, true);
    std::optional<ProductFloatSink> floats;
    std::optional<ProductCodesSink> codes;
    Multiply(c, g, a, trans_a_, ZeroLanes(&a_zero, {1, 1}, true), b, trans_b_,
             ZeroLanes(&b_zero, **b_shape, false), [&](int64_t) -> const AccumulatorSink& {
               if (to_float) {
                 return floats.emplace(scaling, nullptr, g.columns, MutableData<float>(y));
               }
               return codes.emplace(scaling, zero, y->dtype() == tensorflow::DT_INT8, g.columns,
                                    ChosenInstructionSet(), y->data());
             });
  }

 private:
  bool trans_a_;
  bool trans_b_;
  float alpha_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>MatMulInteger").Device(tensorflow::DEVICE_CPU),
                        MatMulIntegerOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>MatMulIntegerToFloat").Device(tensorflow::DEVICE_CPU),
                        MatMulIntegerToFloatOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>DynamicQuantizeMatMul").Device(tensorflow::DEVICE_CPU),
                        DynamicQuantizeMatMulOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearMatMul").Device(tensorflow::DEVICE_CPU),
                        QLinearMatMulOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QGemm").Device(tensorflow::DEVICE_CPU), QGemmOp);

}  // namespace
}  // namespace tf_qops
