#include "cc/core/binary.h"

#include "cc/core/byte_kernels.h"

namespace tf_qops {

Result<Shape> ResolveBinary(const Shape& a, const Shape& b) {
  if (!a || !b) return Shape();
  const auto c = BroadcastDims(*a, *b);
  if (!c) {
    return Invalid("a and b must broadcast. Received: a of shape ", Show{a}, ", b of shape ",
                   Show{b});
  }
  return Shape(*c);
}

void BinaryReference(BinaryKind kind, const BinaryFormats& f, const BroadcastWalk& walk,
                     const uint8_t* a, const uint8_t* b, uint8_t* c) {
  const CodeRange range = ByteRange(f.c.is_signed, 0);
  const float plus = static_cast<float>(f.c.zero_point);
  for (int64_t i = 0; i < walk.size(); ++i) {
    walk.ForEachRun(i, i + 1, [&](int64_t, int64_t, int64_t at_a, int64_t at_b) {
      const float x = f.a.Difference(a[at_a]), y = f.b.Difference(b[at_b]);
      c[i] = static_cast<uint8_t>(
          range.Quantize(BinaryValue(kind, x, f.a.scale, y, f.b.scale, f.c.scale, plus)));
    });
  }
}

void Binary(BinaryKind kind, const BinaryFormats& formats, const BroadcastWalk& walk,
            const uint8_t* a, const uint8_t* b, uint8_t* c, const Workers& workers,
            InstructionSet isa) {
  const ByteKernels& kernels = ByteKernelsOf(isa);
  workers.run(walk.size(), 1, [&](int64_t begin, int64_t end) {
    walk.ForEachRun(begin, end, [&](int64_t first, int64_t count, int64_t at_a, int64_t at_b) {
      kernels.binary(kind, formats, a + at_a, walk.a_step(), b + at_b, walk.b_step(), count,
                     c + first);
    });
  });
}

}  // namespace tf_qops
