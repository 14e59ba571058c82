#include "supervisor/launch_protocol.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace warder::supervisor {
namespace {

LaunchRequest Sample() {
  LaunchRequest request;
  request.policy = "default";
  request.policy_digest.fill(7);
  request.workspace_path = "/ws";
  request.workspace_device = 1;
  request.workspace_inode = 2;
  request.argv = {"a", "", "b\nc"};
  request.environment = {"A=1"};
  request.files.push_back({"/ws/t", {3, 4, 5, -6, 7, sandbox::Compare::kContent}, true});
  request.cwd_path = "/ws/sub";
  request.cwd_device = 8;
  request.cwd_inode = 9;
  return request;
}

TEST(LaunchProtocol, RequestComesBackAsItWas) {
  const auto decoded = DecodeLaunch(EncodeLaunch(Sample()));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(EncodeLaunch(*decoded), EncodeLaunch(Sample()));
  EXPECT_EQ(decoded->argv, Sample().argv);
  EXPECT_EQ(decoded->files.front().identity.mtime_ns, -6);
}

TEST(LaunchProtocol, SupervisorCannotAskForAWeakerComparison) {
  LaunchRequest request = Sample();
  request.files.front().identity.compare = sandbox::Compare::kNothing;
  EXPECT_EQ(DecodeLaunch(EncodeLaunch(request))->files.front().identity.compare,
            sandbox::Compare::kContent);
}

TEST(LaunchProtocol, EveryShorterOrLongerRequestIsRefused) {
  const std::string whole = EncodeLaunch(Sample());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(DecodeLaunch(whole.substr(0, size)).has_value()) << size;
  EXPECT_FALSE(DecodeLaunch(whole + "x").has_value());
}

TEST(LaunchProtocol, GarbageIsRefusedOrHarmless) {
  std::mt19937 random(1);
  const std::string whole = EncodeLaunch(Sample());
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 4; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto decoded = DecodeLaunch(bytes);
    EXPECT_TRUE(!decoded.has_value() || EncodeLaunch(*decoded).size() == bytes.size());
  }
}

TEST(LaunchProtocol, AttestationFailureExitAndConfigComeBackAsTheyWere) {
  LaunchFailure failure;
  failure.refused = true;
  failure.refusal = approval::RefusalCode::kChanged;
  failure.could_not_start = {"mount", 13, "detail"};
  failure.attestation.policy = "p";
  failure.attestation.layers.push_back({"seccomp", true, sandbox::LayerState::kAbsent, "mode 0"});
  const auto back = DecodeFailure(EncodeFailure(failure));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(EncodeFailure(*back), EncodeFailure(failure));
  EXPECT_EQ(back->attestation.layers.front().state, sandbox::LayerState::kAbsent);
  ToolExit exit;
  exit.signaled = true;
  exit.status = 9;
  exit.usage.max_rss_kib = 5;
  exit.limit = LimitHit::kProcesses;
  EXPECT_EQ(EncodeExit(*DecodeExit(EncodeExit(exit))), EncodeExit(exit));
  EXPECT_EQ(DecodeExit(EncodeExit(exit))->limit, LimitHit::kProcesses);
  exit.limit = static_cast<LimitHit>(99);
  EXPECT_FALSE(DecodeExit(EncodeExit(exit)).has_value());
  manifest::Config config;
  config.config_dir = "/etc/warder";
  config.workspaces = {"/a", "/b"};
  EXPECT_EQ(DecodeConfig(EncodeConfig(config))->workspaces, config.workspaces);
  EXPECT_EQ(EncodeAttestation(*DecodeAttestation(EncodeAttestation(failure.attestation))),
            EncodeAttestation(failure.attestation));
  const std::vector<sandbox::Quarantined> moved = {{".basis", "/q/1", ""}, {"a", "", "no"}};
  const auto moved_back = DecodeQuarantined(EncodeQuarantined(moved));
  ASSERT_TRUE(moved_back.has_value());
  EXPECT_EQ(EncodeQuarantined(*moved_back), EncodeQuarantined(moved));
  EXPECT_FALSE(DecodeQuarantined(EncodeQuarantined(moved) + "x").has_value());
}

TEST(LaunchProtocol, EveryStateOfALayerComesBack) {
  sandbox::Attestation attestation;
  for (int state = 0; state <= static_cast<int>(sandbox::LayerState::kNotRequired); ++state) {
    attestation.layers.push_back({"layer", true, static_cast<sandbox::LayerState>(state), ""});
  }
  const auto back = DecodeAttestation(EncodeAttestation(attestation));
  ASSERT_TRUE(back.has_value());
  for (std::size_t i = 0; i < attestation.layers.size(); ++i) {
    EXPECT_EQ(back->layers.at(i).state, attestation.layers[i].state) << i;
  }
}

TEST(LaunchProtocol, ValueThatAListDoesNotHaveIsRefused) {
  sandbox::Attestation attestation;
  std::string body = EncodeAttestation(attestation);
  ASSERT_TRUE(DecodeAttestation(body).has_value());
  body[0] = 9;  // the tier comes first
  EXPECT_FALSE(DecodeAttestation(body).has_value());
  attestation.layers.push_back({"seccomp", true, static_cast<sandbox::LayerState>(77), ""});
  EXPECT_FALSE(DecodeAttestation(EncodeAttestation(attestation)).has_value());
  LaunchFailure failure;
  failure.refusal = static_cast<approval::RefusalCode>(1);
  EXPECT_FALSE(DecodeFailure(EncodeFailure(failure)).has_value());
  ToolExit exit;
  exit.limit = static_cast<LimitHit>(99);
  EXPECT_FALSE(DecodeExit(EncodeExit(exit)).has_value());
}

TEST(LaunchProtocol, DenialsComeBackAsTheyWere) {
  sandbox::DenialReport report;
  report.watched = true;
  report.stopped = true;
  report.unlisted = 7;
  sandbox::Denial denial;
  denial.layer = "seccomp";
  denial.operation = "mount";
  denial.object = std::string("target=/a\0b", 11);
  denial.error = 1;
  denial.place = "base.json:1";
  denial.group = "mount";
  denial.reason = "r";
  denial.first_ms = 5;
  AddDenial(denial, report);
  const auto back = DecodeDenials(EncodeDenials(report));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(EncodeDenials(*back), EncodeDenials(report));
  EXPECT_TRUE(back->watched && back->stopped);
  EXPECT_EQ(back->unlisted, 7u);
  ASSERT_EQ(back->denials.size(), 1u);
  EXPECT_TRUE(back->denials[0].SameAs(denial));
  EXPECT_EQ(back->denials[0].group, "mount");
  EXPECT_EQ(back->denials[0].first_ms, 5);
  EXPECT_FALSE(DecodeDenials(EncodeDenials(report) + "x").has_value());
}

}  // namespace
}  // namespace warder::supervisor
