#ifndef TF_QOPS_CC_OPS_ATTRIBUTES_H_
#define TF_QOPS_CC_OPS_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cc/core/convolution_geometry.h"
#include "cc/core/result.h"
#include "tensorflow/core/platform/errors.h"

namespace tf_qops {

inline absl::Status ToStatus(const Error& error) {
  return absl::InvalidArgumentError(error.message);
}

// An optional input is a list of no or one tensor; TensorFlow cannot limit its length.
inline absl::Status TooManyOptional(const char* name, int count) {
  return ToStatus(Invalid(name, " must be given once or left out. Received: ", count, " tensors"));
}

// Reads a convolution's attributes from an InferenceContext or an OpKernelConstruction.
template <typename Context>
absl::Status GetConvolutionAttributes(Context* c, ConvolutionAttributes* attributes) {
  std::string auto_pad, data_format;
  TF_RETURN_IF_ERROR(c->GetAttr("kernel_shape", &attributes->kernel_shape));
  TF_RETURN_IF_ERROR(c->GetAttr("strides", &attributes->strides));
  TF_RETURN_IF_ERROR(c->GetAttr("dilations", &attributes->dilations));
  TF_RETURN_IF_ERROR(c->GetAttr("pads", &attributes->pads));
  TF_RETURN_IF_ERROR(c->GetAttr("auto_pad", &auto_pad));
  TF_RETURN_IF_ERROR(c->GetAttr("group", &attributes->group));
  TF_RETURN_IF_ERROR(c->GetAttr("data_format", &data_format));
  attributes->channels_last = data_format == "NHWC";
  attributes->auto_pad = auto_pad == "SAME_UPPER"   ? AutoPad::kSameUpper
                         : auto_pad == "SAME_LOWER" ? AutoPad::kSameLower
                         : auto_pad == "VALID"      ? AutoPad::kValid
                                                    : AutoPad::kNotSet;
  return absl::OkStatus();
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_ATTRIBUTES_H_
