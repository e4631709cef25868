#ifndef TF_QOPS_CC_OPS_NBITS_ATTRIBUTES_H_
#define TF_QOPS_CC_OPS_NBITS_ATTRIBUTES_H_

#include <vector>

#include "cc/core/gather_block_quantized.h"
#include "cc/core/matmul_nbits.h"
#include "cc/ops/attributes.h"
#include "tensorflow/core/framework/types.h"

namespace tf_qops {

// Reads MatMulNBits' attributes from an InferenceContext or an OpKernelConstruction, and checks
// that float zero points have the scales' type.
template <typename Context>
absl::Status GetNBitsAttributes(Context* c, NBitsAttributes* attributes) {
  TF_RETURN_IF_ERROR(c->GetAttr("k", &attributes->k));
  TF_RETURN_IF_ERROR(c->GetAttr("n", &attributes->n));
  TF_RETURN_IF_ERROR(c->GetAttr("bits", &attributes->bits));
  TF_RETURN_IF_ERROR(c->GetAttr("block_size", &attributes->block_size));
  tensorflow::DataType scale;
  std::vector<tensorflow::DataType> zero_point;
  TF_RETURN_IF_ERROR(c->GetAttr("S", &scale));
  TF_RETURN_IF_ERROR(c->GetAttr("zero_point_dtype", &zero_point));
  if (!zero_point.empty() && zero_point[0] != tensorflow::DT_UINT8 && zero_point[0] != scale) {
    return ToStatus(Invalid("zero_points must be uint8 or of the type of scales, ",
                            tensorflow::DataTypeString(scale),
                            ". Received: ", tensorflow::DataTypeString(zero_point[0])));
  }
  return absl::OkStatus();
}

// The same for GatherBlockQuantized, with what the type of data says.
template <typename Context>
absl::Status GetGatherAttributes(Context* c, GatherAttributes* attributes) {
  TF_RETURN_IF_ERROR(c->GetAttr("gather_axis", &attributes->gather_axis));
  TF_RETURN_IF_ERROR(c->GetAttr("quantize_axis", &attributes->quantize_axis));
  TF_RETURN_IF_ERROR(c->GetAttr("block_size", &attributes->block_size));
  TF_RETURN_IF_ERROR(c->GetAttr("bits", &attributes->bits));
  tensorflow::DataType dtype;
  TF_RETURN_IF_ERROR(c->GetAttr("T", &dtype));
  switch (dtype) {
    case tensorflow::DT_UINT8:
      attributes->data = GatherData::kPacked;
      return absl::OkStatus();
    case tensorflow::DT_INT4:
    case tensorflow::DT_UINT4:
      attributes->data = GatherData::kIntegers;
      return absl::OkStatus();
    case tensorflow::DT_FLOAT8_E4M3FN:
    case tensorflow::DT_FLOAT8_E4M3FNUZ:
    case tensorflow::DT_FLOAT8_E5M2:
    case tensorflow::DT_FLOAT8_E5M2FNUZ:
    case tensorflow::DT_FLOAT4_E2M1FN:
      attributes->data = GatherData::kFloats;
      return absl::OkStatus();
    default:
      return ToStatus(Invalid("data must be uint8, int4, uint4, float8 or float4. Received: ",
                              tensorflow::DataTypeString(dtype)));
  }
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_NBITS_ATTRIBUTES_H_
