// com.microsoft's operators on codes of 8 bits, one by one or along an axis, as plain HLO.

#include <functional>
#include <numeric>

#include "cc/core/binary.h"
#include "cc/core/concat.h"
#include "cc/core/softmax.h"
#include "cc/xla/byte_format.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;

// A function of x's codes, computed for all 256 and looked up.
template <typename Function>
xla::XlaOp LookUpXla(const XlaByteFormat& x_format, xla::XlaOp x, const Dims& dims,
                     const XlaByteFormat& y_format, Function&& function) {
  const xla::XlaOp bytes = xla::Iota(x.builder(), xla::U8, 256);
  const XlaFloat values = x_format.Value(xla::BitcastConvertType(bytes, x_format.type), {256});
  const xla::XlaOp table = y_format.Quantize(function(values), {256});
  xla::GatherDimensionNumbers numbers;
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(dims.size());
  const xla::XlaOp index = xla::ConvertElementType(xla::BitcastConvertType(x, xla::U8), xla::S32);
  return xla::Gather(table, index, numbers, {1});
}

template <BinaryKind kKind>
class BinaryXlaOp : public XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* c) override {
    XlaByteFormat a, b, y;
    OP_REQUIRES_OK(c, GetFormat(c, "a", &a));
    OP_REQUIRES_OK(c, GetFormat(c, "b", &b));
    OP_REQUIRES_OK(c, GetFormat(c, "c", &y));
    const auto shape = ResolveBinary(InputShapeOf(c, 0), InputShapeOf(c, 3));
    OP_REQUIRES(c, shape.ok(), ToStatus(shape.error()));
    const Dims& dims = **shape;
    const auto difference = [&](const XlaByteFormat& format, int input) {
      const size_t rank = InputShapeOf(c, input)->size();
      std::vector<int64_t> places(rank);
      std::iota(places.begin(), places.end(), dims.size() - rank);
      return format.Difference(xla::BroadcastInDim(c->Input(input), dims, places), dims);
    };
    const XlaFloat plus{xla::ConvertElementType(y.ZeroPoint(dims), xla::F32)};
    c->SetOutput(0, y.Round(BinaryValue(kKind, difference(a, 0), a.Scale(dims), difference(b, 3),
                                        b.Scale(dims), y.Scale(dims), plus)));
  }
};

// See UnaryOp in cc/kernels.
class UnaryXlaOp : public XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* c) override {
    XlaByteFormat x, y;
    OP_REQUIRES_OK(c, GetFormat(c, "x", &x));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &y));
    Emit(c, c->Input(0), *InputShapeOf(c, 0), x, y);
  }

 protected:
  virtual void Emit(XlaOpKernelContext* c, xla::XlaOp x, const Dims& dims,
                    const XlaByteFormat& x_format, const XlaByteFormat& y_format) = 0;
};

class QLinearLeakyReluXlaOp : public UnaryXlaOp {
 public:
  explicit QLinearLeakyReluXlaOp(OpKernelConstruction* c) : UnaryXlaOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("alpha", &alpha_));
  }

 protected:
  void Emit(XlaOpKernelContext* c, xla::XlaOp x, const Dims& dims, const XlaByteFormat& x_format,
            const XlaByteFormat& y_format) override {
    c->SetOutput(0, LookUpXla(x_format, x, dims, y_format, [this](XlaFloat value) {
                   return SelectLess(value, value.Constant(0.0f), value * alpha_, value);
                 }));
  }

 private:
  float alpha_;
};

class QLinearSigmoidXlaOp : public UnaryXlaOp {
 public:
  using UnaryXlaOp::UnaryXlaOp;

 protected:
  void Emit(XlaOpKernelContext* c, xla::XlaOp x, const Dims& dims, const XlaByteFormat& x_format,
            const XlaByteFormat& y_format) override {
    c->SetOutput(0, LookUpXla(x_format, x, dims, y_format, [](XlaFloat value) {
                   const xla::XlaOp wide = xla::ConvertElementType(value.op, xla::F64);
                   const xla::XlaOp one = xla::FullLike(wide, 1.0);
                   const xla::XlaOp sigmoid =
                       xla::Div(one, xla::Add(one, xla::Exp(xla::Neg(wide))));
                   return XlaFloat{xla::ConvertElementType(sigmoid, xla::F32)};
                 }));
  }
};

