// Every instruction set and division of work gives the bits of DynamicQuantizeLstmReference;
// activations, shapes and errors.

#include "cc/core/dynamic_quantize_lstm.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "tests/cc/check.h"
#include "tests/cc/workers.h"

namespace tf_qops {
namespace {

std::vector<float> RandomFloats(Random* random, int64_t count, float largest) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>((*random)(-999999, 999999)) * 1e-6f * largest;
  return values;
}

LstmMatrix RandomMatrix(Random* random, int64_t directions, int64_t rows, int64_t columns,
                        std::vector<uint8_t>* bytes) {
  bytes->resize(directions * rows * columns);
  for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>((*random)(0, 255));
  LstmMatrix matrix{{bytes->data(), (*random)(0, 1) == 1}, {}, {}};
  for (int64_t i = 0; i < directions * columns; ++i) {
    matrix.scales.push_back(static_cast<float>((*random)(1, 99)) * 1e-4f);
    matrix.zero_points.push_back(static_cast<int32_t>((*random)(-3, 3)) +
                                 (matrix.codes.is_signed ? 0 : 128));
  }
  return matrix;
}

void CompareOnce(Random* random) {
  LstmAttributes a;
  a.hidden = (*random)(0, 9) == 0 ? (*random)(60, 140) : (*random)(1, 20);
  a.directions = (*random)(1, 2);
  a.reverse = (*random)(0, 1) == 1;
  a.clip = (*random)(0, 1) == 1 ? 0.0f : 0.8f;
  a.input_forget = (*random)(0, 3) == 0;
  std::vector<std::string> names;
  const char* const kNames[] = {"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Elu", "Softsign"};
  while ((*random)(0, 1) == 1 && names.size() < 6) names.push_back(kNames[(*random)(0, 5)]);
  if (static_cast<int64_t>(names.size()) != 3 * a.directions) names.clear();
  a.activations = *ResolveActivations(names, {}, {}, 3 * a.directions);
  const LstmSizes s{(*random)(0, 7), (*random)(0, 5), (*random)(1, 12)};

  const auto given = [&] { return (*random)(0, 1) == 1; };
  const int64_t columns = 4 * a.hidden, state = a.directions * s.batch * a.hidden;
  std::vector<uint8_t> w_bytes, r_bytes;
  const auto x = RandomFloats(random, s.steps * s.batch * s.inputs, 4.0f);
  const auto bias = RandomFloats(random, a.directions * 2 * columns, 1.0f);
  const auto h = RandomFloats(random, state, 1.0f), c = RandomFloats(random, state, 2.0f);
  const auto peepholes = RandomFloats(random, a.directions * 3 * a.hidden, 0.5f);
  std::vector<int32_t> lengths(s.batch);
  for (int32_t& length : lengths) length = static_cast<int32_t>((*random)(0, s.steps));
  LstmInputs inputs{x.data(), RandomMatrix(random, a.directions, s.inputs, columns, &w_bytes),
                    RandomMatrix(random, a.directions, a.hidden, columns, &r_bytes)};
  if (given()) inputs.bias = bias.data();
  if (given()) inputs.sequence_lens = lengths.data();
  if (given()) inputs.initial_h = h.data();
  if (given()) inputs.initial_c = c.data();
  if (given()) inputs.peepholes = peepholes.data();

  const int64_t y_size = s.steps * state;
  const auto run = [&](const std::function<void(const LstmOutputs&)>& compute) {
    std::vector<float> all(y_size + 2 * state, 0.25f);
    compute({all.data(), all.data() + y_size, all.data() + y_size + state});
    return all;
  };
  const auto want =
      run([&](const LstmOutputs& o) { DynamicQuantizeLstmReference(a, s, inputs, o); });
  for (InstructionSet isa : UsableInstructionSets()) {
    const auto w = PackLstmMatrix(inputs.w, a.directions, s.inputs, columns, isa);
    const auto r = PackLstmMatrix(inputs.r, a.directions, a.hidden, columns, isa);
    for (const Workers& workers : {Serial(), TwoThreads()}) {
      const auto got = run(
          [&](const LstmOutputs& o) { DynamicQuantizeLstm(a, s, inputs, w, r, o, workers, isa); });
      CHECK(want.empty() || std::memcmp(&got[0], &want[0], want.size() * sizeof(float)) == 0)
          << NameOf(isa) << ", " << workers.threads << " threads, hidden " << a.hidden << ", "
          << s.steps << " steps, batch " << s.batch;
    }
  }
}

// Of numbers everywhere and of NaN.
void ActivationsOfManyHaveTheBitsOfOne(Random* random) {
  for (const char* name : {"Sigmoid", "Tanh", "Elu"}) {
    const Activation activation = (*ResolveActivations({name}, {}, {}, 1))[0];
    std::vector<float> values = RandomFloats(random, 20001, 20.0f);
    for (size_t i = 0; i < values.size(); i += 3) {
      const uint32_t bits = static_cast<uint32_t>((*random)(0, UINT32_MAX));
      std::memcpy(&values[i], &bits, sizeof(bits));
    }
    for (InstructionSet isa : UsableInstructionSets()) {
      std::vector<float> got = values;
      activation.ApplyToAll(got.data(), got.size(), ActivationKernelsOf(isa));
      for (size_t i = 0; i < values.size(); ++i) {
        const float want = activation.Apply(values[i]);
        CHECK(std::memcmp(&got[i], &want, sizeof(want)) == 0 ||
              (std::isnan(got[i]) && std::isnan(want)))
            << NameOf(isa) << ' ' << name << '(' << values[i] << ") = " << got[i];
      }
    }
  }
}

struct ActivationRow {
  const char* name;
  std::vector<float> alpha, beta;
  std::vector<std::pair<float, double>> values;
};

void Activations() {
  const double e = std::exp(1.0);
  const ActivationRow kRows[] = {
      {"Relu", {}, {}, {{-2, 0}, {3, 3}}},
      {"tanh", {}, {}, {{1, std::tanh(1.0)}, {-30, -1}, {1e-5f, 1e-5f}}},
      {"SIGMOID", {}, {}, {{0, 0.5}, {1, e / (1 + e)}, {-1000, 0}, {1000, 1}}},
      {"Affine", {}, {}, {{3, 3}}},
      {"Affine", {2}, {0.5f}, {{3, 6.5}}},
      {"LeakyRelu", {}, {}, {{-2, -0.02}, {2, 2}}},
      {"LeakyRelu", {0.5f}, {}, {{-2, -1}}},
      {"ThresholdedRelu", {}, {}, {{0.9f, 0}, {1, 1}, {2, 2}}},
      {"ScaledTanh", {2}, {0.5f}, {{2, 2 * std::tanh(1.0)}}},
      {"HardSigmoid", {}, {}, {{0, 0.5}, {1, 0.7}, {-9, 0}, {9, 1}}},
      {"Elu", {}, {}, {{-1, 1 / e - 1}, {2, 2}}},
      {"Softsign", {}, {}, {{-3, -0.75}, {1, 0.5}}},
      {"Softplus", {}, {}, {{0, std::log(2.0)}, {1, std::log(1 + e)}, {-90, 0}, {90, 90}}},
  };
  for (const ActivationRow& row : kRows) {
    const auto resolved = ResolveActivations({row.name}, row.alpha, row.beta, 1);
    CHECK(resolved.ok()) << row.name;
    for (const auto& [x, y] : row.values) {
      const float got = (*resolved)[0].Apply(x);
      CHECK(std::abs(got - y) <= 6e-8 * std::max(1.0, std::abs(y)))
          << row.name << '(' << x << ") = " << got;
    }
    CHECK(std::isnan((*resolved)[0].Apply(NAN))) << row.name;
  }
  // A function without an alpha takes none.
  const auto three = *ResolveActivations({"Tanh", "LeakyRelu", "Elu"}, {0.25f}, {}, 3);
  CHECK(three[1].alpha == 0.25f && three[2].alpha == 1.0f);
  const auto six = *ResolveActivations({}, {}, {}, 6);
  CHECK(six[3].kind == Activation::Kind::kSigmoid && six[5].kind == Activation::Kind::kTanh);
  CHECK(ResolveActivations({"Tanh"}, {}, {}, 3).error().message ==
        "activations must name 3 functions. Received: 1");
  CHECK(ResolveActivations({"Gelu"}, {}, {}, 1).error().message.find("Received: Gelu") !=
        std::string::npos);
}

LstmShapes Fitting() {
  LstmShapes s;
  s.x = Dims{7, 2, 5};
  s.w = Dims{1, 5, 12};
  s.r = Dims{1, 3, 12};
  s.w_scale = s.w_zero_point = s.r_scale = s.r_zero_point = Dims{1};
  return s;
}

struct ShapeRow {
  void (*change)(LstmAttributes*, LstmShapes*);
  Shape y;
  const char* wrong;
};

const ShapeRow kShapes[] = {
    {[](LstmAttributes*, LstmShapes*) {}, Dims{7, 1, 2, 3}, ""},
    {[](LstmAttributes*, LstmShapes* s) { s->x = Dims{-1, -1, -1}; }, Dims{-1, 1, -1, 3}, ""},
    {[](LstmAttributes*, LstmShapes* s) { s->x = std::nullopt; }, Dims{-1, 1, -1, 3}, ""},
    {[](LstmAttributes*, LstmShapes* s) {
       s->x = Dims{-1, -1, 5};
       s->sequence_lens = Dims{4};
     },
     Dims{-1, 1, 4, 3}, ""},
    {[](LstmAttributes*, LstmShapes* s) {
       s->bias = Dims{1, 24};
       s->initial_h = s->initial_c = Dims{1, 2, 3};
       s->peepholes = Dims{1, 9};
       s->w_scale = Dims{1, 12};
       s->r_zero_point = Dims{};
     },
     Dims{7, 1, 2, 3}, ""},
    {[](LstmAttributes* a, LstmShapes*) { a->hidden = 0; },
     {},
     "hidden_size must be in [1, 2147483647]. Received: 0"},
    {[](LstmAttributes* a, LstmShapes*) { a->clip = -1; }, {}, "clip must be positive. Received: "},
    {[](LstmAttributes*, LstmShapes* s) { s->x = Dims{7, 5}; },
     {},
     "x must have 3 dimensions. Received: shape [7,5]"},
    {[](LstmAttributes*, LstmShapes* s) { s->w = Dims{1, 6, 12}; },
     {},
     "w must be of shape [directions, inputs, 4 * hidden_size]. Received: shape [1,6,12], "
     "hidden_size=3, directions=1, x of shape [7,2,5]"},
    {[](LstmAttributes* a, LstmShapes*) { a->directions = 2; }, {}, "w must be of shape"},
    {[](LstmAttributes*, LstmShapes* s) { s->r = Dims{1, 12, 3}; }, {}, "r must be of shape"},
    {[](LstmAttributes*, LstmShapes* s) { s->bias = Dims{1, 12}; }, {}, "bias must be of shape"},
    {[](LstmAttributes*, LstmShapes* s) { s->sequence_lens = Dims{3}; },
     {},
     "sequence_lens must be of shape [batch]. Received: shape [3]"},
    {[](LstmAttributes*, LstmShapes* s) { s->initial_h = Dims{2, 2, 3}; }, {}, "initial_h must"},
    {[](LstmAttributes*, LstmShapes* s) { s->initial_c = Dims{1, 3, 3}; }, {}, "initial_c must"},
    {[](LstmAttributes*, LstmShapes* s) { s->peepholes = Dims{9}; }, {}, "peepholes must be"},
    {[](LstmAttributes*, LstmShapes* s) { s->w_scale = Dims{12}; },
     {},
     "w_scale must be of shape [directions] or [directions, 4 * hidden_size]. Received: shape "
     "[12]"},
    {[](LstmAttributes*, LstmShapes* s) { s->r_zero_point = Dims{1, 3}; },
     {},
     "r_zero_point must be of shape"},
};

void Shapes() {
  for (const ShapeRow& row : kShapes) {
    LstmAttributes a;
    a.hidden = 3;
    LstmShapes s = Fitting();
    row.change(&a, &s);
    const auto got = ResolveLstm(a, s);
    CHECK(got.ok() == (row.wrong[0] == '\0')) << row.wrong;
    if (got.ok()) {
      CHECK(got->y == row.y) << Show{got->y};
    } else {
      CHECK(got.error().message.find(row.wrong) != std::string::npos) << got.error().message;
    }
  }
}

}  // namespace
}  // namespace tf_qops

int main() {
  using namespace tf_qops;  // NOLINT
  Random random(33);
  for (int i = 0; i < 400; ++i) CompareOnce(&random);
  ActivationsOfManyHaveTheBitsOfOne(&random);
  Activations();
  Shapes();
  return 0;
}
