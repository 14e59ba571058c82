// Every number of every ABI, and every combination of the arguments that rules look at, on the
// compiled filter of each shipped policy. What is expected is kept here and in native_calls.txt,
// and not taken from policies/.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "sandbox/bpf_evaluator.h"
#include "sandbox/syscall_filter.h"
#include "tests/support/shipped_filter.h"

namespace warder::testing {
namespace {

using sandbox::Abi;
using sandbox::CallBy;
using sandbox::NativeCall;

using Arguments = std::vector<std::uint64_t>;

constexpr int kLastNumber = 1023;  // far above the largest of any table of today
constexpr char kAllow[] = "allow", kDenied[] = "notify EPERM", kUnknown[] = "errno ENOSYS";

class Exhaustive : public ::testing::TestWithParam<std::string> {
 protected:
  // Bits that an `int` argument does not have: the kernel drops them, and so must a rule.
  std::uint64_t Garbage() { return random_() << 32; }

  // `arguments` as they are, and with garbage in their upper halves.
  void Expect(const char* call, Arguments arguments, const std::string& expected) {
    const int number = sandbox::SyscallNumber(call);
    for (const bool garbage : {false, true}) {
      for (std::uint64_t& argument : arguments) argument |= garbage ? Garbage() : 0;
      const std::string answer = filter_.Answer(NativeCall(number, arguments));
      if (answer == expected) continue;  // a message for each of millions would take minutes
      ADD_FAILURE() << call << Shown(arguments) << ": " << answer << ", not " << expected;
    }
  }
  void ExpectKill(const seccomp_data& call) {
    const std::string answer = filter_.Answer(call);
    if (answer == "kill") return;
    ADD_FAILURE() << absl::StrFormat("arch %#x, number %#x: %s", call.arch, call.nr, answer);
  }
  static std::string Shown(const Arguments& arguments) {
    std::string text;
    for (const std::uint64_t argument : arguments) text += absl::StrFormat(" %#x", argument);
    return text;
  }
  // The two policies for what nobody has read also refuse set-group-id bits.
  static bool Strict() { return GetParam() == "agent-host" || GetParam() == "untrusted-review"; }

