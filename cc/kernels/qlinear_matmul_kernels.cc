// QLinearMatMul on the CPU.

#include "cc/core/quantize_linear.h"
#include "cc/kernels/product_op.h"
#include "cc/ops/dtypes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

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

REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearMatMul").Device(tensorflow::DEVICE_CPU),
                        QLinearMatMulOp);

}  // namespace
}  // namespace tf_qops
