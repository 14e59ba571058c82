// Values that a prepared call needs, made by hand: no manifest, policy or configuration file is
// read.
#ifndef WARDER_TESTS_SUPPORT_CALL_FIXTURE_H_
#define WARDER_TESTS_SUPPORT_CALL_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "manifest/catalog.h"
#include "manifest/input_schema.h"
#include "manifest/policy_file.h"
#include "manifest/tool_spec.h"

namespace warder::testing {

// The directory `path`, opened. Aborts when it cannot.
manifest::Workspace WorkspaceAt(const std::string& path);

// A policy "test" that lets a cell read the system's programs and libraries, and inherits PATH,
// HOME and LC_*.
manifest::NamedPolicy SystemPolicy();

// A tool "t" that takes any object, and calls `command`.
manifest::ToolSpec ToolWith(std::vector<std::string> command);

// Takes any object, except one with a member `refused`.
std::shared_ptr<const manifest::InputSchema> AnyObject();

// The whole content behind `fd`.
std::string ContentOf(int fd);

}  // namespace warder::testing

#endif  // WARDER_TESTS_SUPPORT_CALL_FIXTURE_H_
