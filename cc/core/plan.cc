#include "cc/core/plan.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tf_qops {
namespace {

// Of a row, in the time of one quad as words.
float CostOfWords(const ProductShape& shape) {
  const int64_t panels = RoundUp(shape.columns, kPanel) / kPanel;
  const int64_t lanes = shape.taps * LanesFor(LaneFormat::kWords, shape.channels);
  return static_cast<float>(shape.count * panels * lanes) / 2.0f;
}

}  // namespace

const char* NameOf(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kWidened:
      return "widened";
    case Algorithm::kDotProduct:
      return "dot_product";
    case Algorithm::kGrouped:
      return "grouped";
  }
  return "";
}

const std::vector<Algorithm>& AlgorithmsOf(InstructionSet isa) {
  static const std::vector<Algorithm> portable{Algorithm::kWidened};
  static const std::vector<Algorithm> avx2{Algorithm::kWidened, Algorithm::kGrouped};
  static const std::vector<Algorithm> vnni{Algorithm::kDotProduct};
  if (isa == InstructionSet::kAvx512Vnni) return vnni;
  return isa == InstructionSet::kAvx2 ? avx2 : portable;
}

std::optional<Algorithm> ForcedAlgorithm() {
  static const std::optional<Algorithm> forced = []() -> std::optional<Algorithm> {
    const char* wanted = std::getenv("TF_QOPS_ALGORITHM");
    if (wanted == nullptr) return std::nullopt;
    for (Algorithm a : {Algorithm::kWidened, Algorithm::kDotProduct, Algorithm::kGrouped}) {
      if (std::strcmp(wanted, NameOf(a)) == 0) return a;
    }
    std::fprintf(stderr,
                 "tf_qops: TF_QOPS_ALGORITHM must be widened, dot_product or grouped. "
                 "Received: %s\n",
                 wanted);
    return std::nullopt;
  }();
  return forced;
}

bool Group(const ProductShape& shape, bool always, std::vector<PackedPanels>* panels) {
#ifdef TF_QOPS_X86
  float cost = 0.0f;
  for (PackedPanels& p : *panels) {
    p.grouped = GroupPanelsAvx2(p.data, p.panels(), p.taps, p.lanes);
    cost += p.grouped.cost;
  }
  if (!always && cost >= CostOfWords(shape)) return false;
  for (PackedPanels& p : *panels) {
    p.algorithm = Algorithm::kGrouped;
    p.data = {};
  }
  return true;
#else
  return false;
#endif
}

void Report(const ProductShape& shape, InstructionSet isa,
            const std::vector<PackedPanels>& panels) {
  static const char* const wanted = std::getenv("TF_QOPS_VERBOSE");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0 || panels.empty()) return;
  char groups[160] = "";
  if (panels[0].algorithm == Algorithm::kGrouped) {
    int64_t counts[kGroupKinds] = {};
    float cost = 0.0f;
    for (const PackedPanels& p : panels) {
      cost += p.grouped.cost;
      for (const GroupedPanel& panel : p.grouped.panels) {
        for (int kind = 0; kind < kGroupKinds; ++kind) counts[kind] += panel.counts[kind];
      }
    }
    int at = std::snprintf(groups, sizeof(groups),
                           ", cost %.2f of widened, groups of quads:", cost / CostOfWords(shape));
    for (int kind = 0; kind < kGroupKinds; ++kind) {
      at += std::snprintf(groups + at, sizeof(groups) - at, " %ld*%d%s",
                          static_cast<long>(counts[kind]), kGroupKindTable[kind].quads,
                          kGroupKindTable[kind].complemented ? "c" : "");
    }
  }
  std::fprintf(stderr, "tf_qops: %ld x [%ld taps x %ld channels, %ld columns]: %s, %s%s\n",
               static_cast<long>(shape.count), static_cast<long>(shape.taps),
               static_cast<long>(shape.channels), static_cast<long>(shape.columns), NameOf(isa),
               NameOf(panels[0].algorithm), groups);
}

}  // namespace tf_qops
