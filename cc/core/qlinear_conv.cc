#include "cc/core/qlinear_conv.h"

#include "cc/core/granularity.h"

namespace tf_qops {
namespace {

// Whether a shape may be [filters]; sets filters where only the shape knows it.
bool MayBePerFilter(const Shape& shape, int64_t* filters) {
  if (!shape) return true;
  if (shape->size() != 1) return false;
  const int64_t length = (*shape)[0];
  if (*filters == kUnknown) *filters = length;
  return length == kUnknown || length == *filters;
}

}  // namespace

Result<ResolvedConvolution> ResolveQLinearConv(const ConvolutionAttributes& attributes,
                                               const QLinearConvShapes& s) {
  const auto resolved = ResolveConvolution(attributes, s.x, s.w);
  if (!resolved.ok()) return resolved;

  const std::pair<const char*, const Shape&> scalars[] = {{"x_scale", s.x_scale},
                                                          {"x_zero_point", s.x_zero_point},
                                                          {"y_scale", s.y_scale},
                                                          {"y_zero_point", s.y_zero_point}};
  for (const auto& [name, shape] : scalars) {
    if (auto error = CheckOneElement(name, shape)) return *error;
  }
  int64_t filters = s.w ? (*s.w)[0] : kUnknown;
  if (s.bias && !MayBePerFilter(*s.bias, &filters)) {
    return Invalid("bias must have one element for each filter of w. Received: bias of shape ",
                   Show{*s.bias}, ", w of shape ", Show{s.w});
  }
  const std::pair<const char*, const Shape&> vectors[] = {{"w_scale", s.w_scale},
                                                          {"w_zero_point", s.w_zero_point}};
  for (const auto& [name, shape] : vectors) {
    if (!MayBeOneElement(shape) && !MayBePerFilter(shape, &filters)) {
      return Invalid(name,
                     " must be a scalar or have one element for each filter of w. Received: ", name,
                     " of shape ", Show{shape}, ", w of shape ", Show{s.w});
    }
  }

  ResolvedConvolution result = *resolved;
  if (result.output) {
    (*result.output)[attributes.channels_last ? result.output->size() - 1 : 1] = filters;
  }
  return result;
}

std::vector<float> ConvolutionScales(float x_scale, const float* w_scale, int64_t w_scale_size,
                                     float y_scale, int64_t filters) {
  std::vector<float> scales(filters);
  for (int64_t m = 0; m < filters; ++m) {
    scales[m] = (x_scale * w_scale[w_scale_size == 1 ? 0 : m]) / y_scale;
  }
  return scales;
}

std::vector<int32_t> WeightZeroPoints(Bytes w_zero_point, int64_t size, int64_t filters) {
  std::vector<int32_t> zero_points(filters);
  for (int64_t m = 0; m < filters; ++m) zero_points[m] = w_zero_point[size == 1 ? 0 : m];
  return zero_points;
}

void StoreSums(const std::vector<int32_t>& sums, int64_t columns, const AccumulatorSink& sink) {
  int32_t panel[kPanel] = {};
  for (size_t i = 0; i < sums.size(); ++i) {
    panel[0] = sums[i];
    sink.Store(panel, kPanel, i / columns, 1, i % columns, 1);
  }
}

}  // namespace tf_qops
