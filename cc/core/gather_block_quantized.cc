#include "cc/core/gather_block_quantized.h"

namespace tf_qops {
namespace {

int64_t CeilDivide(int64_t dim, int64_t block) { return dim / block + (dim % block != 0); }

std::optional<Error> CheckAttributes(const GatherAttributes& a) {
  const int64_t block = a.block_size;
  if (a.data == GatherData::kFloats) {
    if (block != 0 && (block < 16 || (block & (block - 1)) != 0)) {
      return Invalid("block_size must be 0 or a power of two of at least 16. Received: ", block);
    }
    return std::nullopt;
  }
  if (block < 16 || (block & (block - 1)) != 0) {
    return Invalid("block_size must be a power of two of at least 16. Received: ", block);
  }
  if (a.data == GatherData::kIntegers && a.bits != 4) {
    return Invalid("bits must be 4 where data is int4 or uint4. Received: ", a.bits);
  }
  if (a.bits != 2 && a.bits != 4 && a.bits != 8) {
    return Invalid("bits must be 2, 4 or 8. Received: ", a.bits);
  }
  return std::nullopt;
}

std::optional<Error> CheckAxis(const char* name, int64_t axis, const Shape& data) {
  const int64_t rank = static_cast<int64_t>(data->size());
  if (axis >= -rank && axis < rank) return std::nullopt;
  return Invalid(name, " must be in [", -rank, ", ", rank - 1, "] for data of shape ", Show{data},
                 ". Received: ", axis);
}

// `dims` are data's, unpacked; those that scales tell are filled in.
std::optional<Error> CheckScales(const GatherAttributes& a, const Shape& data, const Shape& scales,
                                 int64_t quantize_axis, const Dims& blocks, Dims* dims) {
  if (!scales) return std::nullopt;
  bool ok = scales->size() == dims->size();
  const bool floats = a.data == GatherData::kFloats;
  for (size_t d = 0; ok && d < dims->size(); ++d) {
    const int64_t dim = (*dims)[d], got = (*scales)[d];
    const bool quantized = static_cast<int64_t>(d) == quantize_axis;
    if (got == kUnknown) continue;
    if (dim == kUnknown) {
      if (!quantized && !floats) (*dims)[d] = got;
      continue;
    }
    ok =
        got == (quantized ? CeilDivide(dim, blocks[d]) : dim) || (floats && !quantized && got == 1);
  }
  if (ok) return std::nullopt;
  return Invalid("scales must have the shape of data with ceil(dim / block_size) at dimension ",
                 quantize_axis, ". Received: scales of shape ", Show{scales}, ", data of shape ",
                 Show{data}, a.data == GatherData::kPacked ? ", bits=" : "",
                 a.data == GatherData::kPacked ? std::to_string(a.bits) : "",
                 ", block_size=", a.block_size);
}

std::optional<Error> CheckZeroPoints(const GatherAttributes& a, const Shape& scales,
                                     const Shape& zero_points) {
  if (a.data == GatherData::kFloats) {
    return Invalid("zero_points must be left out where data is float8 or float4. Received: shape ",
                   Show{zero_points});
  }
  if (!scales || !zero_points) return std::nullopt;
  bool ok = scales->size() == zero_points->size();
  for (size_t d = 0; ok && d < scales->size(); ++d) {
    int64_t want = (*scales)[d];
    if (want == kUnknown || (*zero_points)[d] == kUnknown) continue;
    const bool packed = a.data == GatherData::kPacked && d + 1 == scales->size();
    if (packed) want = CeilDivide(want, 8 / a.bits);
    ok = (*zero_points)[d] == want;
  }
  if (ok) return std::nullopt;
  return Invalid("zero_points must have the shape of scales, packed as data is. Received: ",
                 "zero_points of shape ", Show{zero_points}, ", scales of shape ", Show{scales},
                 ", bits=", a.bits);
}

}  // namespace

int64_t GatherGeometry::ScaleIndex(int64_t code) const {
  int64_t index = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    index += code % dims[d] / blocks[d] * scale_steps[d];
    code /= dims[d];
  }
  return index;
}

Result<ResolvedGather> ResolveGather(const GatherAttributes& a, const Shape& data,
                                     const Shape& indices, const Shape& scales,
                                     const std::optional<Shape>& zero_points) {
  if (auto error = CheckAttributes(a)) return *error;
  if (zero_points) {
    if (auto error = CheckZeroPoints(a, scales, *zero_points)) return *error;
  }
  if (!data) return ResolvedGather{};
  if (auto error = CheckAxis("gather_axis", a.gather_axis, data)) return *error;
  if (auto error = CheckAxis("quantize_axis", a.quantize_axis, data)) return *error;
  const int64_t rank = static_cast<int64_t>(data->size());
  const int64_t gather = a.gather_axis < 0 ? a.gather_axis + rank : a.gather_axis;
  const int64_t quantize = a.quantize_axis < 0 ? a.quantize_axis + rank : a.quantize_axis;

  ResolvedGather result;
  GatherGeometry& g = result.geometry;
  g.dims = *data;
  if (a.data == GatherData::kPacked) {
    if (gather != 0 || quantize == 0) {
      return Invalid("gather_axis must be 0, and quantize_axis another one, where data is uint8. ",
                     "Received: gather_axis=", a.gather_axis, ", quantize_axis=", a.quantize_axis);
    }
    if (g.dims.back() != kUnknown) g.dims.back() *= 8 / a.bits;
  }
  g.blocks.assign(rank, 1);
  g.blocks[quantize] = a.block_size > 0 ? a.block_size : std::max<int64_t>(g.dims[quantize], 1);
  if (auto error = CheckScales(a, data, scales, quantize, g.blocks, &g.dims)) return *error;

  if (indices) {
    result.output = Dims(g.dims.begin(), g.dims.begin() + gather);
    result.output->insert(result.output->end(), indices->begin(), indices->end());
    result.output->insert(result.output->end(), g.dims.begin() + gather + 1, g.dims.end());
  }
  if (!scales) return result;
  g.axis_dim = g.dims[gather];
  for (int64_t d = 0; d < gather; ++d) g.outer *= g.dims[d];
  for (int64_t d = gather + 1; d < rank; ++d) g.inner *= g.dims[d];
  g.scale_steps.assign(rank, 0);
  int64_t step = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    if ((*scales)[d] != 1) g.scale_steps[d] = step;
    step *= (*scales)[d];
  }
  g.scale_row = scales->back();
  if (a.data == GatherData::kPacked) g.zero_point_row = CeilDivide(g.scale_row, 8 / a.bits);
  return result;
}

}  // namespace tf_qops
