// What is kept, what goes, and that a value outlives its entry.

#include "cc/kernels/recently_used.h"

#include <string>

#include "tests/cc/check.h"

namespace tf_qops {
namespace {

class Cache {
 public:
  std::shared_ptr<const std::string> Get(int key) {
    return cache_.Get(
        key,
        [&] {
          ++made;
          return std::to_string(key);
        },
        [&](int kept) { return kept == stale; });
  }
  int made = 0;
  int stale = -1;

 private:
  RecentlyUsed<int, std::string> cache_{2};
};

void TheLatestAreKept() {
  Cache cache;
  const auto one = cache.Get(1);
  CHECK(cache.Get(1) == one && cache.made == 1);
  cache.Get(2);
  cache.Get(1);
  cache.Get(3);  // 2 was used longest ago.
  CHECK(cache.Get(1) == one && cache.made == 3);
  cache.Get(2);
  CHECK(cache.made == 4);
  CHECK(*one == "1") << "a value stays alive for who holds it";
}

void StaleOnesGoFirst() {
  Cache cache;
  cache.Get(1);
  cache.Get(2);
  cache.stale = 2;
  cache.Get(3);
  cache.Get(1);
  CHECK(cache.made == 3) << "1 stayed, though used before 2";
}

}  // namespace
}  // namespace tf_qops

int main() {
  tf_qops::TheLatestAreKept();
  tf_qops::StaleOnesGoFirst();
  return 0;
}
