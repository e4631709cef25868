#ifndef TF_QOPS_CC_KERNELS_ADAPTERS_H_
#define TF_QOPS_CC_KERNELS_ADAPTERS_H_

#include <vector>

#include "cc/core/bytes.h"
#include "cc/core/codes.h"
#include "cc/core/granularity.h"
#include "cc/core/parallel.h"
#include "cc/core/shape.h"
#include "cc/ops/attributes.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tf_qops {

inline Shape ShapeOf(const tensorflow::Tensor& tensor) {
  const auto sizes = tensor.shape().dim_sizes();
  return Dims(sizes.begin(), sizes.end());
}

// The elements of a tensor as the core's type for them, which has the same bits.
template <typename T>
const T* Data(const tensorflow::Tensor& tensor) {
  return static_cast<const T*>(tensor.data());
}

template <typename T>
T* MutableData(tensorflow::Tensor* tensor) {
  return static_cast<T*>(tensor->data());
}

inline Bytes BytesOf(const tensorflow::Tensor& tensor) {
  return {tensor.data(), tensor.dtype() == tensorflow::DT_INT8};
}

// An optional input, which is a list of at most one tensor; null where it was left out.
inline absl::Status OptionalInput(tensorflow::OpKernelContext* c, const char* name,
                                  const tensorflow::Tensor** tensor) {
  tensorflow::OpInputList list;
  TF_RETURN_IF_ERROR(c->input_list(name, &list));
  if (list.size() > 1) return TooManyOptional(name, list.size());
  *tensor = list.size() == 1 ? &list[0] : nullptr;
  return absl::OkStatus();
}

// How the codes of operand `name`, or of each where it is a list with as many scales, stand for
// numbers.
inline absl::Status GetFormats(tensorflow::OpKernelContext* c, const std::string& name,
                               std::vector<ByteFormat>* formats) {
  tensorflow::OpInputList scales, zero_points;
  TF_RETURN_IF_ERROR(c->input_list(name + "_scale", &scales));
  TF_RETURN_IF_ERROR(c->input_list(name + "_zero_point", &zero_points));
  for (int i = 0; i < scales.size(); ++i) {
    for (const auto& [part, tensor] :
         {std::pair<const char*, const tensorflow::Tensor&>{"_scale", scales[i]},
          {"_zero_point", zero_points[i]}}) {
      if (auto error = CheckOneElement(name + part, ShapeOf(tensor))) return ToStatus(*error);
    }
    const Bytes zero_point = BytesOf(zero_points[i]);
    formats->push_back({zero_point.is_signed, Data<float>(scales[i])[0], zero_point[0]});
  }
  return absl::OkStatus();
}

inline absl::Status GetFormat(tensorflow::OpKernelContext* c, const std::string& name,
                              ByteFormat* format) {
  std::vector<ByteFormat> formats;
  TF_RETURN_IF_ERROR(GetFormats(c, name, &formats));
  *format = formats[0];
  return absl::OkStatus();
}

// Output 0 of a shape that is fully known.
inline absl::Status AllocateOutput(tensorflow::OpKernelContext* c, const Shape& shape,
                                   tensorflow::Tensor** output) {
  tensorflow::TensorShape built;
  TF_RETURN_IF_ERROR(tensorflow::TensorShape::BuildTensorShape(*shape, &built));
  return c->allocate_output(0, built, output);
}

// TensorFlow's intra-op threads.
inline Workers WorkersOf(tensorflow::OpKernelContext* c) {
  const auto& pool = *c->device()->tensorflow_cpu_worker_threads();
  return {pool.num_threads, [&pool](int64_t total, int64_t cost, const auto& work) {
            tensorflow::Shard(pool.num_threads, pool.workers, total, cost, work);
          }};
}

// A scale of any float type, as the float32 values that all arithmetic uses.
class Float32Values {
 public:
  explicit Float32Values(const tensorflow::Tensor& tensor) {
    switch (tensor.dtype()) {
      case tensorflow::DT_HALF:
        Convert<Float16>(tensor);
        break;
      case tensorflow::DT_BFLOAT16:
        Convert<BFloat16>(tensor);
        break;
      default:
        data_ = Data<float>(tensor);
    }
  }
  const float* data() const { return data_; }

 private:
  template <typename T>
  void Convert(const tensorflow::Tensor& tensor) {
    const T* from = Data<T>(tensor);
    converted_.resize(tensor.NumElements());
    for (size_t i = 0; i < converted_.size(); ++i) converted_[i] = ToFloat32(from[i]);
    data_ = converted_.data();
  }

  std::vector<float> converted_;
  const float* data_ = nullptr;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_ADAPTERS_H_
