#ifndef TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_
#define TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cc/kernels/recently_used.h"
#include "tensorflow/core/framework/tensor.h"

namespace tf_qops {

// Weights by identity. Whoever holds this holds a reference to the tensor's buffer, so TensorFlow
// writes an update of a variable to another one: an equal address means equal content.
struct WeightsKey {
  tensorflow::Tensor weights;
  std::vector<int32_t> zero_points;

  bool operator==(const WeightsKey& other) const {
    return weights.data() == other.weights.data() && weights.dtype() == other.weights.dtype() &&
           weights.shape() == other.weights.shape() && zero_points == other.zero_points;
  }
};

// Weights as a kernel packed them, kept across calls. In eager mode all layers with the same
// attributes share one kernel.
template <typename Packed>
class PackedWeights {
 public:
  // pack(zero_points), or what it gave before for the same weights. A tensor that nobody else
  // holds will not come again, so is not kept.
  template <typename Pack>
  std::shared_ptr<const Packed> Get(const tensorflow::Tensor& weights,
                                    std::vector<int32_t> zero_points, Pack&& pack) {
    if (weights.RefCountIsOne()) return std::make_shared<const Packed>(pack(zero_points));
    const WeightsKey key{weights, std::move(zero_points)};
    return kept_.Get(
        key, [&] { return pack(key.zero_points); },
        // Nobody else holds the weights any more: they were updated, or their layer is gone.
        [](const WeightsKey& kept) { return kept.weights.RefCountIsOne(); });
  }

 private:
  RecentlyUsed<WeightsKey, Packed> kept_{64};
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_PACKED_WEIGHTS_H_
