#ifndef TF_QOPS_CC_CORE_ALIGNED_VECTOR_H_
#define TF_QOPS_CC_CORE_ALIGNED_VECTOR_H_

#include <cstddef>
#include <new>
#include <vector>

namespace tf_qops {

// Allocates whole cache lines: a large std::vector begins 16 bytes into a page, so that every
// second 32-byte load from it would touch two lines.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: implicit by the standard's rules

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* memory, std::size_t /*count*/) {
    ::operator delete(memory, std::align_val_t(64));
  }
  bool operator==(const CacheLineAllocator&) const { return true; }
  bool operator!=(const CacheLineAllocator&) const { return false; }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_ALIGNED_VECTOR_H_
