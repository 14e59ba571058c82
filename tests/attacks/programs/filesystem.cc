// Attacks on files.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "tests/attacks/programs/probe.h"

namespace attack {
namespace {

std::string Read(const Arguments& arguments) {
  const int fd = open(arguments.Text(0).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Result(fd);
  char buffer[64];
  const ssize_t count = read(fd, buffer, sizeof buffer);
  return count == 0 ? "empty" : Result(count);
}

std::string Write(const Arguments& arguments) {
  const int fd = open(arguments.Text(0).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return Result(fd);
  return Result(write(fd, "planted\n", 8));
}

// Opens for writing and writes nothing: for files of the machine.
std::string OpenForWriting(const Arguments& arguments) {
  return Result(open(arguments.Text(0).c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
}

std::string HardLink(const Arguments& arguments) {
  return Result(link(arguments.Text(0).c_str(), arguments.Text(1).c_str()));
}

std::string Rename(const Arguments& arguments) {
  return Result(rename(arguments.Text(0).c_str(), arguments.Text(1).c_str()));
}

std::string Remove(const Arguments& arguments) { return Result(unlink(arguments.Text(0).c_str())); }

std::string Kind(const Arguments& arguments) {
  struct stat status = {};
  if (lstat(arguments.Text(0).c_str(), &status) != 0) return Result(-1);
  if (S_ISFIFO(status.st_mode)) return "FIFO";
  if (S_ISSOCK(status.st_mode)) return "socket";
  return S_ISCHR(status.st_mode) ? "device" : "other";
}

std::string List(const Arguments& arguments) {
  std::error_code error;
  std::set<std::string> names;
  std::filesystem::directory_iterator entries(arguments.Text(0), error);
  if (error) {
    errno = error.value();
    return Result(-1);
  }
  for (const auto& entry : entries) names.insert(entry.path().filename());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::string SetUserId(const Arguments& arguments) {
  const int fd = open(arguments.Text(0).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (fd < 0) return Result(fd);
  return Result(fchmod(fd, 04755));
}

std::string SetAttribute(const Arguments& arguments) {
  // The value is a file capability, the only attribute whose form the kernel looks at.
  const unsigned char capability[20] = {0, 0, 0, 2, 1};
  const int fd = open(arguments.Text(0).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (fd < 0) return Result(fd);
  return Result(fsetxattr(fd, arguments.Text(1).c_str(), capability, sizeof capability, 0));
}

// The flags of a mount that take rights away.
std::string MountFlags(const Arguments& arguments) {
  struct statvfs status = {};
  if (statvfs(arguments.Text(0).c_str(), &status) != 0) return Result(-1);
  std::string flags;
  if ((status.f_flag & ST_RDONLY) != 0) flags += ",ro";
  if ((status.f_flag & ST_NOSUID) != 0) flags += ",nosuid";
  if ((status.f_flag & ST_NODEV) != 0) flags += ",nodev";
  if ((status.f_flag & ST_NOEXEC) != 0) flags += ",noexec";
  return flags.empty() ? "none" : flags.substr(1);
}

constexpr Probe kProbes[] = {
    {"read", Read},
    {"write", Write},
    {"open-for-writing", OpenForWriting},
    {"hard-link", HardLink},
    {"rename", Rename},
    {"remove", Remove},
    {"kind", Kind},
    {"list", List},
    {"set-user-id", SetUserId},
    {"set-attribute", SetAttribute},
    {"mount-flags", MountFlags},
};

}  // namespace

std::span<const Probe> FilesystemProbes() { return kProbes; }

}  // namespace attack
