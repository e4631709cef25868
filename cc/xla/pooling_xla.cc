// QLinearAveragePool and QLinearGlobalAveragePool as plain HLO.

#include "cc/core/average_pool.h"
#include "cc/xla/byte_format.h"

namespace tf_qops {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;

// See PoolingOp in cc/kernels. Sums are exact up to 2^23 elements a window.
class PoolingXlaOp : public XlaOpKernel {
 public:
  PoolingXlaOp(OpKernelConstruction* c, bool global) : XlaOpKernel(c), global_(global) {}

  void Compile(XlaOpKernelContext* c) override {
    XlaByteFormat x, y;
    OP_REQUIRES_OK(c, GetFormat(c, "x", &x));
    OP_REQUIRES_OK(c, GetFormat(c, "y", &y));
    const Shape shape = InputShapeOf(c, 0);
    const auto resolved = global_ ? ResolveGlobalPooling(attributes_.channels_last, shape)
                                  : ResolvePooling(attributes_, shape);
    OP_REQUIRES(c, resolved.ok(), ToStatus(resolved.error()));
    const PoolingGeometry& g = resolved->geometry;

    const Dims in = Placed(g, [](const SpatialDim& dim) { return dim.input; });
    const Dims out = Placed(g, [](const SpatialDim& dim) { return dim.output; });
    const xla::XlaOp codes = xla::ConvertElementType(xla::Reshape(c->Input(0), in), xla::S32);
    const XlaFloat total{
        xla::ConvertElementType(Sums(g, xla::Sub(codes, x.ZeroPoint(in)), out), xla::F32)};
    const xla::XlaOp count = Counts(g, out, c->builder());

    const XlaFloat y_scale = y.Scale(out), x_scale = x.Scale(out);
    xla::XlaOp result;
    if (global_) {
      const XlaFloat factor{Settled((x_scale / (y_scale * XlaFloat{count})).op)};
      result = y.RoundThenAdd(total * factor, out);
    } else {
      const XlaFloat mean{Settled((total / XlaFloat{count}).op)};
      const XlaFloat factor{Settled((x_scale / y_scale).op)};
      const XlaFloat plus{xla::ConvertElementType(y.ZeroPoint(out), xla::F32)};
      result = y.Round(mean * factor + plus);
    }
    c->SetOutput(0, xla::Reshape(result, *resolved->output));
  }

 protected:
  PoolingAttributes attributes_;

 private:
  // Batch and channels with what get() gives of each spatial dimension.
  template <typename Get>
  static Dims Placed(const PoolingGeometry& g, Get get, int64_t batch, int64_t channels) {
    Dims dims{batch};
    if (!g.channels_last) dims.push_back(channels);
    for (const SpatialDim& dim : g.spatial) dims.push_back(get(dim));
    if (g.channels_last) dims.push_back(channels);
    return dims;
  }
  template <typename Get>
  static Dims Placed(const PoolingGeometry& g, Get get) {
    return Placed(g, get, g.batch, g.channels);
  }

  static xla::XlaOp Sums(const PoolingGeometry& g, xla::XlaOp x, const Dims& out) {
    if (g.taps() == 0) {  // Of a global pooling without pixels; HLO refuses such windows.
      return xla::Broadcast(xla::ConstantR0<int32_t>(x.builder(), 0), out);
    }
    const auto each = [&](auto get) { return Placed(g, get, 1, 1); };
    const Dims begins = Placed(g, [](const SpatialDim& d) { return d.pad_begin; }, 0, 0);
    const Dims ends = Placed(
        g,
        [](const SpatialDim& d) {
          const int64_t needed = (d.output - 1) * d.stride + (d.kernel - 1) * d.dilation + 1;
          return std::max<int64_t>(needed - d.input - d.pad_begin, 0);
        },
        0, 0);
    std::vector<std::pair<int64_t, int64_t>> padding;
    for (size_t i = 0; i < begins.size(); ++i) padding.emplace_back(begins[i], ends[i]);
    return xla::ReduceWindowWithGeneralPadding(
        x, xla::ConstantR0<int32_t>(x.builder(), 0),
        xla::CreateScalarAddComputation(xla::S32, x.builder()),
        each([](const SpatialDim& d) { return d.kernel; }),
        each([](const SpatialDim& d) { return d.stride; }),
        each([](const SpatialDim&) { return 1; }),
        each([](const SpatialDim& d) { return d.dilation; }), padding);
  }

  // The n of AveragePooling for each element of y; 1 where a window has none.
  xla::XlaOp Counts(const PoolingGeometry& g, const Dims& out, xla::XlaBuilder* builder) const {
    if (attributes_.count_include_pad) {
      return xla::Broadcast(xla::ConstantR0(builder, static_cast<float>(g.taps())), out);
    }
    xla::XlaOp counts = xla::Broadcast(xla::ConstantR0<int32_t>(builder, 1), out);
    for (size_t i = 0; i < g.spatial.size(); ++i) {
      std::vector<int32_t> along;
      for (int64_t o = 0; o < g.spatial[i].output; ++o) {
        along.push_back(static_cast<int32_t>(WindowOverlap(g.spatial[i], o).count));
      }
      const int64_t at = i + (g.channels_last ? 1 : 2);
      counts = xla::Mul(counts,
                        xla::BroadcastInDim(xla::ConstantR1<int32_t>(builder, along), out, {at}));
    }
    return xla::ConvertElementType(xla::Max(counts, xla::FullLike(counts, 1)), xla::F32);
  }

  const bool global_;
};

class QLinearAveragePoolXlaOp : public PoolingXlaOp {
 public:
  explicit QLinearAveragePoolXlaOp(OpKernelConstruction* c) : PoolingXlaOp(c, /*global=*/false) {
    OP_REQUIRES_OK(c, GetPoolingAttributes(c, &attributes_));
  }
};

class QLinearGlobalAveragePoolXlaOp : public PoolingXlaOp {
 public:
  explicit QLinearGlobalAveragePoolXlaOp(OpKernelConstruction* c)
      : PoolingXlaOp(c, /*global=*/true) {
    OP_REQUIRES_OK(c, c->GetAttr("channels_last", &attributes_.channels_last));
  }
};

TF_QOPS_REGISTER_XLA("QLinearAveragePool", QLinearAveragePoolXlaOp);
TF_QOPS_REGISTER_XLA("QLinearGlobalAveragePool", QLinearGlobalAveragePoolXlaOp);

}  // namespace
}  // namespace tf_qops
