#ifndef TF_QOPS_CC_CORE_PRODUCT_KERNELS_H_
#define TF_QOPS_CC_CORE_PRODUCT_KERNELS_H_

#include <cstdint>

#include "cc/core/cpu.h"
#include "cc/core/lanes.h"
#include "cc/core/rounding.h"

namespace tf_qops {

// Inner loops of integer matrix products and convolutions. Operands come in lanes of 32 bits, each
// of neighbouring elements whose products are added at once. Sums are exact modulo 2^32.
enum class LaneFormat {
  // Two codes minus their zero points, as int16: the sum of two of their products, of at most
  // 255 * 255 each, does not saturate in vpmaddwd.
  kWords,
  // Four codes: of the left operand as uint8, of the right one, minus something, as int8: the sum
  // of four products does not saturate in vpdpbusd. PackedPanels says what is left to be added.
  kBytes,
};

// How dense products are computed; depthwise ones are, in the format of the instruction set.
enum class Algorithm {
  kWidened,     // Words: pairs of products in int32.
  kDotProduct,  // Bytes: four products in int32.
  kGrouped,     // Bytes: as many products in int16 as do not leave it, see GroupedPanels.
};

const char* NameOf(Algorithm algorithm);

inline constexpr int64_t GroupSize(LaneFormat format) {
  return format == LaneFormat::kWords ? 2 : 4;
}

inline int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Lanes that hold this many elements.
inline int64_t LanesFor(LaneFormat format, int64_t elements) {
  return RoundUp(elements, GroupSize(format)) / GroupSize(format);
}

inline constexpr int kPanel = 16;  // Columns of the right operand that stand beside each other.
inline constexpr int kMostPanels = 4;
inline constexpr int kMostRows = 12;
inline constexpr int kLargestTile = 24 * kPanel;  // Sums.

// Some rows of the left operand times some panels of the right one.
struct Tile {
  const Lane* const* x;        // Where each row begins.
  const int64_t* tap_offsets;  // From there to each tap, in lanes; to each quad where grouped.
  int64_t plane;               // From there to what the next panel reads; depthwise only.
  int64_t taps;
  int64_t lanes;                // Of a tap.
  const int64_t* group_counts;  // Of each kind; null unless grouped.
  const Lane* w;                // [panel][tap][lane][kPanel], or of a GroupedPanel.
  int64_t panel_size;
  const int32_t* start;  // [panel][kPanel]: what the sums of every row start with.
  int32_t* acc;          // [row][panel][kPanel]

  // What is added to the sum of row r and column j: rows[r] * columns[j] of each term.
  struct Term {
    const int32_t* rows;
    const int32_t* columns;
  };
  int term_count;  // 0 where lanes hold words.
  Term terms[2];
};

// How sums become codes of 8 bits, range.Quantize(f32(sum + bias[j]) * scale[j]), and where those
// of row r and column j are written: y[r * row_step + j]. Scales and biases have room for whole
// panels.
struct CodesOutput {
  const int32_t* bias;
  const float* scale;
  CodeRange range;
  uint8_t* y;
  int64_t row_step;

  CodesOutput At(int64_t row, int64_t column) const {
    return {bias + column, scale + column, range, y + row * row_step + column, row_step};
  }
};

struct ProductKernels {
  using Multiply = void (*)(const Tile&);
  // Writes codes in place of tile.acc, whose biases are in tile.start; y has `columns` columns.
  using MultiplyToCodes = void (*)(const Tile&, const CodesOutput&, int64_t columns);

  LaneFormat format;
  int most_panels;
  int most_rows[kMostPanels + 1];  // For so many panels.
  int most_panels_depthwise;
  int most_rows_depthwise[kMostPanels + 1];
  // acc[r][p][j] = start[p][j] + sum over taps t and lanes i of x[r][tap_offsets[t] + i] times
  // w[p][t][i][j], for [panels][rows].
  Multiply dense[kMostPanels + 1][kMostRows + 1];
  MultiplyToCodes dense_codes[kMostPanels + 1][kMostRows + 1];
  // acc[r][p][j] = start[p][j] + sum over taps t of x[r][p * plane + tap_offsets[t] + j] times
  // w[p][t][0][j].
  Multiply depthwise[kMostPanels + 1][kMostRows + 1];
  MultiplyToCodes depthwise_codes[kMostPanels + 1][kMostRows + 1];

  // Codes of `count` columns of a row; `acc` has room for whole panels.
  void (*requantize)(const int32_t* acc, int64_t count, const CodesOutput& output);
  // Writes `count` codes of a left operand as elements of lanes.
  void (*pack)(const uint8_t* codes, bool is_signed, int64_t count, int32_t zero_point, Lane* to);
  // Lane i, at to[i / kPanel * panel_step + i % kPanel], gets codes i, i + step, ... up to the size
  // of a group.
  void (*interleave)(const uint8_t* codes, int64_t step, bool is_signed, int64_t count,
                     int32_t zero_point, int64_t panel_step, Lane* to);
  // The sum of the elements of lanes in kBytes.
  int32_t (*sum)(const Lane* x, int64_t lanes);
};

const ProductKernels& ProductKernelsPortable();
const ProductKernels& ProductKernelsAvx2();
const ProductKernels& ProductKernelsAvx512Vnni();
const ProductKernels& GroupedKernelsAvx2();

inline const ProductKernels& ProductKernelsOf(InstructionSet isa) {
#ifdef TF_QOPS_X86
  if (isa == InstructionSet::kAvx512Vnni) return ProductKernelsAvx512Vnni();
  if (isa == InstructionSet::kAvx2) return ProductKernelsAvx2();
#endif
  (void)isa;
  return ProductKernelsPortable();
}

inline const ProductKernels& ProductKernelsOf(InstructionSet isa, Algorithm algorithm) {
#ifdef TF_QOPS_X86
  if (algorithm == Algorithm::kGrouped) return GroupedKernelsAvx2();
#endif
  (void)algorithm;
  return ProductKernelsOf(isa);
}

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_PRODUCT_KERNELS_H_
