#ifndef TF_QOPS_CC_OPS_DTYPES_H_
#define TF_QOPS_CC_OPS_DTYPES_H_

#include <type_traits>
#include <vector>

#include "cc/core/codes.h"
#include "cc/ops/attributes.h"
#include "tensorflow/core/framework/types.h"

namespace tf_qops {

// Stands for a type in a call.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls visit(TypeTag<T>) with the core's type for a quantized dtype and returns true; false for
// any other dtype. With VisitFloats, this is where TensorFlow's types meet the core's, and which
// types the operators take: TensorFlow's schema language has no names for float8 and float4.
template <typename Visit>
bool VisitCodes(tensorflow::DataType dtype, Visit&& visit) {
  switch (dtype) {
    case tensorflow::DT_INT8:
      visit(TypeTag<int8_t>());
      return true;
    case tensorflow::DT_UINT8:
      visit(TypeTag<uint8_t>());
      return true;
    case tensorflow::DT_INT16:
      visit(TypeTag<int16_t>());
      return true;
    case tensorflow::DT_UINT16:
      visit(TypeTag<uint16_t>());
      return true;
    case tensorflow::DT_INT32:
      visit(TypeTag<int32_t>());
      return true;
    case tensorflow::DT_INT4:
      visit(TypeTag<Int4>());
      return true;
    case tensorflow::DT_UINT4:
      visit(TypeTag<UInt4>());
      return true;
    case tensorflow::DT_INT2:
      visit(TypeTag<Int2>());
      return true;
    case tensorflow::DT_UINT2:
      visit(TypeTag<UInt2>());
      return true;
    case tensorflow::DT_FLOAT8_E4M3FN:
      visit(TypeTag<Float8E4M3Fn>());
      return true;
    case tensorflow::DT_FLOAT8_E4M3FNUZ:
      visit(TypeTag<Float8E4M3Fnuz>());
      return true;
    case tensorflow::DT_FLOAT8_E5M2:
      visit(TypeTag<Float8E5M2>());
      return true;
    case tensorflow::DT_FLOAT8_E5M2FNUZ:
      visit(TypeTag<Float8E5M2Fnuz>());
      return true;
    case tensorflow::DT_FLOAT4_E2M1FN:
      visit(TypeTag<Float4E2M1Fn>());
      return true;
    default:
      return false;
  }
}

// The same for float32, float16 and bfloat16.
template <typename Visit>
bool VisitFloats(tensorflow::DataType dtype, Visit&& visit) {
  switch (dtype) {
    case tensorflow::DT_FLOAT:
      visit(TypeTag<float>());
      return true;
    case tensorflow::DT_HALF:
      visit(TypeTag<Float16>());
      return true;
    case tensorflow::DT_BFLOAT16:
      visit(TypeTag<BFloat16>());
      return true;
    default:
      return false;
  }
}

// The integer type with the codes of TensorFlow's quantized type; any other type stays.
inline tensorflow::DataType PlainType(tensorflow::DataType dtype) {
  switch (dtype) {
    case tensorflow::DT_QINT8:
      return tensorflow::DT_INT8;
    case tensorflow::DT_QUINT8:
      return tensorflow::DT_UINT8;
    case tensorflow::DT_QINT16:
      return tensorflow::DT_INT16;
    case tensorflow::DT_QUINT16:
      return tensorflow::DT_UINT16;
    case tensorflow::DT_QINT32:
      return tensorflow::DT_INT32;
    default:
      return dtype;
  }
}

// VisitCodes for TensorFlow's quantized types and the plain integers of the same widths.
template <typename Visit>
void VisitIntegers(tensorflow::DataType dtype, Visit&& visit) {
  VisitCodes(PlainType(dtype), [&](auto tag) {
    if constexpr (std::is_integral_v<typename decltype(tag)::type>) visit(tag);
  });
}

inline absl::Status CheckCode(const char* name, tensorflow::DataType dtype) {
  if (VisitCodes(dtype, [](auto) {})) return absl::OkStatus();
  return ToStatus(Invalid(name,
                          " must be an integer of 2, 4, 8 or 16 bits, int32, float8 or float4. "
                          "Received: ",
                          tensorflow::DataTypeString(dtype)));
}

// Whether T may be an operand of QLinearMatMul: an integer or float of 8 bits.
template <typename T>
inline constexpr bool kIsByteCode =
    std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> ||
    (sizeof(T) == 1 && !Codes<T>::kInteger && !std::is_same_v<T, Float4E2M1Fn>);

inline absl::Status CheckByteCode(const char* name, tensorflow::DataType dtype) {
  bool ok = false;
  VisitCodes(dtype, [&](auto tag) { ok = kIsByteCode<typename decltype(tag)::type>; });
  if (ok) return absl::OkStatus();
  return ToStatus(Invalid(
      name, " must be int8, uint8 or float8. Received: ", tensorflow::DataTypeString(dtype)));
}

// What QuantizeLinear makes: any of them but int32. Its zero point, where there is one, has the
// same type.
inline absl::Status CheckQuantizeTarget(tensorflow::DataType dtype,
                                        const std::vector<tensorflow::DataType>& zero_point) {
  if (dtype == tensorflow::DT_INT32) {
    return ToStatus(Invalid("output_dtype must be narrower than 32 bits. Received: int32"));
  }
  if (!zero_point.empty() && zero_point[0] != dtype) {
    return ToStatus(Invalid("y_zero_point must have the output's type. Received: ",
                            tensorflow::DataTypeString(zero_point[0]),
                            " for output_dtype=", tensorflow::DataTypeString(dtype)));
  }
  return CheckCode("output_dtype", dtype);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_OPS_DTYPES_H_
