#include "cc/core/cpu.h"

#include <cstdlib>

namespace tf_qops {

const std::vector<InstructionSet>& UsableInstructionSets() {
  static const auto* const usable = [] {
    auto* sets = new std::vector<InstructionSet>{InstructionSet::kPortable};
#ifdef TF_QOPS_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c")) {
      sets->push_back(InstructionSet::kAvx2);
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vnni")) {
        sets->push_back(InstructionSet::kAvx512Vnni);
      }
    }
#endif
    return sets;
  }();
  return *usable;
}

InstructionSet ChosenInstructionSet() {
  static const InstructionSet chosen = [] {
    const char* wanted = std::getenv("TF_QOPS_ISA");
    if (wanted != nullptr) {
      for (InstructionSet isa : UsableInstructionSets()) {
        if (std::string(wanted) == NameOf(isa)) return isa;
      }
    }
    return UsableInstructionSets().back();
  }();
  return chosen;
}

const char* NameOf(InstructionSet isa) {
  switch (isa) {
    case InstructionSet::kPortable:
      return "portable";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512Vnni:
      return "avx512vnni";
  }
  return "";
}

}  // namespace tf_qops
