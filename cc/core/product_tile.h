#ifndef TF_QOPS_CC_CORE_PRODUCT_TILE_H_
#define TF_QOPS_CC_CORE_PRODUCT_TILE_H_

#include <utility>

#include "cc/core/product_kernels.h"

namespace tf_qops {

// The loops of ProductKernels::dense and depthwise for one instruction set. `Vector` has a type
// Panel, of kPanel lanes, and functions LoadPanel, LoadSums, BroadcastLane, MultiplyAdd,
// StoreSums and, where kHasTerms, AddProduct; its Quantizer stores the codes of a row. Everything
// of a tile stays in registers.
template <typename Vector, int kRows, int kPanels, bool kDepthwise>
struct TileSums {
  using Panel = typename Vector::Panel;
  Panel sums[kRows][kPanels];

  __attribute__((always_inline)) explicit TileSums(const Tile& tile) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) sums[r][p] = Vector::LoadSums(tile.start + p * kPanel);
    }
    const Lane* w = tile.w;
    for (int64_t t = 0; t < tile.taps; ++t) {
      const Lane* x[kRows];
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) x[r] = tile.x[r] + tile.tap_offsets[t];
      for (int64_t i = 0; i < (kDepthwise ? 1 : tile.lanes); ++i, w += kPanel) {
        Panel columns[kPanels];
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) columns[p] = Vector::LoadPanel(w + p * tile.panel_size);
#pragma GCC unroll 12
        for (int r = 0; r < kRows; ++r) {
          if constexpr (kDepthwise) {
#pragma GCC unroll 4
            for (int p = 0; p < kPanels; ++p) {
              const Panel row = Vector::LoadPanel(x[r] + p * tile.plane);
              sums[r][p] = Vector::MultiplyAdd(sums[r][p], row, columns[p]);
            }
          } else {
            const Panel row = Vector::BroadcastLane(x[r] + i);
#pragma GCC unroll 4
            for (int p = 0; p < kPanels; ++p) {
              sums[r][p] = Vector::MultiplyAdd(sums[r][p], row, columns[p]);
            }
          }
        }
      }
    }
    if constexpr (Vector::kHasTerms && !kDepthwise) AddTerms(tile);
  }

 private:
  __attribute__((always_inline)) void AddTerms(const Tile& tile) {
    for (int i = 0; i < tile.term_count; ++i) {
      const Tile::Term& term = tile.terms[i];
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) {
          sums[r][p] = Vector::AddProduct(sums[r][p], term.rows[r], term.columns + p * kPanel);
        }
      }
    }
  }
};

template <typename Vector, int kRows, int kPanels, bool kDepthwise>
void MultiplyTile(const Tile& tile) {
  const TileSums<Vector, kRows, kPanels, kDepthwise> result(tile);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      Vector::StoreSums(tile.acc + (r * kPanels + p) * kPanel, result.sums[r][p]);
    }
  }
}

template <typename Vector, int kRows, int kPanels, bool kDepthwise>
void MultiplyTileToCodes(const Tile& tile, const CodesOutput& output, int64_t columns) {
  const TileSums<Vector, kRows, kPanels, kDepthwise> result(tile);
  const typename Vector::Quantizer quantizer(output.range);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    quantizer.template Store<kPanels>(result.sums[r], output.scale, columns,
                                      output.y + r * output.row_step);
  }
}

template <typename Vector, int kPanels, int... kRows>
void AddDense(std::integer_sequence<int, kRows...>, ProductKernels* kernels) {
  kernels->most_panels = kPanels;
  kernels->most_rows[kPanels] = sizeof...(kRows);
  ((kernels->dense[kPanels][kRows + 1] = MultiplyTile<Vector, kRows + 1, kPanels, false>), ...);
  ((kernels->dense_codes[kPanels][kRows + 1] =
        MultiplyTileToCodes<Vector, kRows + 1, kPanels, false>),
   ...);
}

template <typename Vector, int kPanels, int... kRows>
void AddDepthwise(std::integer_sequence<int, kRows...>, ProductKernels* kernels) {
  kernels->most_panels_depthwise = kPanels;
  kernels->most_rows_depthwise[kPanels] = sizeof...(kRows);
  ((kernels->depthwise[kPanels][kRows + 1] = MultiplyTile<Vector, kRows + 1, kPanels, true>), ...);
  ((kernels->depthwise_codes[kPanels][kRows + 1] =
        MultiplyTileToCodes<Vector, kRows + 1, kPanels, true>),
   ...);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PRODUCT_TILE_H_