  std::mt19937_64 random_{20240229};
  const ShippedFilter filter_{GetParam()};
};

struct NativeCallClass {
  std::string name, answer;  // `answer` "arguments": see the other tests
};

const std::map<int, NativeCallClass>& NativeClasses() {
  static const std::map<int, NativeCallClass> classes = [] {
    std::map<int, NativeCallClass> read;
    const std::map<std::string, std::string> answers = {
        {"allow", kAllow}, {"EPERM", kDenied}, {"ENOSYS", kUnknown}, {"arguments", "arguments"}};
    std::ifstream file(WARDER_SOURCE_DIR "/tests/policies/native_calls.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      int number = 0;
      std::string name, answer;
      if (words >> number >> name >> answer) read[number] = {name, answers.at(answer)};
    }
    return read;
  }();
  return classes;
}

TEST(ExhaustiveTable, HasTheNamesOfTheLibraryAndIsWhole) {
  EXPECT_GE(NativeClasses().size(), 362u);
  for (const auto& [number, entry] : NativeClasses()) {
    EXPECT_EQ(sandbox::SyscallName(number), entry.name) << number;
  }
}

TEST_P(Exhaustive, EveryNativeNumberGetsTheAnswerOfItsClass) {
  std::vector<int> numbers = {-1, 0xffff, 0x10000, 0x3fffffff};
  for (int number = 0; number <= kLastNumber; ++number) numbers.push_back(number);
  for (int i = 0; i < 200; ++i) {
    numbers.push_back(static_cast<int>(kLastNumber + 1 + random_() % 0x3ffff000));
  }
  for (const int number : numbers) {
    const auto entry = NativeClasses().find(number);
    const std::string expected = entry == NativeClasses().end() ? kUnknown : entry->second.answer;
    for (int round = 0; round < 8; ++round) {
      Arguments arguments(6, round == 0 ? 0 : ~std::uint64_t{0});
      if (round > 1) std::generate(arguments.begin(), arguments.end(), std::ref(random_));
      const std::string answer = filter_.Answer(NativeCall(number, arguments));
      const bool judged = answer == kAllow || answer == kDenied || answer == kUnknown;
      EXPECT_TRUE(expected == "arguments" ? judged : answer == expected)
          << number << Shown(arguments) << ": " << answer << ", not " << expected;
    }
  }
}

TEST_P(Exhaustive, EveryNumberOfAForeignAbiKills) {
  for (int number = 0; number <= kLastNumber; ++number) {
    ExpectKill(CallBy(Abi::kI386, number));
    ExpectKill(CallBy(Abi::kX32, number));
    for (const std::uint32_t arch :
         {std::uint32_t{AUDIT_ARCH_ARM}, std::uint32_t{AUDIT_ARCH_AARCH64}, 0u}) {
      seccomp_data call = NativeCall(number);
      call.arch = arch;
      ExpectKill(call);
    }
  }
  for (int i = 0; i < 2000; ++i) {
    const auto number = static_cast<int>(static_cast<std::uint32_t>(random_()));
    ExpectKill(CallBy(Abi::kI386, number));
    if ((number | 0x40000000) != -1) ExpectKill(CallBy(Abi::kX32, number));
  }
  ExpectKill(NativeCall(-2));
  ExpectKill(NativeCall(0x7fffffff));
  ExpectKill(CallBy(Abi::kI386, -1));
}

std::string SocketAnswer(std::uint64_t family, std::uint64_t type, std::uint64_t protocol) {
  const auto one_of = [](std::uint64_t value, std::vector<std::uint64_t> list) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (family == AF_UNSPEC || family > AF_MCTP) return kUnknown;
  if (family == AF_UNIX) {
    const bool good = one_of(type, {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) && protocol <= 1;
    return good ? kAllow : kUnknown;
  }
  if (family == AF_NETLINK) {
    if ((protocol & 0x1f) != 0) return kDenied;
    return one_of(type, {SOCK_DGRAM, SOCK_RAW}) && protocol == 0 ? kAllow : kUnknown;
  }
  if (family != AF_INET && family != AF_INET6) return kDenied;
  if (one_of(type, {SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET, SOCK_DCCP, SOCK_PACKET})) return kDenied;
  if (type == SOCK_STREAM) {
    if (one_of(protocol, {132, 262})) return kDenied;  // SCTP, multipath TCP
    return one_of(protocol, {0, 6}) ? kAllow : kUnknown;
  }
  if (type == SOCK_DGRAM) {
    if (one_of(protocol, {1, 58, 136})) return kDenied;  // ICMP, ICMPv6, UDP-Lite
    return one_of(protocol, {0, 17}) ? kAllow : kUnknown;
  }
  return kUnknown;
}

TEST_P(Exhaustive, SocketsAreJudgedByFamilyTypeAndProtocol) {
  std::vector<std::uint64_t> protocols = {33,  58,  131, 132, 133, 136,
                                          255, 256, 261, 262, 263, 0xffffffff};
  for (std::uint64_t protocol = 0; protocol < 24; ++protocol) protocols.push_back(protocol);
  for (std::uint64_t family = 0; family < 64; ++family) {
    for (std::uint64_t type = 0; type < 16; ++type) {
      const std::uint64_t flags = random_() % 2 == 0 ? 0 : SOCK_CLOEXEC | SOCK_NONBLOCK;
      for (const std::uint64_t protocol : protocols) {
        Expect("socket", {family, type | flags, protocol}, SocketAnswer(family, type, protocol));
        if (protocol > 8) continue;
        const bool unix_only = family == AF_UNIX || family == AF_UNSPEC || family > AF_MCTP;
        Expect("socketpair", {family, type | flags, protocol},
               unix_only ? SocketAnswer(family, type, protocol) : kDenied);
      }
    }
  }
}

TEST_P(Exhaustive, NoFlagOfANamespaceNestsOne) {
  constexpr std::uint64_t kNew = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  for (unsigned one = 0; one < 32; ++one) {
    for (unsigned other = 0; other < 32; ++other) {
      const std::uint64_t flags = std::uint64_t{1} << one | std::uint64_t{1} << other | 17;
      Expect("clone", {flags}, (flags & (kNew | CLONE_PARENT)) != 0 ? kDenied : kAllow);
      Expect("unshare", {flags}, kDenied);
      Expect("setns", {3, flags}, kDenied);
      Expect("clone3", {flags, 88}, kUnknown);
    }
  }
}

TEST_P(Exhaustive, LimitsOfOthersAreOutOfReach) {
  for (std::uint64_t resource = 0; resource < 17; ++resource) {
    Expect("prlimit64", {0, resource}, kAllow);
    for (std::uint64_t bit = 0; bit < 32; ++bit) {
      // Process ids end at 0x3fffff.
      Expect("prlimit64", {std::uint64_t{1} << bit, resource}, bit < 22 ? kDenied : kUnknown);
    }
  }
  for (std::uint64_t pid = 1; pid < 0x400000; pid += 997) Expect("prlimit64", {pid, 7}, kDenied);
}

TEST_P(Exhaustive, TerminalsConsolesAndDisksAreNotReachedByIoctl) {
  // TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSSERIAL, TIOCSETD, TIOCVHANGUP, TIOCSERCONFIG,
  // TIOCSERSETMULTI, FIBMAP, and the ranges of KD*, VT_* and LOOP_*.
  const auto denied = [](std::uint64_t request) {
    for (const std::uint64_t one :
         {0x5412u, 0x541cu, 0x541du, 0x541fu, 0x5423u, 0x5437u, 0x5453u, 0x545bu, 0x1u}) {
      if (request == one) return true;
    }
    const std::uint64_t range = request >> 8;
    return range == 0x4b || range == 0x56 || range == 0x4c;
  };
  for (std::uint64_t request = 0; request < 0x10000; ++request) {
    Expect("ioctl", {0, request, 0}, denied(request) ? kDenied : kAllow);
  }
  constexpr std::uint64_t kTakeTerminal = 0x540e;  // TIOCSCTTY
  Expect("ioctl", {0, kTakeTerminal, 1}, kDenied);
  Expect("ioctl", {0, kTakeTerminal, 0}, kAllow);
}

TEST_P(Exhaustive, SetUserIdBitsAndDevicesAreNotMade) {
  const std::uint64_t refused = Strict() ? 06000 : 04000;
  for (std::uint64_t mode = 0; mode < 010000; ++mode) {
    const std::string changed = (mode & refused) != 0 ? kDenied : kAllow;
    Expect("chmod", {0, mode}, changed);
    Expect("fchmod", {0, mode}, changed);
    Expect("fchmodat", {0, 0, mode}, changed);
    const std::string made = (mode & 06000) != 0 ? kDenied : kAllow;
    Expect("creat", {0, mode}, made);
    Expect("open", {0, 0x41, mode}, made);
    Expect("openat", {0, 0, 0x41, mode}, made);
    Expect("open", {0, 0, mode}, kAllow);  // without O_CREAT the mode means nothing
  }
  for (std::uint64_t type = 0; type < 16; ++type) {
    const bool device = type == 2 || type == 6;
    const bool plain = type == 0 || type == 1 || type == 8 || type == 12;
    const std::string made = device ? kDenied : plain ? kAllow : kUnknown;
    Expect("mknod", {0, type << 12 | 0644}, made);
    Expect("mknodat", {0, 0, type << 12 | 0644}, made);
    Expect("mknod", {0, type << 12 | 04644}, kDenied);
  }
}

TEST_P(Exhaustive, OneNumberDecidesAboutPersonalitySchedulingAndProcessSettings) {
  for (std::uint64_t bit = 0; bit < 31; ++bit) {
    const std::uint64_t value = std::uint64_t{1} << bit;
    Expect("personality", {value}, value == 0x40000 ? kAllow : kDenied);
  }
  Expect("personality", {0}, kAllow);
  Expect("personality", {0xffffffff}, kAllow);
  for (std::uint64_t number = 0; number < 0x4000; ++number) {
    Expect("prctl", {number}, number == 28 || number == 35 ? kDenied : kAllow);
    Expect("arch_prctl", {number}, number >= 0x2001 && number <= 0x2003 ? kDenied : kAllow);
  }
  for (std::uint64_t policy = 0; policy < 16; ++policy) {
    const bool realtime = policy == 1 || policy == 2 || policy == 6;
    const bool ordinary = policy == 0 || policy == 3 || policy == 5;
    for (const std::uint64_t flag : {0u, 0x40000000u}) {  // SCHED_RESET_ON_FORK
      Expect("sched_setscheduler", {0, policy | flag},
             realtime   ? kDenied
             : ordinary ? kAllow
                        : kUnknown);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Exhaustive, ::testing::ValuesIn(ShippedPolicies()),
                         PolicyTestName);

}  // namespace
}  // namespace warder::testing
