#include "supervisor/audit_chain.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manifest/digest.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

const absl::Time kTime = absl::FromUnixNanos(1'764'563'696'000'000'042);

std::string LineOf(const Json& record, const ChainLink& previous = {}) {
  ChainLink link;
  std::string line = *ChainLine(previous, kTime, record, link);
  line.pop_back();
  return line;
}

// A line whose hash is right, whatever is in it.
std::string Sealed(const std::string& members) {
  const std::string body = "{" + members;
  return body + ",\"hash\":\"" + manifest::Hex(manifest::Digest(body + "}")) + "\"}";
}

TEST(AuditChain, TheFirstRecordIsNumberOneAndFollowsZeroes) {
  const auto record = ParseChainLine(LineOf({{"event", "use"}}));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->link.sequence, 1u);
  EXPECT_EQ(record->previous_hash, std::string(64, '0'));
}

TEST(AuditChain, ALineIsItsRecordBetweenNumberAndHash) {
  const ChainLink previous{41, std::string(64, 'a')};
  const std::string line = LineOf({{"event", "use"}, {"ticket", "07"}}, previous);
  EXPECT_THAT(line, ::testing::StartsWith(R"({"seq":42,"time":"2025-12-01T04:34:56.000000042Z",)"
                                          R"("event":"use","prev":")" +
                                          previous.hash + R"(","ticket":"07","hash":")"));
}

TEST(AuditChain, TheHashIsSha256OfTheLineWithoutItsHashMember) {
  const std::string line = LineOf({{"event", "use"}});
  const std::size_t body = line.rfind(",\"hash\":");
  const auto record = ParseChainLine(line);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->link.hash, manifest::Hex(manifest::Digest(line.substr(0, body) + "}")));
}

TEST(AuditChain, EveryChangedByteIsFound) {
  const std::string line = LineOf({{"event", "use"}, {"ticket", "07"}});
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(ParseChainLine(changed).status().code(), absl::StatusCode::kDataLoss) << i;
  }
}

TEST(AuditChain, EveryShortenedLineIsFound) {
  const std::string line = LineOf({{"event", "use"}});
  for (std::size_t length = 0; length < line.size(); ++length) {
    EXPECT_EQ(ParseChainLine(line.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(AuditChain, EveryByteOfALineIsPrintableAscii) {
  const std::string line = LineOf({{"event", "x"}, {"text", "caf\u00e9 \u202e \x1b[2J \x7f\n"}});
  EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
}

TEST(AuditChain, ARecordBeyondTheLimitIsAnError) {
  ChainLink link;
  const auto line =
      ChainLine({}, kTime, {{"event", "x"}, {"text", std::string(kMaxAuditLineBytes, 'x')}}, link);
  EXPECT_EQ(line.status().code(), absl::StatusCode::kInternal);
}

TEST(AuditChain, ALineWithAGoodHashAndABadShapeIsDamaged) {
  const std::string time = R"("time":"2025-12-01T04:34:56.000000000Z")";
  EXPECT_TRUE(ParseChainLine(Sealed(R"("seq":1,)" + time + R"(,"event":"x","prev":"")")).ok());
  for (const std::string& members :
       std::vector<std::string>{"not json", time + R"(,"event":"x","prev":"")",
                                R"("seq":-1,)" + time + R"(,"event":"x","prev":"")",
                                R"("seq":1,"time":"yesterday","event":"x","prev":"")",
                                R"("seq":1,)" + time + R"(,"event":7,"prev":"")",
                                R"("seq":1,)" + time + R"(,"event":"x")",
                                R"("seq":1,"seq":1,)" + time + R"(,"event":"x","prev":"")"}) {
    EXPECT_EQ(ParseChainLine(Sealed(members)).status().code(), absl::StatusCode::kDataLoss)
        << members;
  }
}

}  // namespace
}  // namespace warder::supervisor
