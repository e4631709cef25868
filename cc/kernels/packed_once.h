#ifndef TF_QOPS_CC_KERNELS_PACKED_ONCE_H_
#define TF_QOPS_CC_KERNELS_PACKED_ONCE_H_

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace tf_qops {

// Operands as kernels packed them, kept across calls and shared among all kernels of the process:
// the copies of a graph, and the layers that in eager mode share a kernel, pack a weight once. A
// value stays alive for who holds it. Safe for concurrent callers.
//
// A Key holds references to what was packed, compares by identity, and is stale() once nobody else
// holds it.
template <typename Key, typename Packed>
class PackedOnce {
 public:
  // What an equal key gave before, or pack(key), which runs unlocked and so perhaps more than once.
  template <typename Pack>
  std::shared_ptr<const Packed> Get(Key key, Pack&& pack) {
    std::shared_ptr<const Entry> entry = FindKept(key);
    if (entry == nullptr) {
      entry = FindShared(key);
      if (entry == nullptr) {
        Packed packed = pack(key);
        entry = std::make_shared<const Entry>(Entry{std::move(key), std::move(packed)});
        Share(entry);
      }
      Keep(entry);
    }
    return {entry, &entry->packed};
  }

 private:
  struct Entry {
    Key key;
    Packed packed;
  };
  struct Everyones {
    std::mutex mutex;
    std::list<std::weak_ptr<const Entry>> entries;
  };
  static constexpr size_t kMostKept = 64;  // By one kernel.

  static Everyones& everyones() {
    static auto* const entries = new Everyones;
    return *entries;
  }

  std::shared_ptr<const Entry> FindKept(const Key& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
      if ((*entry)->key == key) {
        kept_.splice(kept_.begin(), kept_, entry);
        return *kept_.begin();
      }
    }
    return nullptr;
  }

  static std::shared_ptr<const Entry> FindShared(const Key& key) {
    std::lock_guard<std::mutex> lock(everyones().mutex);
    for (const auto& weak : everyones().entries) {
      auto entry = weak.lock();
      if (entry != nullptr && entry->key == key) return entry;
    }
    return nullptr;
  }

  static void Share(const std::shared_ptr<const Entry>& entry) {
    std::lock_guard<std::mutex> lock(everyones().mutex);
    everyones().entries.remove_if([](const auto& weak) { return weak.expired(); });
    everyones().entries.push_back(entry);
  }

  void Keep(const std::shared_ptr<const Entry>& entry) {
    std::list<std::shared_ptr<const Entry>> gone;  // Freed unlocked.
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end();) {
      const auto next = std::next(kept);
      if ((*kept)->key.stale()) gone.splice(gone.end(), kept_, kept);
      kept = next;
    }
    kept_.push_front(entry);
    if (kept_.size() > kMostKept) gone.splice(gone.end(), kept_, std::prev(kept_.end()));
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<const Entry>> kept_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_PACKED_ONCE_H_
