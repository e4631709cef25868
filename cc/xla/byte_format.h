#ifndef TF_QOPS_CC_XLA_BYTE_FORMAT_H_
#define TF_QOPS_CC_XLA_BYTE_FORMAT_H_

#include <string>
#include <vector>

#include "cc/core/bytes.h"
#include "cc/ops/attributes.h"
#include "cc/xla/emit.h"

namespace tf_qops {

// ByteFormat in HLO: a scale and a zero point that are known when the computation runs.
struct XlaByteFormat {
  xla::PrimitiveType type = xla::U8;  // Or S8.
  xla::XlaOp scale;                   // A float32 scalar.
  xla::XlaOp zero_point;              // An int32 scalar.

  XlaFloat Scale(const Dims& dims) const { return {xla::Broadcast(scale, dims)}; }
  xla::XlaOp ZeroPoint(const Dims& dims) const { return xla::Broadcast(zero_point, dims); }

  // code - zero_point as float32, of codes of a shape.
  XlaFloat Difference(xla::XlaOp codes, const Dims& dims) const {
    const xla::XlaOp wide = xla::ConvertElementType(codes, xla::S32);
    return {xla::ConvertElementType(xla::Sub(wide, ZeroPoint(dims)), xla::F32)};
  }
  XlaFloat Value(xla::XlaOp codes, const Dims& dims) const {
    return Difference(codes, dims) * Scale(dims);
  }

  // What is in units of the scale, rounded before the zero point is added.
  xla::XlaOp RoundThenAdd(XlaFloat value, const Dims& dims) const {
    return Round(value, ZeroPoint(dims));
  }
  xla::XlaOp Quantize(XlaFloat value, const Dims& dims) const {
    return RoundThenAdd(value / Scale(dims), dims);
  }
  // What has the zero point in it already.
  xla::XlaOp Round(XlaFloat value) const {
    return Round(value, xla::ConvertElementType(xla::ZerosLike(value.op), xla::S32));
  }

 private:
  xla::XlaOp Round(XlaFloat value, xla::XlaOp zero) const {
    const bool is_signed = type == xla::S8;
    return xla::ConvertElementType(
        QuantizeCode(value.op, zero, is_signed ? -128 : 0, is_signed ? 127 : 255), type);
  }
};

// How the codes of operand `name`, or of each where it is a list with as many scales, stand for
// numbers.
inline absl::Status GetFormats(tensorflow::XlaOpKernelContext* c, const std::string& name,
                               std::vector<XlaByteFormat>* formats) {
  std::vector<xla::XlaOp> scales, zero_points;
  std::vector<tensorflow::TensorShape> shapes;
  for (auto [part, list] : {std::pair{"_scale", &scales}, std::pair{"_zero_point", &zero_points}}) {
    shapes.clear();
    TF_RETURN_IF_ERROR(c->InputList(name + part, list, &shapes));
    for (const auto& shape : shapes) {
      const auto sizes = shape.dim_sizes();
      if (auto error = CheckOneElement(name + part, Dims(sizes.begin(), sizes.end()))) {
        return ToStatus(*error);
      }
    }
  }
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto shape = c->builder()->GetShape(zero_points[i]);
    TF_RETURN_IF_ERROR(shape.status());
    const xla::XlaOp zero_point = xla::Reshape(zero_points[i], {});
    formats->push_back({shape->element_type(), xla::Reshape(scales[i], {}),
                        xla::ConvertElementType(zero_point, xla::S32)});
  }
  return absl::OkStatus();
}

inline absl::Status GetFormat(tensorflow::XlaOpKernelContext* c, const std::string& name,
                              XlaByteFormat* format) {
  std::vector<XlaByteFormat> formats;
  TF_RETURN_IF_ERROR(GetFormats(c, name, &formats));
  *format = formats[0];
  return absl::OkStatus();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_XLA_BYTE_FORMAT_H_
