#ifndef TF_QOPS_CC_OPS_SHAPE_INFERENCE_H_
#define TF_QOPS_CC_OPS_SHAPE_INFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "cc/core/granularity.h"
#include "cc/core/shape.h"
#include "cc/ops/attributes.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tf_qops {

// TensorFlow's partly known shapes, as the core's rules take and give them.

inline Shape ToShape(tensorflow::shape_inference::InferenceContext* c,
                     tensorflow::shape_inference::ShapeHandle handle) {
  if (!c->RankKnown(handle)) return std::nullopt;
  Dims dims;
  for (int d = 0; d < c->Rank(handle); ++d) dims.push_back(c->Value(c->Dim(handle, d)));
  return dims;
}

inline tensorflow::shape_inference::ShapeHandle ToHandle(
    tensorflow::shape_inference::InferenceContext* c, const Shape& shape) {
  if (!shape) return c->UnknownShape();
  std::vector<tensorflow::shape_inference::DimensionHandle> dims;
  for (int64_t dim : *shape) {
    dims.push_back(dim == kUnknown ? c->UnknownDim() : c->MakeDim(dim));
  }
  return c->MakeShape(dims);
}

// The scale and zero point of operand `name`, or of each where it is a list, have one element.
inline absl::Status CheckPerTensor(tensorflow::shape_inference::InferenceContext* c,
                                   const std::string& name) {
  for (const char* part : {"_scale", "_zero_point"}) {
    std::vector<tensorflow::shape_inference::ShapeHandle> handles;
    TF_RETURN_IF_ERROR(c->input(name + part, &handles));
    for (const auto& handle : handles) {
      if (auto error = CheckOneElement(name + part, ToShape(c, handle))) return ToStatus(*error);
    }
  }
  return absl::OkStatus();
}

// The shape of an optional input, which is a list of at most one; nothing where it was left out.
inline absl::Status OptionalShape(tensorflow::shape_inference::InferenceContext* c,
                                  const char* name, std::optional<Shape>* shape) {
  std::vector<tensorflow::shape_inference::ShapeHandle> handles;
  TF_RETURN_IF_ERROR(c->input(name, &handles));
  if (handles.size() > 1) return TooManyOptional(name, handles.size());
  if (!handles.empty()) *shape = ToShape(c, handles[0]);
  return absl::OkStatus();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_SHAPE_INFERENCE_H_
