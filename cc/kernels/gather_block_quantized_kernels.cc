// GatherBlockQuantized on the CPU.

#include "cc/core/gather_block_quantized.h"
#include "cc/kernels/adapters.h"
#include "cc/ops/dtypes.h"
#include "cc/ops/nbits_attributes.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// Indices counted from the front, each checked.
template <typename T>
absl::Status ReadIndices(const Tensor& indices, int64_t axis_dim, std::vector<int64_t>* read) {
  const T* from = Data<T>(indices);
  for (int64_t i = 0; i < indices.NumElements(); ++i) {
    const int64_t index = from[i];
    if (index < -axis_dim || index >= axis_dim) {
      return ToStatus(Invalid("indices must be in [", -axis_dim, ", ", axis_dim - 1,
                              "]. Received: ", index, " at ", i));
    }
    read->push_back(index < 0 ? index + axis_dim : index);
  }
  return absl::OkStatus();
}

class GatherBlockQuantizedOp : public OpKernel {
 public:
  explicit GatherBlockQuantizedOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, GetGatherAttributes(c, &attributes_));
  }

  void Compute(OpKernelContext* c) override {
    const Tensor &data = c->input(0), &indices = c->input(1), &scales = c->input(2);
    const Tensor* zero_points = nullptr;
    OP_REQUIRES_OK(c, OptionalInput(c, "zero_points", &zero_points));
    const auto resolved =
        ResolveGather(attributes_, ShapeOf(data), ShapeOf(indices), ShapeOf(scales),
                      zero_points == nullptr ? std::optional<Shape>() : ShapeOf(*zero_points));
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const GatherGeometry& g = resolved->geometry;
    std::vector<int64_t> slices;
    OP_REQUIRES_OK(c, indices.dtype() == tensorflow::DT_INT32
                          ? ReadIndices<int32_t>(indices, g.axis_dim, &slices)
                          : ReadIndices<int64_t>(indices, g.axis_dim, &slices));

    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(c, tensorflow::TensorShape::BuildTensorShape(*resolved->output, &shape));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;

    VisitFloats(output->dtype(), [&](auto tag) {
      using Out = typename decltype(tag)::type;
      VisitData(data, g, zero_points, [&](const auto& codes, const auto& zero_point) {
        const int64_t count = slices.size();
        WorkersOf(c).run(g.outer * count, g.inner + 20, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            GatherSlice(g, g.Begin(i / count, slices[i % count]), codes, zero_point,
                        Data<Out>(scales), MutableData<Out>(output) + i * g.inner);
          }
        });
      });
    });
  }

 private:
  // Calls visit(codes, zero_point) as GatherSlice takes them.
  template <typename Visit>
  void VisitData(const Tensor& data, const GatherGeometry& g, const Tensor* zero_points,
                 Visit&& visit) const {
    switch (attributes_.data) {
      case GatherData::kPacked:
        return attributes_.bits == 2   ? VisitPacked<2>(data, g, zero_points, visit)
               : attributes_.bits == 4 ? VisitPacked<4>(data, g, zero_points, visit)
                                       : VisitPacked<8>(data, g, zero_points, visit);
      case GatherData::kIntegers:
        return data.dtype() == tensorflow::DT_INT4 ? VisitIntegers<Int4>(data, zero_points, visit)
                                                   : VisitIntegers<UInt4>(data, zero_points, visit);
      case GatherData::kFloats:
        VisitCodes(data.dtype(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          if constexpr (!Codes<T>::kInteger) {
            visit(PlainElements<T>{Data<T>(data)}, [](int64_t) { return 0.0f; });
          }
        });
    }
  }

  template <int kBits, typename Visit>
  static void VisitPacked(const Tensor& data, const GatherGeometry& g, const Tensor* zero_points,
                          Visit&& visit) {
    const PackedCodes<kBits> codes{Data<uint8_t>(data)};
    if (zero_points == nullptr) return visit(codes, [](int64_t) { return 1 << (kBits - 1); });
    visit(codes, [&g, bytes = Data<uint8_t>(*zero_points)](int64_t scale) {
      const PackedCodes<kBits> row{bytes + scale / g.scale_row * g.zero_point_row};
      return row[scale % g.scale_row];
    });
  }

  template <typename T, typename Visit>
  static void VisitIntegers(const Tensor& data, const Tensor* zero_points, Visit&& visit) {
    const PlainElements<T> codes{Data<T>(data)};
    if (zero_points == nullptr) return visit(codes, [](int64_t) { return 0; });
    const PlainElements<T> zeros{Data<T>(*zero_points)};
    visit(codes, [zeros](int64_t scale) { return zeros[scale]; });
  }

  GatherAttributes attributes_;
};

REGISTER_KERNEL_BUILDER(Name("TfQops>GatherBlockQuantized").Device(tensorflow::DEVICE_CPU),
                        GatherBlockQuantizedOp);

}  // namespace
}  // namespace tf_qops