class QLinearSoftmaxXlaOp : public UnaryXlaOp {
 public:
  explicit QLinearSoftmaxXlaOp(OpKernelConstruction* c) : UnaryXlaOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(c, c->GetAttr("opset", &opset_));
  }

 protected:
  void Emit(XlaOpKernelContext* c, xla::XlaOp x, const Dims& dims, const XlaByteFormat& x_format,
            const XlaByteFormat& y_format) override {
    const auto resolved = ResolveSoftmax(dims, axis_, opset_);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const Dims rows{resolved->outer, resolved->length, resolved->inner};
    const auto spread = [&](xla::XlaOp of_rows) {
      return xla::BroadcastInDim(of_rows, rows, {0, 2});
    };
    const xla::XlaOp codes = xla::ConvertElementType(xla::Reshape(x, rows), xla::S32);
    const auto extreme = [&](int32_t start, const xla::XlaComputation& computation) {
      return xla::Reduce(codes, xla::ConstantR0(c->builder(), start), computation, {1});
    };
    const xla::XlaOp highest =
        extreme(-128, xla::CreateScalarMaxComputation(xla::S32, c->builder()));
    const xla::XlaOp lowest = extreme(255, xla::CreateScalarMinComputation(xla::S32, c->builder()));
    const xla::XlaOp reversed = xla::Lt(x_format.scale, xla::ConstantR0<float>(c->builder(), 0.0f));
    const xla::XlaOp best =
        xla::Select(xla::Broadcast(reversed, {rows[0], rows[2]}), lowest, highest);
    const xla::XlaOp distance = xla::ConvertElementType(xla::Sub(codes, spread(best)), xla::F64);
    const xla::XlaOp scale =
        xla::Broadcast(xla::ConvertElementType(x_format.scale, xla::F64), rows);
    const xla::XlaOp e = xla::Exp(xla::Mul(distance, scale));
    const xla::XlaOp sum =
        xla::Reduce(e, xla::ConstantR0<double>(c->builder(), 0.0),
                    xla::CreateScalarAddComputation(xla::F64, c->builder()), {1});
    const XlaFloat p{xla::ConvertElementType(xla::Div(e, spread(sum)), xla::F32)};
    c->SetOutput(0, xla::Reshape(y_format.Quantize(p, rows), dims));
  }

 private:
  int64_t axis_;
  int64_t opset_;
};

class QLinearConcatXlaOp : public XlaOpKernel {
 public:
  explicit QLinearConcatXlaOp(OpKernelConstruction* c) : XlaOpKernel(c) {
    OP_REQUIRES_OK(c, GetConcatAxis(c, &axis_));
  }

  void Compile(XlaOpKernelContext* c) override {
    std::vector<XlaByteFormat> x;
    XlaByteFormat y;
    OP_REQUIRES_OK(c, GetFormats(c, "x", &x));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &y));
    constexpr int kFirst = 2;  // Input: y's scale and zero point come before.
    std::vector<Shape> shapes;
    for (size_t i = 0; i < x.size(); ++i) shapes.push_back(InputShapeOf(c, kFirst + i));
    const auto shape = ResolveConcat(shapes, axis_);
    OP_REQUIRES(c, shape.ok(), ToStatus(shape.error()));
    std::vector<xla::XlaOp> parts;
    for (size_t i = 0; i < x.size(); ++i) {
      parts.push_back(LookUpXla(x[i], c->Input(kFirst + i), *shapes[i], y,
                                [](XlaFloat value) { return value; }));
    }
    const int64_t rank = (*shape)->size();
    c->SetOutput(0, xla::ConcatInDim(c->builder(), parts, axis_ < 0 ? axis_ + rank : axis_));
  }

 private:
  int64_t axis_;
};

TF_QOPS_REGISTER_XLA("QLinearAdd", BinaryXlaOp<BinaryKind::kAdd>);
TF_QOPS_REGISTER_XLA("QLinearMul", BinaryXlaOp<BinaryKind::kMul>);
TF_QOPS_REGISTER_XLA("QLinearLeakyRelu", QLinearLeakyReluXlaOp);
TF_QOPS_REGISTER_XLA("QLinearSigmoid", QLinearSigmoidXlaOp);
TF_QOPS_REGISTER_XLA("QLinearSoftmax", QLinearSoftmaxXlaOp);
TF_QOPS_REGISTER_XLA("QLinearConcat", QLinearConcatXlaOp);

}  // namespace
}  // namespace tf_qops
