#ifndef TF_QOPS_CC_XLA_EMIT_H_
#define TF_QOPS_CC_XLA_EMIT_H_

// HLO that computes the core's values bit for bit, whatever XLA fuses it with.

#include <cmath>
#include <vector>

#include "cc/core/granularity.h"
#include "cc/core/minifloat.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

// Registers an XlaOpKernel for the operator TfQops>`name` and every device that XLA compiles for.
// (REGISTER_XLA_OP fails where a library is loaded after the first compilation.)
#define TF_QOPS_REGISTER_XLA(name, kernel)                                     \
  REGISTER_KERNEL_BUILDER(Name("TfQops>" name).Device("XLA_CPU_JIT"), kernel); \
  REGISTER_KERNEL_BUILDER(Name("TfQops>" name).Device("XLA_GPU_JIT"), kernel)

namespace tf_qops {

// The shape of input `i`; dimensions that XLA only knows a bound of count as that.
inline Shape InputShapeOf(tensorflow::XlaOpKernelContext* c, int i) {
  const auto shape = c->InputXlaShape(i);
  if (!shape.ok()) return std::nullopt;
  return Dims(shape->dimensions().begin(), shape->dimensions().end());
}

// A sum or product that nothing reaches through: LLVM contracts a product with a following sum, XLA
// adds up constants of neighbouring sums and multiplies those of products. A select in between
// stops both; its condition, one of NaN's many codes, is one that LLVM does not know to be false
// even for a finite value, and its other branch no constant that could be folded into what follows.
// (Bit casts alone, min, max and arithmetic in double do not stop them.)
inline xla::XlaOp Settled(xla::XlaOp value) {
  const xla::XlaOp bits = xla::BitcastConvertType(value, xla::U32);
  const xla::XlaOp never = xla::Eq(bits, xla::FullLike(bits, 0x7fc0f00du));
  return xla::Select(never, xla::Add(value, value), value);
}

// A true quotient: XLA multiplies with the reciprocal of a constant divisor, so the divisor is
// made to depend on the dividend (where that is NaN, so is the quotient).
inline xla::XlaOp Quotient(xla::XlaOp a, xla::XlaOp b) {
  return xla::Div(a, xla::Select(xla::IsNan(a), a, b));
}

// Float32 arithmetic in HLO, for formulas of the core that are written for any kind of float.
struct XlaFloat {
  xla::XlaOp op;

