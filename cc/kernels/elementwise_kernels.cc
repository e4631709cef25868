// com.microsoft's operators on codes of 8 bits, one by one or along an axis, on the CPU.

#include "cc/core/binary.h"
#include "cc/core/byte_kernels.h"
#include "cc/core/byte_table.h"
#include "cc/core/concat.h"
#include "cc/core/exponential.h"
#include "cc/core/softmax.h"
#include "cc/kernels/adapters.h"
#include "cc/kernels/recently_used.h"
#include "cc/ops/attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <BinaryKind kKind>
class BinaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  bool IsExpensive() override { return false; }

  void Compute(OpKernelContext* c) override {
    const Tensor &a = c->input(0), &b = c->input(3);
    BinaryFormats formats;
    OP_REQUIRES_OK(c, GetFormat(c, "a", &formats.a));
    OP_REQUIRES_OK(c, GetFormat(c, "b", &formats.b));
    OP_REQUIRES_OK(c, GetFormat(c, "c", &formats.c));
    const auto shape = ResolveBinary(ShapeOf(a), ShapeOf(b));
    OP_REQUIRES(c, shape.ok(), ToStatus(shape.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, AllocateOutput(c, *shape, &y));
    if (y->NumElements() == 0) return;
    Binary(kKind, formats, BroadcastWalk(*ShapeOf(a), *ShapeOf(b)), Data<uint8_t>(a),
           Data<uint8_t>(b), MutableData<uint8_t>(y), WorkersOf(c), ChosenInstructionSet());
  }
};

// What the operators with inputs (x, x_scale, x_zero_point, y_scale, y_zero_point) and an output of
// x's shape have in common.
class UnaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* c) override {
    ByteFormat x_format, y_format;
    OP_REQUIRES_OK(c, GetFormat(c, "x", &x_format));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &y_format));
    const Tensor& x = c->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    if (x.NumElements() > 0) Run(c, x, x_format, y_format, y);
  }

 protected:
  virtual void Run(OpKernelContext* c, const Tensor& x, const ByteFormat& x_format,
                   const ByteFormat& y_format, Tensor* y) = 0;
};

class TableOp : public UnaryOp {
 public:
  using UnaryOp::UnaryOp;

  bool IsExpensive() override { return false; }

 protected:
  void Run(OpKernelContext* c, const Tensor& x, const ByteFormat& x_format,
           const ByteFormat& y_format, Tensor* y) override {
    const auto table =
        tables_.Get({x_format, y_format}, [&] { return MakeTable(x_format, y_format); });
    WorkersOf(c).run(x.NumElements(), 1, [&](int64_t begin, int64_t end) {
      ByteKernelsOf(ChosenInstructionSet())
          .look_up(table->data(), Data<uint8_t>(x) + begin, end - begin,
                   MutableData<uint8_t>(y) + begin);
    });
  }

  virtual ByteTable MakeTable(const ByteFormat& x, const ByteFormat& y) const = 0;

 private:
  // In eager mode all layers share one kernel.
  RecentlyUsed<std::pair<ByteFormat, ByteFormat>, ByteTable> tables_{64};
};

class QLinearLeakyReluOp : public TableOp {
 public:
  explicit QLinearLeakyReluOp(OpKernelConstruction* c) : TableOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("alpha", &alpha_));
  }

 protected:
  ByteTable MakeTable(const ByteFormat& x, const ByteFormat& y) const override {
    return TableOf(x, y, [this](float value) { return LeakyRelu(value, alpha_); });
  }

 private:
  float alpha_;
};

class QLinearSigmoidOp : public TableOp {
 public:
  using TableOp::TableOp;

 protected:
  ByteTable MakeTable(const ByteFormat& x, const ByteFormat& y) const override {
    return TableOf(x, y, [](float value) { return static_cast<float>(Sigmoid(value)); });
  }
};

class QLinearSoftmaxOp : public UnaryOp {
 public:
  explicit QLinearSoftmaxOp(OpKernelConstruction* c) : UnaryOp(c) {
    OP_REQUIRES_OK(c, c->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(c, c->GetAttr("opset", &opset_));
  }

 protected:
  void Run(OpKernelContext* c, const Tensor& x, const ByteFormat& x_format,
           const ByteFormat& y_format, Tensor* y) override {
    const auto rows = ResolveSoftmax(ShapeOf(x), axis_, opset_);
    OP_REQUIRES(c, rows.ok(), ToStatus(rows.error()));
    Softmax(*rows, x_format, Data<uint8_t>(x), y_format, MutableData<uint8_t>(y), WorkersOf(c));
  }

 private:
  int64_t axis_;
  int64_t opset_;
};

class QLinearConcatOp : public OpKernel {
 public:
  explicit QLinearConcatOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetConcatAxis(c, &axis_));
  }

  void Compute(OpKernelContext* c) override {
    tensorflow::OpInputList inputs;
    OP_REQUIRES_OK(c, c->input_list("x", &inputs));
    std::vector<ByteFormat> formats;
    ByteFormat y_format;
    OP_REQUIRES_OK(c, GetFormats(c, "x", &formats));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &y_format));
    std::vector<Shape> shapes;
    for (const Tensor& x : inputs) shapes.push_back(ShapeOf(x));
    const auto shape = ResolveConcat(shapes, axis_);
    OP_REQUIRES(c, shape.ok(), ToStatus(shape.error()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, AllocateOutput(c, *shape, &y));
    if (y->NumElements() == 0) return;

    int64_t outer = 1;
    const int64_t axis = axis_ < 0 ? axis_ + y->dims() : axis_;
    for (int64_t d = 0; d < axis; ++d) outer *= y->dim_size(d);
    std::vector<ConcatPart> parts;
    for (int i = 0; i < inputs.size(); ++i) {
      parts.push_back({Data<uint8_t>(inputs[i]), inputs[i].NumElements() / outer,
                       TableOf(formats[i], y_format, [](float value) { return value; })});
    }
    Concat(parts, outer, MutableData<uint8_t>(y), WorkersOf(c), ChosenInstructionSet());
  }

 private:
  int64_t axis_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearAdd").Device(tensorflow::DEVICE_CPU),
                        BinaryOp<BinaryKind::kAdd>);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearMul").Device(tensorflow::DEVICE_CPU),
                        BinaryOp<BinaryKind::kMul>);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearLeakyRelu").Device(tensorflow::DEVICE_CPU),
                        QLinearLeakyReluOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearSigmoid").Device(tensorflow::DEVICE_CPU),
                        QLinearSigmoidOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearSoftmax").Device(tensorflow::DEVICE_CPU),
                        QLinearSoftmaxOp);
REGISTER_KERNEL_BUILDER(Name("TfQops>QLinearConcat").Device(tensorflow::DEVICE_CPU),
                        QLinearConcatOp);

}  // namespace
}  // namespace tf_qops
