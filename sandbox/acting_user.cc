#include "sandbox/acting_user.h"

#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace warder::sandbox {
namespace {

bool SetEffective(uid_t uid) { return syscall(SYS_setresuid, -1, uid, -1) == 0; }

}  // namespace

ActingUser::ActingUser(uid_t uid) : before_(geteuid()), active_(before_ == 0 && uid != 0) {
  if (!active_) return;
  secure_bits_ = prctl(PR_GET_SECUREBITS);
  dumpable_ = prctl(PR_GET_DUMPABLE);
  // A change of user clears it, and makes the process non-dumpable.
  prctl(PR_GET_PDEATHSIG, &death_signal_);
  // Otherwise the capabilities go with the user.
  const auto keep = static_cast<unsigned long>(secure_bits_ | SECBIT_NO_SETUID_FIXUP);
  if (prctl(PR_SET_SECUREBITS, keep) != 0 || !SetEffective(uid)) error_ = errno;
}

ActingUser::~ActingUser() {
  if (!active_) return;
  if (geteuid() != before_ && !SetEffective(before_)) std::abort();
  // Where it was not changed these are what they were.
  if (dumpable_ == 1) prctl(PR_SET_DUMPABLE, 1);
  if (death_signal_ != 0) prctl(PR_SET_PDEATHSIG, death_signal_);
  prctl(PR_SET_SECUREBITS, static_cast<unsigned long>(secure_bits_));
}

}  // namespace warder::sandbox