  XlaFloat Constant(float value) const { return {xla::FullLike(op, value)}; }
};

inline XlaFloat operator+(XlaFloat a, XlaFloat b) { return {Settled(xla::Add(a.op, b.op))}; }
inline XlaFloat operator-(XlaFloat a, XlaFloat b) { return {Settled(xla::Sub(a.op, b.op))}; }
inline XlaFloat operator*(XlaFloat a, XlaFloat b) { return {Settled(xla::Mul(a.op, b.op))}; }
inline XlaFloat operator/(XlaFloat a, XlaFloat b) { return {Quotient(a.op, b.op)}; }
inline XlaFloat operator+(XlaFloat a, float b) { return a + a.Constant(b); }
inline XlaFloat operator*(XlaFloat a, float b) { return a * a.Constant(b); }
inline XlaFloat operator-(XlaFloat a, float b) { return a - a.Constant(b); }
inline XlaFloat operator/(XlaFloat a, float b) { return a / a.Constant(b); }

inline XlaFloat ConstantLike(XlaFloat like, float value) { return like.Constant(value); }

inline XlaFloat DivideInDouble(XlaFloat a, double b) {
  const xla::XlaOp wide = xla::ConvertElementType(a.op, xla::F64);
  return {xla::ConvertElementType(Quotient(wide, xla::FullLike(wide, b)), xla::F32)};
}

inline XlaFloat DivideInDouble(double a, XlaFloat b) {
  const xla::XlaOp wide = xla::ConvertElementType(b.op, xla::F64);
  return {xla::ConvertElementType(xla::Div(xla::FullLike(wide, a), wide), xla::F32)};
}

inline XlaFloat Absolute(XlaFloat a) { return {xla::Abs(a.op)}; }
inline XlaFloat RoundHalfToEven(XlaFloat a) { return {xla::RoundToEven(a.op)}; }
inline XlaFloat RoundDown(XlaFloat a) { return {xla::Floor(a.op)}; }
inline XlaFloat RoundHalfAwayFromZero(XlaFloat a) { return {xla::Round(a.op)}; }

inline XlaFloat SelectLess(XlaFloat a, XlaFloat b, XlaFloat then, XlaFloat otherwise) {
  return {xla::Select(xla::Lt(a.op, b.op), then.op, otherwise.op)};
}

inline XlaFloat SelectEqual(XlaFloat a, XlaFloat b, XlaFloat then, XlaFloat otherwise) {
  return {xla::Select(xla::Eq(a.op, b.op), then.op, otherwise.op)};
}

// A scale or zero point, repeated to the shape of x.
inline xla::XlaOp Spread(xla::XlaOp parameter, const Granularity& g, const Dims& x) {
  switch (g.kind) {
    case Granularity::Kind::kTensor:
      return xla::Broadcast(xla::Reshape(parameter, {}), x);
    case Granularity::Kind::kAxis:
      return xla::BroadcastInDim(parameter, x, {g.axis});
    case Granularity::Kind::kBlock:
      break;
  }
  Dims repeated, flat = x, from;
  for (int64_t d = 0; d < static_cast<int64_t>(x.size()); ++d) {
    from.push_back(repeated.size());
    repeated.push_back(d == g.axis ? g.blocks : x[d]);
    if (d == g.axis) repeated.push_back(std::min(g.block_size, g.axis_dim));
  }
  flat[g.axis] = g.blocks * std::min(g.block_size, g.axis_dim);
  const xla::XlaOp all = xla::Reshape(xla::BroadcastInDim(parameter, repeated, from), flat);
  return xla::SliceInDim(all, 0, x[g.axis], 1, g.axis);
}

// CodeRange::Quantize as int32, for codes in [lowest, highest]; `zero_point` is int32 of value's
// shape.
inline xla::XlaOp QuantizeCode(xla::XlaOp value, xla::XlaOp zero_point, int64_t lowest,
                               int64_t highest) {
  const xla::XlaOp zero = xla::ConvertElementType(zero_point, xla::F32);
  const auto limit = [&](int64_t code) {
    return xla::Sub(xla::FullLike(value, static_cast<float>(code)), zero);
  };
  const xla::XlaOp low = limit(lowest), high = limit(highest);
  const xla::XlaOp clamped = xla::Select(xla::IsNan(value), low, xla::Clamp(low, value, high));
  return xla::Add(xla::ConvertElementType(xla::RoundToEven(clamped), xla::S32), zero_point);
}

// A float32 rounded to a format (Float16, Float8E4M3Fn, ...), still as float32: converting it to
// that format changes nothing any more, so XLA may leave conversions out or do them in two steps.
// What lies beyond the largest number is as in Format::FromFloat.
template <typename Format>
xla::XlaOp RoundToFormat(xla::XlaOp value, bool saturate) {
  const auto constant = [&](float v) { return xla::FullLike(value, v); };
  // Below the smallest normal number the sum with 1.5 * 2^23 units has no room for less than one.
  const float unit = std::ldexp(1.0f, 1 - Format::kExponentBias - Format::kMantissa);
  const xla::XlaOp magic = constant(unit * 12582912.0f);
  const xla::XlaOp tiny = xla::Sub(xla::Add(value, magic), magic);
  const xla::XlaOp normal = xla::ReducePrecision(value, 8, Format::kMantissa);
  const xla::XlaOp magnitude = xla::Abs(value);
  const xla::XlaOp is_tiny =
      xla::Lt(magnitude, constant(std::ldexp(1.0f, 1 - Format::kExponentBias)));
  // The sum loses the sign of -0.
  const xla::XlaOp zero = xla::Mul(value, constant(0.0f));
  xla::XlaOp rounded =
      xla::Select(is_tiny, xla::Select(xla::Eq(tiny, constant(0.0f)), zero, tiny), normal);

  const float largest = Format{Format::kLargest}.ToFloat();
  const xla::XlaOp beyond = xla::Gt(xla::Abs(rounded), constant(largest));
  const float limit = saturate || !Format::kHasSpecials ? largest
                      : Format::kHasInfinity            ? INFINITY
                                                        : NAN;
  const xla::XlaOp end =
      xla::Select(xla::Lt(value, constant(0.0f)), constant(-limit), constant(limit));
  return xla::Select(beyond, end, rounded);
}

// The same for the float types of outputs.
inline xla::XlaOp RoundToFloatType(tensorflow::DataType dtype, xla::XlaOp value) {
  if (dtype == tensorflow::DT_HALF) return RoundToFormat<Float16>(value, /*saturate=*/false);
  if (dtype == tensorflow::DT_BFLOAT16) return xla::ReducePrecision(value, 8, 7);
  return value;
}

// Converts to an operator's output type. XLA packs two 4-bit integers into a byte, TensorFlow does
// not, and a compiled function hands its bytes over as they are: 4-bit results stay in bytes.
inline xla::XlaOp ConvertTo(tensorflow::DataType dtype, xla::XlaOp value) {
  if (dtype == tensorflow::DT_INT4) return xla::ConvertElementType(value, xla::S8);
  if (dtype == tensorflow::DT_UINT4) return xla::ConvertElementType(value, xla::U8);
  xla::PrimitiveType type;
  const absl::Status status = tensorflow::DataTypeToPrimitiveType(dtype, &type);
  return status.ok() ? xla::ConvertElementType(value, type) : value.builder()->ReportError(status);
}

// Whether 4-bit integers came to `op` as an argument of the compiled function, perhaps through
// operators that only move them: their bytes were taken for packed ones, so are wrong.
inline bool IsPackedArgument(xla::XlaOp op) {
  using Friend = xla::internal::XlaBuilderFriend;
  std::vector<const xla::HloInstructionProto*> pending{Friend::GetInstruction(op)};
  while (!pending.empty()) {
    const xla::HloInstructionProto* instruction = pending.back();
    pending.pop_back();
    const auto type = instruction->shape().element_type();
    if (type != xla::S4 && type != xla::U4) continue;
    if (instruction->opcode() == "parameter") return true;
    for (int64_t id : instruction->operand_ids()) {
      pending.push_back(Friend::GetInstructionByHandle(op.builder(), id));
    }
  }
  return false;
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_XLA_EMIT_H_
