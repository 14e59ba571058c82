// Probe: one hostile behaviour, named, whose result is one word.
//
// The attack program runs each of its arguments, "NAME ARGUMENT...", as one probe in a process of
// its own and prints "NAME ARGUMENT... -> RESULT": "done", the name of an errno, the name of the
// signal that ended the probe, "no end", or a word of the probe's own.
#ifndef WARDER_TESTS_ATTACKS_PROGRAMS_PROBE_H_
#define WARDER_TESTS_ATTACKS_PROGRAMS_PROBE_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace attack {

// The words after the probe's name; one that is absent is "" and 0.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {}
  std::string Text(std::size_t index) const;
  // C notation, or -1; 0 for anything else.
  long Number(std::size_t index) const;

 private:
  std::vector<std::string> words_;
};

struct Probe {
  const char* name;
  std::string (*run)(const Arguments&);
};

// "done", or the errno's name when `result` is negative.
std::string Result(long result);

std::span<const Probe> FilesystemProbes();
std::span<const Probe> ProcessProbes();
std::span<const Probe> KernelProbes();
std::span<const Probe> NetworkProbes();
std::span<const Probe> ResourceProbes();

}  // namespace attack

#endif  // WARDER_TESTS_ATTACKS_PROGRAMS_PROBE_H_
