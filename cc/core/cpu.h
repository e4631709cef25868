#ifndef TF_QOPS_CC_CORE_CPU_H_
#define TF_QOPS_CC_CORE_CPU_H_

#include <string>
#include <vector>

namespace tf_qops {

// Instruction sets that kernels are written for, the plainest first. All give the same bits.
enum class InstructionSet { kPortable, kAvx2, kAvx512Vnni };

// Those that this build has kernels for and this CPU runs.
const std::vector<InstructionSet>& UsableInstructionSets();

// The last usable one, or the one named by the environment variable TF_QOPS_ISA when it is usable.
InstructionSet ChosenInstructionSet();

const char* NameOf(InstructionSet isa);

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_CPU_H_
