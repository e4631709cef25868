#ifndef TF_QOPS_CC_KERNELS_RECENTLY_USED_H_
#define TF_QOPS_CC_KERNELS_RECENTLY_USED_H_

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace tf_qops {

// The latest `capacity` values made, found again by a key. Safe for concurrent callers; a value
// stays alive for who holds it.
template <typename Key, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t capacity) : capacity_(capacity) {}

  // The value of an equal key, or make()'s, which runs unlocked and so perhaps more than once.
  template <typename Make>
  std::shared_ptr<const Value> Get(const Key& key, Make&& make) {
    return Get(key, make, [](const Key&) { return false; });
  }

  // Before a new value is kept, those whose keys are stale(key) go.
  template <typename Make, typename Stale>
  std::shared_ptr<const Value> Get(const Key& key, Make&& make, Stale&& stale) {
    if (auto found = Find(key)) return found;
    auto made = std::make_shared<const Value>(make());
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.remove_if([&](const auto& entry) { return stale(entry.first); });
    entries_.emplace_front(key, made);
    if (entries_.size() > capacity_) entries_.pop_back();
    return made;
  }

 private:
  std::shared_ptr<const Value> Find(const Key& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first == key) {
        entries_.splice(entries_.begin(), entries_, entry);
        return entry->second;
      }
    }
    return nullptr;
  }

  const size_t capacity_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const Value>>> entries_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_KERNELS_RECENTLY_USED_H_
