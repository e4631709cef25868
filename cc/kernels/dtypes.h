#ifndef TF_QOPS_CC_KERNELS_DTYPES_H_
#define TF_QOPS_CC_KERNELS_DTYPES_H_

#include <utility>

#include "cc/core/codes.h"
#include "tensorflow/core/framework/types.h"

namespace tf_qops {

// Stands for a type in a call.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls visit(TypeTag<T>) with the core's type for a quantized or float dtype; the two lists here
// are the only place that pairs TensorFlow's types with the core's.

template <typename Visit>
void VisitCodes(tensorflow::DataType dtype, Visit&& visit) {
  switch (dtype) {
    case tensorflow::DT_INT8:
      return visit(TypeTag<int8_t>());
    case tensorflow::DT_UINT8:
      return visit(TypeTag<uint8_t>());
    case tensorflow::DT_INT16:
      return visit(TypeTag<int16_t>());
    case tensorflow::DT_UINT16:
      return visit(TypeTag<uint16_t>());
    case tensorflow::DT_INT32:
      return visit(TypeTag<int32_t>());
    case tensorflow::DT_INT4:
      return visit(TypeTag<Int4>());
    case tensorflow::DT_UINT4:
      return visit(TypeTag<UInt4>());
    case tensorflow::DT_INT2:
      return visit(TypeTag<Int2>());
    case tensorflow::DT_UINT2:
      return visit(TypeTag<UInt2>());
    case tensorflow::DT_FLOAT8_E4M3FN:
      return visit(TypeTag<Float8E4M3Fn>());
    case tensorflow::DT_FLOAT8_E4M3FNUZ:
      return visit(TypeTag<Float8E4M3Fnuz>());
    case tensorflow::DT_FLOAT8_E5M2:
      return visit(TypeTag<Float8E5M2>());
    case tensorflow::DT_FLOAT8_E5M2FNUZ:
      return visit(TypeTag<Float8E5M2Fnuz>());
    case tensorflow::DT_FLOAT4_E2M1FN:
      return visit(TypeTag<Float4E2M1Fn>());
    default:
      LOG(FATAL) << "The schema admits no " << tensorflow::DataTypeString(dtype);
  }
}

template <typename Visit>
void VisitFloats(tensorflow::DataType dtype, Visit&& visit) {
  switch (dtype) {
    case tensorflow::DT_FLOAT:
      return visit(TypeTag<float>());
    case tensorflow::DT_HALF:
      return visit(TypeTag<Float16>());
    case tensorflow::DT_BFLOAT16:
      return visit(TypeTag<BFloat16>());
    default:
      LOG(FATAL) << "The schema admits no " << tensorflow::DataTypeString(dtype);
  }
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_DTYPES_H_
