// The shapes that DequantizeLinear and QuantizeLinear take, and what is wrong with the others.

#include "cc/core/granularity.h"

#include "tests/cc/check.h"

namespace tf_qops {
namespace {

struct Row {
  Shape x, scale;
  int64_t axis, block_size;
  Shape resolved;     // x, with what the scale tells.
  const char* wrong;  // Part of the message, or nothing.
};

const Row kRows[] = {
    {Dims{2, 3}, Dims{}, 9, 0, Dims{2, 3}, ""},  // Per tensor: the axis is ignored.
    {Dims{2, 3}, Dims{1}, 9, 0, Dims{2, 3}, ""},
    {Dims{}, Dims{}, 1, 0, Dims{}, ""},
    {Dims{4}, Dims{1}, 1, 16, Dims{4}, ""},  // Rank 1, one scale.
    {Dims{2, 3}, Dims{3}, 1, 0, Dims{2, 3}, ""},
    {Dims{2, 3}, Dims{2}, -2, 0, Dims{2, 3}, ""},
    {Dims{2, -1}, Dims{3}, 1, 0, Dims{2, 3}, ""},  // Learned from the scale.
    {Dims{2, 3}, Dims{-1}, 1, 0, Dims{2, 3}, ""},
    {Dims{2, 3}, Dims{-1}, 5, 0, Dims{2, 3}, ""},  // May still be one scale.
    {std::nullopt, Dims{3}, 1, 0, std::nullopt, ""},
    {Dims{2, 3}, std::nullopt, 1, 0, Dims{2, 3}, ""},
    {Dims{2, 5}, Dims{2, 3}, 1, 2, Dims{2, 5}, ""},  // A partial last block.
    {Dims{2, 5}, Dims{2, 1}, 1, 99, Dims{2, 5}, ""},
    {Dims{-1, 5}, Dims{2, 3}, 1, 2, Dims{2, 5}, ""},
    {Dims{2, -1}, Dims{2, 3}, 1, 2, Dims{2, -1}, ""},
    {Dims{0, 5}, Dims{0, 3}, 1, 2, Dims{0, 5}, ""},
    {Dims{2, 3}, Dims{4}, 1, 0, {}, "must have the length of dimension 1"},
    {Dims{2, 3}, Dims{3}, 2, 0, {}, "axis must be in [-2, 1] for x of shape [2,3]. Received: 2"},
    {Dims{2, 3}, Dims{3}, -3, 0, {}, "Received: -3"},
    {Dims{2, 3}, Dims{1, 1}, 0, 0, {}, "must be a scalar or 1-D without block_size"},
    {Dims{2, 5}, Dims{2, 2}, 1, 2, {}, "ceil(5 / block_size)"},
    {Dims{2, 5}, Dims{2, 4}, 1, 2, {}, "Received: x_scale of shape [2,4], x of shape [2,5]"},
    {Dims{2, 5}, Dims{5}, 1, 2, {}, "must have the rank of x with block_size"},
    {Dims{2, 5}, Dims{2, 3}, 1, -2, {}, "block_size must be 0 (not blocked) or positive"},
};

void Table() {
  for (const Row& row : kRows) {
    const auto got = ResolveGranularity({"x", "x_scale", "x_zero_point"}, row.x, row.scale, nullptr,
                                        row.axis, row.block_size);
    const std::string wrong = row.wrong;
    if (wrong.empty()) {
      CHECK(got.ok()) << got.error().message;
      CHECK(got->x == row.resolved) << Show{row.x} << ' ' << Show{row.scale};
    } else {
      CHECK(!got.ok()) << wrong;
      CHECK(got.error().message.find(wrong) != std::string::npos) << got.error().message;
    }
  }
}

void ZeroPointsHaveTheShapeOfTheScale() {
  const auto resolve = [](Shape scale, Shape zero_point) {
    return ResolveGranularity({"x", "x_scale", "x_zero_point"}, Dims{2, 3}, scale, &zero_point, 1,
                              0);
  };
  CHECK(resolve(Dims{}, Dims{1}).ok());
  CHECK(resolve(Dims{3}, Dims{-1}).ok());
  CHECK(!resolve(Dims{3}, Dims{}).ok());
  CHECK(!resolve(Dims{3}, Dims{2}).ok());
}

}  // namespace
}  // namespace tf_qops

int main() {
  tf_qops::Table();
  tf_qops::ZeroPointsHaveTheShapeOfTheScale();
  return 0;
}
