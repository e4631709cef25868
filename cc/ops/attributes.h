#ifndef TF_QOPS_CC_OPS_ATTRIBUTES_H_
#define TF_QOPS_CC_OPS_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cc/core/average_pool.h"
#include "cc/core/convolution_geometry.h"
#include "cc/core/range_mode.h"
#include "cc/core/result.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace tf_qops {

inline absl::Status ToStatus(const Error& error) {
  return absl::InvalidArgumentError(error.message);
}

// An optional input is a list of no or one tensor; TensorFlow cannot limit its length.
inline absl::Status TooManyOptional(const char* name, int count) {
  return ToStatus(Invalid(name, " must be given once or left out. Received: ", count, " tensors"));
}

// Dequantize's and Quantize's attributes for a mode and an axis. As in TensorFlow, an axis of -1
// means per tensor; an axis that counts from the end has an attribute of its own, since only the
// shape tells where it is.
struct RangeAttributes {
  RangeMode mode;
  bool narrow_range;
  int64_t axis;  // As Python counts: negative from the end.
  bool per_tensor;
};

template <typename Context>
absl::Status GetRangeAttributes(Context* c, RangeAttributes* attributes) {
  std::string mode;
  bool from_end;
  TF_RETURN_IF_ERROR(c->GetAttr("mode", &mode));
  TF_RETURN_IF_ERROR(c->GetAttr("narrow_range", &attributes->narrow_range));
  TF_RETURN_IF_ERROR(c->GetAttr("axis", &attributes->axis));
  TF_RETURN_IF_ERROR(c->GetAttr("axis_from_end", &from_end));
  attributes->mode = mode == "SCALED"      ? RangeMode::kScaled
                     : mode == "MIN_FIRST" ? RangeMode::kMinFirst
                                           : RangeMode::kMinCombined;
  if (attributes->axis < -1) {
    return ToStatus(
        Invalid("axis must be -1 (per tensor) or not negative. Received: ", attributes->axis));
  }
  attributes->per_tensor = attributes->axis == -1;
  if (from_end) attributes->axis = -1 - attributes->axis;
  return absl::OkStatus();
}

// Reads a window's attributes, except where the channels are, from an InferenceContext or an
// OpKernelConstruction.
template <typename Context>
absl::Status GetWindowAttributes(Context* c, WindowAttributes* attributes) {
  std::string auto_pad;
  TF_RETURN_IF_ERROR(c->GetAttr("kernel_shape", &attributes->kernel_shape));
  TF_RETURN_IF_ERROR(c->GetAttr("strides", &attributes->strides));
  TF_RETURN_IF_ERROR(c->GetAttr("dilations", &attributes->dilations));
  TF_RETURN_IF_ERROR(c->GetAttr("pads", &attributes->pads));
  TF_RETURN_IF_ERROR(c->GetAttr("auto_pad", &auto_pad));
  attributes->auto_pad = auto_pad == "SAME_UPPER"   ? AutoPad::kSameUpper
                         : auto_pad == "SAME_LOWER" ? AutoPad::kSameLower
                         : auto_pad == "VALID"      ? AutoPad::kValid
                                                    : AutoPad::kNotSet;
  return absl::OkStatus();
}

template <typename Context>
absl::Status GetConvolutionAttributes(Context* c, ConvolutionAttributes* attributes) {
  std::string data_format;
  TF_RETURN_IF_ERROR(GetWindowAttributes(c, attributes));
  TF_RETURN_IF_ERROR(c->GetAttr("group", &attributes->group));
  TF_RETURN_IF_ERROR(c->GetAttr("data_format", &data_format));
  attributes->channels_last = data_format == "NHWC";
  return absl::OkStatus();
}

template <typename Context>
absl::Status GetPoolingAttributes(Context* c, PoolingAttributes* attributes) {
  TF_RETURN_IF_ERROR(GetWindowAttributes(c, attributes));
  TF_RETURN_IF_ERROR(c->GetAttr("ceil_mode", &attributes->ceil_mode));
  TF_RETURN_IF_ERROR(c->GetAttr("count_include_pad", &attributes->count_include_pad));
  return c->GetAttr("channels_last", &attributes->channels_last);
}

// Reads QLinearConcat's axis and checks its lists against each other.
template <typename Context>
absl::Status GetConcatAxis(Context* c, int64_t* axis) {
  std::vector<tensorflow::DataType> types;
  int scales;
  TF_RETURN_IF_ERROR(c->GetAttr("TX", &types));
  TF_RETURN_IF_ERROR(c->GetAttr("N", &scales));
  if (scales != static_cast<int>(types.size())) {
    return ToStatus(Invalid("x_scale must have one scale for each tensor of x. Received: ", scales,
                            " scales for ", types.size(), " tensors"));
  }
  return c->GetAttr("axis", axis);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_ATTRIBUTES_H_
