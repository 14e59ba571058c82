// warder: the command line, and, started under another name by itself, the launcher.
#include <string_view>

#include "supervisor/command_line.h"
#include "supervisor/launcher.h"

int main(int argc, char** argv) {
  if (argc > 0 && std::string_view(argv[0]) == "warder-launcher") {
    return warder::supervisor::LauncherMain();
  }
  return warder::supervisor::RunCommandLine(argc, argv);
}
