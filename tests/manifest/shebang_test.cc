#include "manifest/shebang.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "sandbox/unique_fd.h"
#include "tests/support/temp_tree.h"

namespace warder::manifest {
namespace {

TEST(Shebang, ElfFileAndTextWithoutFirstLineAreTold) {
  EXPECT_EQ(ReadProgramHead("\x7f"
                            "ELF\x02\x01")
                .kind,
            ProgramKind::kElf);
  EXPECT_EQ(ReadProgramHead("").kind, ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("echo hi\n").kind, ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("\xef\xbb\xbf#!/bin/sh\n").kind, ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("#!").kind, ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("#!  \t\n/bin/sh\n").kind, ProgramKind::kUnstartable);
}

TEST(Shebang, RestOfTheLineIsOneArgument) {
  const ProgramHead head = ReadProgramHead("#! /usr/bin/env  -S python3  -u \t\nprint()\n");
  EXPECT_EQ(head.kind, ProgramKind::kScript);
  EXPECT_EQ(head.interpreter, "/usr/bin/env");
  EXPECT_EQ(head.argument, "-S python3  -u");
  EXPECT_EQ(ReadProgramHead("#!/bin/sh\n").argument, std::nullopt);
}

TEST(Shebang, CarriageReturnIsPartOfTheLastWord) {
  EXPECT_EQ(ReadProgramHead("#!/bin/sh\r\n").interpreter, "/bin/sh\r");
  EXPECT_EQ(ReadProgramHead("#!/usr/bin/env python3\r\n").interpreter, "/usr/bin/env");
  EXPECT_EQ(ReadProgramHead("#!/usr/bin/env python3\r\n").argument, "python3\r");
}

TEST(Shebang, InterpreterThatDoesNotFitIsNotGuessed) {
  EXPECT_EQ(ReadProgramHead("#!/" + std::string(300, 'a') + "\n").kind, ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("#!" + std::string(300, ' ') + "/bin/sh\n").kind,
            ProgramKind::kUnstartable);
  EXPECT_EQ(ReadProgramHead("#!/" + std::string(252, 'a') + "\n").kind, ProgramKind::kScript);
}

// What the kernel makes of a file with `bytes`: the words after argv[0] that its interpreter, echo,
// was given, or the error.
std::string KernelsReading(const testing::TempTree& tree, const std::string& bytes) {
  const std::string script = tree.Script("s", bytes);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const sandbox::UniqueFd reader(pipe_ends[0]);
  sandbox::UniqueFd writer(pipe_ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  std::array<char*, 2> argv{const_cast<char*>(script.c_str()), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, script.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  writer.Reset();
  if (error != 0) return error == ENOEXEC ? "unstartable" : "no interpreter";
  std::string words;
  std::array<char, 1024> buffer;
  ssize_t size = 0;
  while ((size = read(reader.get(), buffer.data(), buffer.size())) > 0) {
    words.append(buffer.data(), static_cast<std::size_t>(size));
  }
  waitpid(child, nullptr, 0);
  return words;
}

std::string OurReading(const testing::TempTree& tree, const std::string& bytes) {
  const ProgramHead head = ReadProgramHead(bytes);
  if (head.kind != ProgramKind::kScript) return "unstartable";
  if (head.interpreter != "/bin/echo") return "no interpreter";
  return (head.argument ? *head.argument + " " : "") + tree.At("s") + "\n";
}

TEST(Shebang, IsReadAsTheRunningKernelReadsIt) {
  const testing::TempTree tree;
  using namespace std::string_literals;
  const std::array<std::string, 24> heads = {
      "#!/bin/echo\n",
      "#!/bin/echo",
      "#! \t/bin/echo a\n",
      "#!/bin/echo a b  c \t \nx",
      "#!/bin/echo a",
      "#!/bin/echo a ",
      "#!/bin/echo ",
      "#!/bin/echo  \n",
      "#!/bin/echo\r\n",
      "#!/bin/echo a\r\n",
      "#!/bin/echo\ta\tb\n",
      "#!/bin/echo\0a\n"s,
      "#!/bin/echo a\0b\n"s,
      "#!/bin/echo a\0"s,
      "#! \n",
      "#!\n",
      "# !/bin/echo\n",
      "#!/bin/ech\n",
      "#!/bin/echo " + std::string(239, 'a') + "\n",
      "#!/bin/echo " + std::string(243, 'a') + "\n",
      "#!/bin/echo " + std::string(244, 'a') + "\n",
      "#!/bin/echo " + std::string(400, 'a') + "\n",
      "#!/bin/echo " + std::string(400, ' ') + "a\n",
      "#!/" + std::string(253, 'a') + "\n",
  };
  for (const std::string& head : heads) {
    EXPECT_EQ(OurReading(tree, head), KernelsReading(tree, head))
        << head.substr(0, 40) << " of " << head.size();
  }
}

}  // namespace
}  // namespace warder::manifest
