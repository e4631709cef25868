#include "cc/core/matmul_geometry.h"

#include <functional>
#include <numeric>

#include "cc/core/broadcast.h"

namespace tf_qops {
namespace {

int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// A shape's batch dimensions: all but the last two, none of a vector.
Dims BatchOf(const Dims& shape) {
  return shape.size() < 2 ? Dims{} : Dims(shape.begin(), shape.end() - 2);
}

}  // namespace

int64_t MatMulGeometry::batches() const { return Product(batch); }

int64_t MatMulGeometry::Source(int64_t index, const Dims& source) const {
  int64_t at = 0, step = 1;
  for (size_t back = 1; back <= source.size(); ++back) {
    const int64_t extent = batch[batch.size() - back];
    const int64_t own = source[source.size() - back];
    if (own != 1) at += index % extent * step;
    index /= extent;
    step *= own;
  }
  return at;
}

Result<ResolvedMatMul> ResolveMatMul(const Shape& a, const Shape& b) {
  for (const auto& [name, shape] : {std::pair<const char*, const Shape&>{"a", a}, {"b", b}}) {
    if (shape && shape->empty()) {
      return Invalid(name, " must have at least 1 dimension. Received: shape []");
    }
  }
  if (!a || !b) return ResolvedMatMul{};
  MatMulGeometry g;
  g.rows = a->size() < 2 ? 1 : (*a)[a->size() - 2];
  g.columns = b->size() < 2 ? 1 : b->back();
  const int64_t b_depth = b->size() < 2 ? (*b)[0] : (*b)[b->size() - 2];
  g.depth = a->back() == kUnknown ? b_depth : a->back();
  if (b_depth != kUnknown && b_depth != g.depth) {
    return Invalid("a must have as many columns as b has rows. Received: a of shape ", Show{a},
                   ", b of shape ", Show{b});
  }
  g.a_batch = BatchOf(*a);
  g.b_batch = BatchOf(*b);
  const auto batch = BroadcastDims(g.a_batch, g.b_batch);
  if (!batch) {
    return Invalid("the batch dimensions of a and b must broadcast. Received: a of shape ", Show{a},
                   ", b of shape ", Show{b});
  }
  g.batch = *batch;
  Dims output = g.batch;
  if (a->size() > 1) output.push_back(g.rows);
  if (b->size() > 1) output.push_back(g.columns);
  return ResolvedMatMul{output, g};
}

Result<bool> CheckVectorParameter(const char* name, const Shape& parameter, const char* operand,
                                  const Shape& matrices, bool per_row) {
  if (!parameter || !matrices || parameter->empty()) return true;
  const Dims &p = *parameter, &m = *matrices;
  const auto fits = [](int64_t got, int64_t want) {
    return got == 1 || got == kUnknown || want == kUnknown || got == want;
  };
  const int64_t lanes = m.size() < 2 ? 1 : per_row ? m[m.size() - 2] : m.back();
  if (p.size() == 1) {
    if (fits(p[0], lanes)) return true;
  } else if (p.size() == m.size()) {
    bool ok =
        fits(p[p.size() - (per_row ? 2 : 1)], lanes) && fits(p[p.size() - (per_row ? 1 : 2)], 1);
    for (size_t d = 0; d + 2 < m.size(); ++d) ok = ok && fits(p[d], m[d]);
    if (ok) return true;
  }
  return Invalid(name, " must be a scalar or have one element for each ",
                 per_row ? "row of " : "column of ", operand, ". Received: ", name, " of shape ",
                 Show{parameter}, ", ", operand, " of shape ", Show{matrices});
}

std::vector<int64_t> VectorParameterIndices(const Dims& parameter, const Dims& matrices,
                                            bool per_row) {
  const int64_t lanes = matrices.size() < 2 ? 1
                        : per_row           ? matrices[matrices.size() - 2]
                                            : matrices.back();
  const Dims batch = BatchOf(matrices);
  const int64_t count = Product(batch);
  std::vector<int64_t> indices(count * lanes, 0);
  if (Product(parameter) == 1) return indices;
  // The parameter as [batch..., lanes], each dimension perhaps 1.
  Dims own(batch.size(), 1);
  int64_t own_lanes = parameter[0];
  if (parameter.size() > 1) {
    own = BatchOf(parameter);
    own_lanes = per_row ? parameter[parameter.size() - 2] : parameter.back();
  }
  MatMulGeometry walk;
  walk.batch = batch;
  walk.a_batch = own;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      indices[i * lanes + lane] = walk.AMatrix(i) * own_lanes + (own_lanes == 1 ? 0 : lane);
    }
  }
  return indices;
}

Result<Shape> GemmOperand(const char* name, const Shape& shape, bool transposed) {
  if (!shape) return shape;
  if (shape->size() != 2) {
    return Invalid(name, " must be a matrix. Received: shape ", Show{shape});
  }
  return transposed ? Shape(Dims{(*shape)[1], (*shape)[0]}) : shape;
}

Result<bool> CheckGemmTerm(const Shape& c, const Shape& product) {
  if (!c || !product) return true;
  bool ok = c->size() <= 2;
  for (size_t back = 1; ok && back <= c->size(); ++back) {
    const int64_t dim = (*c)[c->size() - back], want = (*product)[2 - back];
    ok = dim == 1 || dim == kUnknown || want == kUnknown || dim == want;
  }
  if (ok) return true;
  return Invalid("c must broadcast to the product. Received: c of shape ", Show{c},
                 ", product of shape ", Show{product});
}

}  // namespace tf_qops
