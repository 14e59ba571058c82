// Denials: what the kernel refused to a tool, as text and as JSON.
#ifndef WARDER_SUPERVISOR_DENIALS_H_
#define WARDER_SUPERVISOR_DENIALS_H_

#include <string>
#include <vector>

#include "manifest/json.h"
#include "manifest/prepared_call.h"
#include "sandbox/denial.h"

namespace warder::supervisor {

// The last lines of a result, without a newline at the end; "" when nothing was refused. What the
// tool chose (paths) is made visible, and a long list is cut: the JSON form has all of it.
std::string DenialText(const sandbox::DenialReport& report);

// One denial, as documented in supervisor/README.md. `policy` is the name of the call's policy.
manifest::Json DenialJson(const sandbox::Denial& denial, const std::string& policy);

// Takes the values of `environment` out of the objects, for what is stored: a tool can pass a
// secret as a path. Values below 4 bytes stay: they are no secrets, and part of every other word.
void RedactObjects(const std::vector<manifest::Variable>& environment,
                   sandbox::DenialReport& report);

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_DENIALS_H_
