// What Python asks the loaded library about itself.

#include "cc/core/cpu.h"

extern "C" {

// Comma-separated names of the instruction sets that this CPU runs, the preferred one last.
__attribute__((visibility("default"))) const char* tf_qops_instruction_sets() {
  static const std::string* const names = [] {
    auto* joined = new std::string;
    for (tf_qops::InstructionSet isa : tf_qops::UsableInstructionSets()) {
      if (!joined->empty()) *joined += ',';
      *joined += tf_qops::NameOf(isa);
    }
    return joined;
  }();
  return names->c_str();
}

// The one whose kernels run.
__attribute__((visibility("default"))) const char* tf_qops_instruction_set() {
  return tf_qops::NameOf(tf_qops::ChosenInstructionSet());
}

}  // extern "C"
