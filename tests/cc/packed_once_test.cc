// What is packed once, for whom, and when it goes.

#include "cc/kernels/packed_once.h"

#include <set>

#include "tests/cc/check.h"

namespace tf_qops {
namespace {

// Weights by their number; those in `freed` have no other holder.
std::set<int> freed;

struct Key {
  int weights;

  bool operator==(const Key& other) const { return weights == other.weights; }
  bool stale() const { return freed.count(weights) > 0; }
};

int packed = 0;

std::shared_ptr<const int> Get(PackedOnce<Key, int>* cache, int weights) {
  return cache->Get({weights}, [](const Key& key) {
    ++packed;
    return 10 * key.weights;
  });
}

void KernelsShareWhatOneOfThemPacked() {
  PackedOnce<Key, int> one, other;
  const auto value = Get(&one, 1);
  CHECK(*value == 10 && Get(&other, 1) == value && Get(&one, 1) == value && packed == 1);
}

void WhatNoKernelKeepsIsGone() {
  packed = 0;
  {
    PackedOnce<Key, int> passing;
    Get(&passing, 2);
  }
  PackedOnce<Key, int> later;
  Get(&later, 2);
  CHECK(packed == 2);
}

void StaleWeightsGoWithTheNextOnes() {
  PackedOnce<Key, int> cache;
  const std::weak_ptr<const int> old = Get(&cache, 3);
  CHECK(!old.expired());
  freed.insert(3);
  Get(&cache, 4);
  CHECK(old.expired());
}

void AtMostSixtyFourAreKept() {
  PackedOnce<Key, int> cache;
  const std::weak_ptr<const int> first = Get(&cache, 100), second = Get(&cache, 101);
  Get(&cache, 100);
  for (int i = 102; i < 165; ++i) Get(&cache, i);
  CHECK(!first.expired() && second.expired()) << "the one used longest ago goes";
}

}  // namespace
}  // namespace tf_qops

int main() {
  tf_qops::KernelsShareWhatOneOfThemPacked();
  tf_qops::WhatNoKernelKeepsIsGone();
  tf_qops::StaleWeightsGoWithTheNextOnes();
  tf_qops::AtMostSixtyFourAreKept();
  return 0;
}
