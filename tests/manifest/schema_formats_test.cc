#include "manifest/schema_formats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warder::manifest {
namespace {

struct FormatCase {
  const char* format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

void Check(const FormatCase& one) {
  const FormatCheck check = FindFormat(one.format);
  ASSERT_NE(check, nullptr) << one.format;
  for (const std::string& text : one.good) EXPECT_TRUE(check(text)) << one.format << " " << text;
  for (const std::string& text : one.bad) EXPECT_FALSE(check(text)) << one.format << " " << text;
}

TEST(SchemaFormats, DateKnowsTheCalendar) {
  Check({"date",
         {"2024-02-29", "2000-02-29", "2023-12-31", "0000-01-01"},
         {"2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00",
          "24-01-01", "2024-1-1", "2024-01-01Z", "", "2024/01/01"}});
}

TEST(SchemaFormats, TimeNeedsAnOffset) {
  Check({"time",
         {"12:00:00Z", "00:00:00.5z", "23:59:59+23:59", "12:00:00-02:30"},
         {"12:00:00", "24:00:00Z", "12:60:00Z", "12:00:61Z", "12:00:00.Z", "12:00:00+24:00",
          "12:00:00+0200", "12:00Z", ""}});
}

TEST(SchemaFormats, LeapSecondIsTheLastOfADayInGreenwich) {
  Check({"time",
         {"23:59:60Z", "00:59:60+01:00", "15:59:60-08:00"},
         {"22:59:60Z", "23:59:60+01:00", "23:58:60Z"}});
}

TEST(SchemaFormats, DateTimeJoinsDateAndTimeWithT) {
  Check({"date-time",
         {"2024-02-29T12:00:00Z", "2024-02-29t12:00:00.123+01:00"},
         {"2023-02-29T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29", "2024-02-29T",
          "2024-02-29T12:00:00Z\n", "T12:00:00Z"}});
}

TEST(SchemaFormats, UriNeedsASchemeAndLegalCharacters) {
  Check({"uri",
         {"http://example.org", "mailto:x@y.org", "urn:isbn:1", "file:///etc/passwd",
          "http://[::1]:80/a?b=c#d", "http://u:p@host:/", "a:b", "http://a/%20"},
         {"", "//host/path", "/path", "name", "http:", "1http://a", "http://a b", "http://a/%zz",
          "http://a/%2", "http://[::g]/", "http://[::1/", "http://a:b/", "http://é.org",
          "http://a#b#c", "http://a/{b}", "http://a\\b", "http://[::1]x/"}});
}

TEST(SchemaFormats, UuidIsFiveGroupsOfHexadecimalDigits) {
  Check({"uuid",
         {"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
         {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
          "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-4266141740}", ""}});
}

TEST(SchemaFormats, EmailIsADotAtomAtADottedHostName) {
  Check({"email",
         {"a@b.org", "A.b+c@d-e.example"},
         {"", "a", "@b.org", "a@", "a@b", "a..b@c.org", ".a@b.org", "a.@b.org", "a b@c.org",
          "a@b@c.org", "a@-b.org", "a@[127.0.0.1]", "\"a b\"@c.org",
          std::string(65, 'x') + "@b.org"}});
}

TEST(SchemaFormats, AddressesAreThoseOfTheKernel) {
  Check({"ipv4",
         {"1.2.3.4", "255.255.255.255", "0.0.0.0"},
         {"", "256.1.1.1", "01.2.3.4", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "127.1", "1.2.3.4/8",
          std::string("1.2.3.4\0x", 9)}});
  Check({"ipv6",
         {"::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "ABCD::"},
         {"", "12345::", "1::2::3", ":1", "1:", "fe80::1%eth0", "[::1]", "::1/64",
          "1:2:3:4:5:6:7:8:9", "::256.1.1.1", std::string(100, ':')}});
}

TEST(SchemaFormats, HostnameHasLabelsOf63AndNoFinalDot) {
  Check({"hostname",
         {"a", "example.org", "a--b", "1.2.3.4", std::string(63, 'x') + ".a"},
         {"", ".a", "a..b", "a.", "-a", "a-", "a_b", "é", std::string(64, 'x'),
          std::string(127, 'a') + std::string(127, '.')}});
}

TEST(SchemaFormats, OtherFormatsAreNotChecked) {
  for (const char* name : {"int32", "json", "regex", "DATE", "", "iri"}) {
    EXPECT_EQ(FindFormat(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace warder::manifest
