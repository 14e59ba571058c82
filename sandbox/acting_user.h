// ActingUser: makes the kernel count what is made meanwhile against another user than root.
#ifndef WARDER_SANDBOX_ACTING_USER_H_
#define WARDER_SANDBOX_ACTING_USER_H_

#include <sys/types.h>

namespace warder::sandbox {

// A user namespace belongs to the effective user who makes it, and what its processes use of limits
// for each user (inotify instances, waiting signals, namespaces) counts against that one as well
// (user_namespaces(7), namespaces(7)). While this object lives the process has `uid` as its
// effective user and keeps its capabilities. Nothing happens for a process that has none to keep.
// Only for a single-threaded process.
class ActingUser {
 public:
  explicit ActingUser(uid_t uid);
  // Ends the process when the old user cannot be had back: nothing may go on as somebody else.
  ~ActingUser();
  ActingUser(const ActingUser&) = delete;
  ActingUser& operator=(const ActingUser&) = delete;

  // 0, or the errno for which `uid` is not in force.
  int error() const { return error_; }

 private:
  uid_t before_;
  bool active_;
  int error_ = 0;
  int secure_bits_ = 0, dumpable_ = 0, death_signal_ = 0;
};

}  // namespace warder::sandbox

#endif  // WARDER_SANDBOX_ACTING_USER_H_
