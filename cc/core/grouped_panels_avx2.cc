#include <immintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cc/core/grouped_panels.h"
#include "cc/core/product_kernels.h"

namespace tf_qops {
namespace {

constexpr int kPairs = 2 * kPanel;
constexpr int kBound = 128;
constexpr size_t kMostOpen = 96;  // Groups that a quad is offered to.

// For each pair of a quad or a group, how far its positive weights sum and its negative ones.
struct PairSums {
  alignas(32) uint8_t positive[kPairs] = {};
  alignas(32) uint8_t negative[kPairs] = {};

  static __m256i Load(const uint8_t* sums) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(sums));
  }
  bool FitsWith(const PairSums& more) const {
    const __m256i bound = _mm256_set1_epi8(static_cast<char>(kBound));
    const auto beyond = [&](const uint8_t* a, const uint8_t* b) {
      return _mm256_subs_epu8(_mm256_adds_epu8(Load(a), Load(b)), bound);
    };
    const __m256i any =
        _mm256_or_si256(beyond(positive, more.positive), beyond(negative, more.negative));
    return _mm256_testz_si256(any, any) != 0;
  }
  void Add(const PairSums& more) {
    for (int i = 0; i < kPairs; ++i) {
      positive[i] = static_cast<uint8_t>(positive[i] + more.positive[i]);
      negative[i] = static_cast<uint8_t>(negative[i] + more.negative[i]);
    }
  }
  int Largest() const {
    return std::max(*std::max_element(positive, positive + kPairs),
                    *std::max_element(negative, negative + kPairs));
  }
};

struct Quad {
  QuadPlace place;
  bool complemented = false;
  int8_t w[4 * kPanel] = {};
  uint8_t mask[4 * kPanel] = {};
  PairSums sums;
  int largest = 0;

  void Measure() {
    for (int i = 0; i < kPairs; ++i) {
      const int a = w[2 * i], b = w[2 * i + 1];
      sums.positive[i] = static_cast<uint8_t>(std::max(a, 0) + std::max(b, 0));
      sums.negative[i] = static_cast<uint8_t>(-std::min(a, 0) - std::min(b, 0));
    }
    largest = sums.Largest();
  }
};

struct Group {
  PairSums sums;
  int size = 0;
  const Quad* quads[kMostQuads];

  bool complemented() const { return quads[0]->complemented; }
  bool full() const { return size == (complemented() ? kMostQuadsComplemented : kMostQuads); }
  int kind() const { return complemented() ? kGroupKinds - size : kMostQuads - size; }
};

// Makes a pair meet the bound; false where both weights are -128, which have no negative.
bool FitPair(int8_t* w, uint8_t* mask, int32_t* start) {
  const int sum = w[0] + w[1];
  if ((w[0] < 0) != (w[1] < 0) || std::abs(sum) <= kBound) return true;
  const int tap = w[0] == -kBound ? 1 : 0;
  if (w[tap] == -kBound) return false;
  *start =
      static_cast<int32_t>(static_cast<uint32_t>(*start) + static_cast<uint32_t>(255 * w[tap]));
  w[tap] = static_cast<int8_t>(-w[tap]);
  mask[tap] = 0xff;
  return true;
}

// The quads of a panel that are not zero; one with pairs of -128 and -128 becomes two.
std::vector<Quad> Quads(const Lane* w, int64_t taps, int64_t lanes, int32_t* start) {
  std::vector<Quad> quads;
  quads.reserve(taps * lanes);
  for (int64_t i = 0; i < taps * lanes; ++i, w += kPanel) {
    Quad quad{{static_cast<int32_t>(i / lanes), static_cast<int32_t>(i % lanes)}};
    std::memcpy(quad.w, w, sizeof(quad.w));
    Quad rest{quad.place};
    for (int pair = 0; pair < kPairs; ++pair) {
      int8_t* both = quad.w + 2 * pair;
      if (FitPair(both, quad.mask + 2 * pair, start + pair / 2)) continue;
      std::swap(both[1], rest.w[2 * pair + 1]);
    }
    const uint8_t none[sizeof(quad.mask)] = {};
    quad.complemented = std::memcmp(quad.mask, none, sizeof(none)) != 0;
    for (Quad* part : {&quad, &rest}) {
      part->Measure();
      if (part->largest > 0) quads.push_back(*part);
    }
  }
  return quads;
}

// Complemented quads first, then large ones, each into the first group that has room for it.
std::vector<Group> MakeGroups(const std::vector<Quad>& quads) {
  std::vector<const Quad*> order;
  for (const Quad& quad : quads) order.push_back(&quad);
  std::stable_sort(order.begin(), order.end(), [](const Quad* a, const Quad* b) {
    return a->complemented != b->complemented ? a->complemented : a->largest > b->largest;
  });
  std::vector<Group> groups;
  std::vector<size_t> open;
  for (const Quad* quad : order) {
    size_t i = quad->complemented ? open.size() : 0;
    while (i < open.size() && !groups[open[i]].sums.FitsWith(quad->sums)) ++i;
    if (i == open.size()) {
      if (i == kMostOpen) open.erase(open.begin());
      i = open.size();
      open.push_back(groups.size());
      groups.emplace_back();
    }
    Group& group = groups[open[i]];
    group.sums.Add(quad->sums);
    group.quads[group.size++] = quad;
    if (group.full()) open.erase(open.begin() + static_cast<int64_t>(i));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.kind() < b.kind(); });
  return groups;
}

}  // namespace

GroupedPanels GroupPanelsAvx2(const LaneVector& data, int64_t panels, int64_t taps, int64_t lanes) {
  GroupedPanels grouped;
  grouped.start.resize(panels * kPanel);
  const auto append = [&](const void* lanes_of_panel) {
    const size_t at = grouped.data.size();
    grouped.data.resize(at + kPanel);
    std::memcpy(grouped.data.data() + at, lanes_of_panel, kPanel * sizeof(Lane));
  };
  for (int64_t panel = 0; panel < panels; ++panel) {
    const std::vector<Quad> quads = Quads(data.data() + panel * taps * lanes * kPanel, taps, lanes,
                                          grouped.start.data() + panel * kPanel);
    GroupedPanel place;
    grouped.cost += kGroupedTileCost;
    place.first_quad = static_cast<int64_t>(grouped.places.size());
    place.quads = static_cast<int64_t>(quads.size());
    place.first_lane = static_cast<int64_t>(grouped.data.size());
    for (const Group& group : MakeGroups(quads)) {
      ++place.counts[group.kind()];
      grouped.cost += kGroupKindTable[group.kind()].cost;
      for (int i = group.size - 1; i >= 0; --i) {  // A complemented one comes last.
        const Quad& quad = *group.quads[i];
        grouped.places.push_back(quad.place);
        append(quad.w);
        if (quad.complemented) append(quad.mask);
      }
    }
    grouped.panels.push_back(place);
  }
  return grouped;
}

}  // namespace tf_qops
