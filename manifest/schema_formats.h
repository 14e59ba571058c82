// The values of `format` that are checked. Every other format is an annotation.
#ifndef WARDER_MANIFEST_SCHEMA_FORMATS_H_
#define WARDER_MANIFEST_SCHEMA_FORMATS_H_

#include <string_view>

namespace warder::manifest {

// Tells whether `text` has one format. Linear in its length.
using FormatCheck = bool (*)(std::string_view text);

// date, time, date-time (RFC 3339, calendar and leap seconds checked), uri (RFC 3986, with a
// scheme), uuid (RFC 4122), email (RFC 5321 dot-atom at a dotted host name), ipv4, ipv6 (RFC 4291,
// no zone), hostname (RFC 1123, no final dot). nullptr for any other name.
FormatCheck FindFormat(std::string_view name);

}  // namespace warder::manifest

#endif  // WARDER_MANIFEST_SCHEMA_FORMATS_H_
