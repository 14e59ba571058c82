// AttackCase: one entry of the attack corpus, read from tests/attacks/*.cases. Their README says
// how to write one.
#ifndef WARDER_TESTS_SUPPORT_ATTACK_CASES_H_
#define WARDER_TESTS_SUPPORT_ATTACK_CASES_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace warder::testing {

// What proves that the cell, and not the machine, gave a probe its result.
enum class Control : std::uint8_t {
  kOutside,  // unconfined the probe gets what it wants, or an errno of the kernel's own
  kRoot,     // the same, but only for root; for a user the kernel's own answer is no other
  kRouted,   // the same, but only on a machine with a default route
  kAbsent,   // the machine lacks it: a system call is judged on the compiled filter alone
  kSame,     // it must work in a cell as it does outside
};

struct AttackProbe {
  std::string place;                  // "kernel.cases:12"
  std::string line;                   // the probe and its arguments, with {names}
  std::vector<std::string> expected;  // any of these results
  Control control = Control::kOutside;
};

struct AttackCase {
  std::string id;      // "C10"
  std::string policy;  // "default" unless the case says otherwise
  std::vector<AttackProbe> probes;
};
void PrintTo(const AttackCase& entry, std::ostream* out);  // its id

// The cases of one file. Throws std::runtime_error with file and line for one that is malformed or
// says neither what holds the attack nor why nothing does.
std::vector<AttackCase> ReadAttackCases(std::istream& stream, std::string_view file);

// Every GROUP of tests/attacks/GROUP.cases.
std::vector<std::string> AttackGroupNames();
// Those of its cases that have probes.
std::vector<AttackCase> AttackGroup(const std::string& group);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_ATTACK_CASES_H_
