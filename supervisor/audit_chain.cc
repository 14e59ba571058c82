#include "supervisor/audit_chain.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "manifest/digest.h"

namespace warder::supervisor {
namespace {

using manifest::Json;

constexpr std::string_view kHashMember = ",\"hash\":\"";
constexpr std::string_view kLineEnd = "\"}";
constexpr std::size_t kHashDigits = 64;
constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E9SZ";

// `body` is the line up to where its hash member starts, so without the closing brace.
std::string HashOf(std::string_view body) {
  return manifest::Hex(manifest::Digest(std::string(body) + "}"));
}

bool HasText(const Json& json, const char* name) {
  const auto member = json.find(name);
  return member != json.end() && member->is_string();
}

absl::Status CheckShape(const Json& json) {
  const auto sequence = json.find("seq");
  if (sequence == json.end() || !sequence->is_number_unsigned()) {
    return absl::DataLossError("`seq` is missing or not a number");
  }
  for (const char* name : {"time", "event", "prev"}) {
    if (!HasText(json, name)) {
      return absl::DataLossError(absl::StrCat("`", name, "` is missing or not text"));
    }
  }
  absl::Time time;
  if (!absl::ParseTime(kTimeFormat, json["time"].get<std::string>(), &time, nullptr)) {
    return absl::DataLossError("`time` is not a UTC time with nanoseconds");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ChainLine(const ChainLink& previous, absl::Time time,
                                      const Json& record, ChainLink& link) {
  Json json;
  json["seq"] = previous.sequence + 1;
  json["time"] = absl::FormatTime(kTimeFormat, time, absl::UTCTimeZone());
  json["event"] = record.at("event");
  json["prev"] = previous.hash;
  for (const auto& [name, value] : record.items()) {
    if (name != "event") json[name] = value;
  }
  std::string line = manifest::WriteJson(json, /*ascii=*/true);
  line.pop_back();
  link = {previous.sequence + 1, HashOf(line)};
  line.append(kHashMember).append(link.hash).append(kLineEnd).append("\n");
  if (line.size() > kMaxAuditLineBytes) {
    return absl::InternalError(
        absl::StrCat("record of ", line.size(), " bytes, the limit is ", kMaxAuditLineBytes));
  }
  return line;
}

absl::StatusOr<ChainRecord> ParseChainLine(std::string_view line) {
  constexpr std::size_t kEndBytes = kHashMember.size() + kHashDigits + kLineEnd.size();
  if (line.size() < kEndBytes || !line.ends_with(kLineEnd) ||
      line.substr(line.size() - kEndBytes, kHashMember.size()) != kHashMember) {
    return absl::DataLossError("the line does not end with its hash");
  }
  const std::string_view body = line.substr(0, line.size() - kEndBytes);
  const std::string hash(line.substr(body.size() + kHashMember.size(), kHashDigits));
  if (HashOf(body) != hash) return absl::DataLossError("its own hash does not match its content");

  auto json = manifest::ParseStrictJson(line, "record", {.bytes = kMaxAuditLineBytes});
  if (!json.ok()) return absl::DataLossError(json.status().message());
  if (!json->is_object()) return absl::DataLossError("it is not an object");
  if (absl::Status shape = CheckShape(*json); !shape.ok()) return shape;
  ChainRecord record;
  record.link = {(*json)["seq"].get<std::uint64_t>(), hash};
  record.previous_hash = (*json)["prev"].get<std::string>();
  record.json = *std::move(json);
  return record;
}

}  // namespace warder::supervisor
