#ifndef TF_QOPS_CC_CORE_BINARY_H_
#define TF_QOPS_CC_CORE_BINARY_H_

#include <cstdint>

#include "cc/core/broadcast.h"
#include "cc/core/bytes.h"
#include "cc/core/cpu.h"
#include "cc/core/parallel.h"
#include "cc/core/result.h"

namespace tf_qops {

// com.microsoft's QLinearAdd and QLinearMul:
//   c = clamp(rint(((a - a_zero_point) * a_scale + (b - b_zero_point) * b_scale) / c_scale
//                  + c_zero_point))
// or with the product of the two in place of their sum. Each operation is rounded to float32, in
// this order; ties are to even after the zero point was added, as in ONNX Runtime (before it in
// other operators).
enum class BinaryKind { kAdd, kMul };

struct BinaryFormats {
  ByteFormat a, b, c;
};

// What is rounded, from codes minus their zero points; for float or what stands for it in XLA.
template <typename Float>
Float BinaryValue(BinaryKind kind, Float a, Float a_scale, Float b, Float b_scale, Float c_scale,
                  Float c_zero_point) {
  const Float x = a * a_scale, y = b * b_scale;
  return (kind == BinaryKind::kAdd ? x + y : x * y) / c_scale + c_zero_point;
}

// The shape of c.
Result<Shape> ResolveBinary(const Shape& a, const Shape& b);

// By its definition, element by element.
void BinaryReference(BinaryKind kind, const BinaryFormats& formats, const BroadcastWalk& walk,
                     const uint8_t* a, const uint8_t* b, uint8_t* c);

void Binary(BinaryKind kind, const BinaryFormats& formats, const BroadcastWalk& walk,
            const uint8_t* a, const uint8_t* b, uint8_t* c, const Workers& workers,
            InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_BINARY_H_
