#ifndef TF_QOPS_CC_CORE_LANES_H_
#define TF_QOPS_CC_CORE_LANES_H_

#include <cstdint>
#include <new>
#include <vector>

namespace tf_qops {

// Elements of an operand that are multiplied at once, see LaneFormat.
using Lane = uint32_t;

// Begins at a cache line, so that no panel stands in two.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: converts

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kCacheLine));
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kCacheLine); }
  bool operator==(const CacheLineAllocator&) const { return true; }
  bool operator!=(const CacheLineAllocator&) const { return false; }

  static constexpr std::align_val_t kCacheLine{64};
};

using LaneVector = std::vector<Lane, CacheLineAllocator<Lane>>;

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_LANES_H_
