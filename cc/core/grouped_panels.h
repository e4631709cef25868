#ifndef TF_QOPS_CC_CORE_GROUPED_PANELS_H_
#define TF_QOPS_CC_CORE_GROUPED_PANELS_H_

#include <cstdint>
#include <vector>

#include "cc/core/lanes.h"

namespace tf_qops {

// Weights for vpmaddubsw, which adds two products of a uint8 and an int8 and saturates at int16.
//
// A quad is the row of a panel that one lane of x is multiplied with: four weights of each of its
// columns, in two pairs. Where the positive weights of every pair sum to at most 128 and the
// negative ones to at least -128, no sum leaves int16 (255 * 128 = 32640). The same holds for the
// sum of several quads whose pairs meet the bound together: they make a group, which is widened to
// int32 once. A quad that does not meet the bound alone is complemented: some of its taps read
// 255 - x times -w, and 255 * w goes to the column's start.
struct QuadPlace {
  int32_t tap;
  int32_t lane;
};

// What the kernels have a loop for.
struct GroupKind {
  int quads;
  bool complemented;  // The last quad is.
  float cost;         // Of a row and a panel, in the time of one quad as words: measured on a Zen4.
};

inline constexpr int kMostQuads = 4;
inline constexpr int kMostQuadsComplemented = 3;
inline constexpr int kGroupKinds = kMostQuads + kMostQuadsComplemented;
inline constexpr GroupKind kGroupKindTable[kGroupKinds] = {
    {4, false, 2.65f}, {3, false, 2.0f}, {2, false, 1.4f}, {1, false, 0.82f},
    {3, true, 2.2f},   {2, true, 1.6f},  {1, true, 0.95f},
};
inline constexpr float kGroupedTileCost = 4.5f;  // More than words take beside the quads.

struct GroupedPanel {
  int64_t counts[kGroupKinds] = {};  // Groups of each kind, which stand in this order.
  int64_t first_quad = 0;            // Index of its place.
  int64_t quads = 0;
  int64_t first_lane = 0;  // Index of its data.
};

struct GroupedPanels {
  std::vector<GroupedPanel> panels;
  std::vector<QuadPlace> places;  // Of the quads, group after group.
  LaneVector data;                // [quad][kPanel], after a complemented one [kPanel] of masks.
  std::vector<int32_t> start;     // Of each column.
  float cost = 0.0f;              // Of all kinds, for a row.
};

// `data` is [panel][tap][lane][kPanel], lanes of four int8.
GroupedPanels GroupPanelsAvx2(const LaneVector& data, int64_t panels, int64_t taps, int64_t lanes);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_GROUPED_PANELS_H_
