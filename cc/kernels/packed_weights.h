#ifndef TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_
#define TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cc/kernels/packed_once.h"
#include "tensorflow/core/framework/tensor.h"

namespace tf_qops {

// Weights by identity. Whoever holds this holds references to the tensors' buffers, so TensorFlow
// writes an update of a variable to another one: an equal address means equal content. A tensor
// that is left out is an empty one.
struct WeightsKey {
  std::vector<tensorflow::Tensor> tensors;
  std::vector<int32_t> zero_points;
  std::vector<int64_t> arrangement;  // What else decides how they are packed.

  bool operator==(const WeightsKey& other) const {
    const auto same = [](const tensorflow::Tensor& a, const tensorflow::Tensor& b) {
      return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape();
    };
    return std::equal(tensors.begin(), tensors.end(), other.tensors.begin(), other.tensors.end(),
                      same) &&
           zero_points == other.zero_points && arrangement == other.arrangement;
  }

  // Whether somebody was updated or freed, so that this holds its buffer alone.
  bool stale() const {
    for (const tensorflow::Tensor& tensor : tensors) {
      if (tensor.NumElements() > 0 && tensor.RefCountIsOne()) return true;
    }
    return false;
  }
};

template <typename Packed>
class PackedWeights {
 public:
  // pack(key), or what it gave before for an equal one. A tensor that nobody else than the key and
  // the caller holds will not come again, so is not kept.
  template <typename Pack>
  std::shared_ptr<const Packed> Get(const std::vector<const tensorflow::Tensor*>& tensors,
                                    std::vector<int32_t> zero_points,
                                    std::vector<int64_t> arrangement, Pack&& pack) {
    WeightsKey key{{}, std::move(zero_points), std::move(arrangement)};
    bool passing = false;
    for (const tensorflow::Tensor* tensor : tensors) {
      passing |= tensor != nullptr && tensor->NumElements() > 0 && tensor->RefCountIsOne();
      key.tensors.push_back(tensor == nullptr ? tensorflow::Tensor() : *tensor);
    }
    if (passing) return std::make_shared<const Packed>(pack(key));
    return kept_.Get(std::move(key), pack);
  }

 private:
  PackedOnce<WeightsKey, Packed> kept_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_
