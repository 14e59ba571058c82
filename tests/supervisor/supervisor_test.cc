#include "supervisor/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "approval/approvers.h"
#include "tests/support/bare_launcher.h"
#include "tests/support/run_async.h"
#include "tests/support/temp_tree.h"

namespace warder::supervisor {
namespace {

using approval::RefusalCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTools[] = R"({"schema": 1, "tools": {
  "hello": {"description": "Says hello.", "input_schema": {"type": "object"},
            "command": ["/bin/sh", "-c", "echo hello; echo oops >&2"]},
  "echo": {"description": "Repeats.", "command": ["/bin/cat"], "timeout_ms": 5000,
           "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
  "hang": {"description": "Hangs.", "input_schema": {"type": "object"}, "command": ["/bin/sleep", "60"]},
  "gone": {"description": "Is not there.", "input_schema": {"type": "object"}, "command": ["./no-such-program"]}
}})";

// Waits until it is cancelled.
class SilentApprover : public approval::Approver {
 public:
  asio::awaitable<approval::Decision> Ask(const approval::Ticket&) override {
    asio::steady_timer never(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
    if (on_ask) on_ask();
    co_await never.async_wait(asio::use_awaitable);
    co_return approval::Decision{};
  }
  std::string Name() const override { return "silent"; }
  std::function<void()> on_ask;
};

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    ::signal(SIGPIPE, SIG_IGN);
    tree_.Write("workspace/.basis/tools.json", kTools);
    config_.config_dir = tree_.Directory("config");
    config_.share_dir = WARDER_SHARE_DIR;
    config_.state_dir = tree_.Directory("state");
    config_.runtime_dir = tree_.Directory("run");
    auto workspace = manifest::OpenWorkspace(tree_.At("workspace"));
    EXPECT_TRUE(workspace.ok()) << workspace.status();
    workspace_ = *std::move(workspace);
    config_.workspaces = {workspace_.path};
    auto audit = AuditLog::Open(tree_.At("state/audit.jsonl"));
    EXPECT_TRUE(audit.ok()) << audit.status();
    audit_ = *std::move(audit);
    cancel_ = std::make_shared<Cancellation>(loop_.get_executor());
  }

  SupervisorParts Parts() {
    SupervisorParts parts;
    parts.config = &config_;
    parts.workspace = &workspace_;
    parts.audit = audit_.get();
    parts.launcher = &launcher_;
    parts.approver = [this](const manifest::NamedPolicy&) -> absl::StatusOr<approval::Approver*> {
      return approver_.get();
    };
    parts.environment = {"PATH=/usr/bin:/bin", "HOME=/root", "SECRET=hidden", "PWD=/elsewhere"};
    return parts;
  }

  static CallRequest Request(const std::string& tool, const std::string& input = "{}") {
    CallRequest request;
    request.tool = tool;
    request.input = input;
    request.requester.via = "cli call";
    return request;
  }

  absl::StatusOr<CallResult> Call(CallRequest request) {
    Supervisor supervisor(Parts());
    return warder::testing::RunAsync(loop_, supervisor.Call(std::move(request), cancel_));
  }

  // The outcome of a call that must have one.
  Outcome OutcomeOf(CallRequest request) {
    auto result = Call(std::move(request));
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    EXPECT_TRUE(result->recorded.ok()) << result->recorded;
    return result->outcome;
  }

  std::vector<std::string> Events() {
    std::vector<std::string> events;
    const auto read = ReadAudit(tree_.At("state/audit.jsonl"), [&](const manifest::Json& record) {
      events.push_back(record["event"].get<std::string>());
    });
    EXPECT_TRUE(read.ok()) << read;
    return events;
  }

  void ExpectRefused(CallRequest request, RefusalCode code) {
    const Outcome outcome = OutcomeOf(std::move(request));
    const auto* refused = std::get_if<Refused>(&outcome.ending);
    ASSERT_NE(refused, nullptr) << OutcomeText(outcome);
    EXPECT_EQ(refused->code, code) << refused->reason;
    EXPECT_THAT(launcher_.tickets, IsEmpty());
  }

  warder::testing::TempTree tree_;
  asio::io_context loop_;
  manifest::Config config_;
  manifest::Workspace workspace_;
  std::unique_ptr<AuditLog> audit_;
  warder::testing::BareLauncher launcher_;
  std::unique_ptr<approval::Approver> approver_ = approval::MakeAllowAll();
  std::shared_ptr<Cancellation> cancel_;
};

TEST_F(SupervisorTest, AnAllowedCallRunsAndEachStepIsRecordedInOrder) {
  const Outcome outcome = OutcomeOf(Request("hello"));
  EXPECT_EQ(ExitCode(outcome.ending), 0) << OutcomeText(outcome);
  EXPECT_EQ(outcome.tool, "hello");
  EXPECT_EQ(outcome.out.head + outcome.out.tail, "hello\n");
  EXPECT_EQ(outcome.err.head + outcome.err.tail, "oops\n");
  EXPECT_THAT(outcome.ticket_digest, SizeIs(64));
  EXPECT_EQ(outcome.audit_sequence, 4u);
  EXPECT_THAT(Events(), ElementsAre("ask", "decision", "use", "outcome"));
}

TEST_F(SupervisorTest, TheInputArrivesByteForByte) {
  const std::string input =
      "{ \"n\" :\t12, \"text\": \"$(id) \\u0041 'quoted' \xf0\x9f\xa6\x8a\" }\n";
  const Outcome outcome = OutcomeOf(Request("echo", input));
  EXPECT_EQ(outcome.out.head + outcome.out.tail, input);
}

TEST_F(SupervisorTest, ADeniedCallIsNeverLaunched) {
  approver_ = approval::MakeDenyAll();
  ExpectRefused(Request("hello"), RefusalCode::kDenied);
  EXPECT_THAT(Events(), ElementsAre("ask", "decision", "refusal"));
}

TEST_F(SupervisorTest, WithoutAnApproverNothingIsLaunched) {
  approver_ = nullptr;
  ExpectRefused(Request("hello"), RefusalCode::kNoApprover);
}

TEST_F(SupervisorTest, AnUnknownToolIsRejectedAndRecordedAndTheKnownOnesAreNamed) {
  const Outcome outcome = OutcomeOf(Request("helo\x1b[2J"));
  EXPECT_EQ(ExitCode(outcome.ending), 126);
  EXPECT_THAT(OutcomeText(outcome), HasSubstr("hello"));
  EXPECT_EQ(OutcomeText(outcome).find('\x1b'), std::string::npos);
  EXPECT_THAT(Events(), ElementsAre("rejected"));
}

TEST_F(SupervisorTest, BadInputIsRejectedBeforeAnyoneIsAsked) {
  for (const char* input : {"{", "[]", "1", "{\"n\": 1, \"n\": 2}", "{\"n\": \"x\"}"}) {
    ExpectRefused(Request("echo", input), RefusalCode::kInvalidInput);
  }
  EXPECT_THAT(Events(), ::testing::Each("rejected"));
}

TEST_F(SupervisorTest, AProgramThatDoesNotExistCouldNotStartAndNobodyIsAsked) {
  const Outcome outcome = OutcomeOf(Request("gone"));
  EXPECT_TRUE(std::holds_alternative<CouldNotStart>(outcome.ending));
  EXPECT_EQ(ExitCode(outcome.ending), 127);
  EXPECT_THAT(OutcomeText(outcome), HasSubstr("no-such-program"));
  EXPECT_THAT(Events(), ElementsAre("rejected"));
}

TEST_F(SupervisorTest, APolicyThatDoesNotExistOrIsAbstractIsRefused) {
  for (const char* policy : {"no-such-policy", "base", "../default"}) {
    CallRequest request = Request("hello");
    request.policy = policy;
    const auto result = Call(std::move(request));
    // A name that is no name may also be a fault; what counts is that nothing runs.
    EXPECT_TRUE(!result.ok() || ExitCode(result->outcome.ending) == 126) << policy;
    EXPECT_THAT(launcher_.tickets, IsEmpty());
  }
}

TEST_F(SupervisorTest, AManifestThatCannotBeUsedIsAFaultThatNamesIt) {
  tree_.Write("workspace/.basis/tools.json", "{\"schema\": 1,\n \"tools\": // none\n{}}");
  const auto result = Call(Request("hello"));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(".basis/tools.json:2"));
}

TEST_F(SupervisorTest, TheCallersTimeLimitMayOnlyShorten) {
  for (const auto& [asked, got] : {std::pair{1'000, 1'000}, std::pair{60'000, 5'000}}) {
    CallRequest request = Request("echo");
    request.timeout_ms = asked;
    OutcomeOf(std::move(request));
    ASSERT_FALSE(launcher_.tickets.empty());
    EXPECT_EQ(launcher_.tickets.back().timeout_ms, got);
  }
}

TEST_F(SupervisorTest, TheCellsOwnVariablesAreThoseOfTheCellAndSecretsStayOutside) {
  OutcomeOf(Request("hello"));
  EXPECT_EQ(launcher_.environment["HOME"], "/home/tool");
  EXPECT_EQ(launcher_.environment["TMPDIR"], "/tmp");
  EXPECT_EQ(launcher_.environment["USER"], "tool");
  EXPECT_EQ(launcher_.environment["PWD"], workspace_.path);
  EXPECT_FALSE(launcher_.environment.contains("SECRET"));
}

TEST_F(SupervisorTest, BindingsGiveAToolTheDefaultPolicyAndACommandLineTheRunners) {
  OutcomeOf(Request("hello"));
  CallRequest exec;
  exec.command = {"/bin/true"};
  exec.requester.via = "cli exec";
  OutcomeOf(std::move(exec));
  ASSERT_THAT(launcher_.tickets, SizeIs(2));
  EXPECT_EQ(launcher_.tickets[0].policy, "default");
  EXPECT_EQ(launcher_.tickets[1].policy, "ci-runner");
}

TEST_F(SupervisorTest, CancellingBeforeTheDecisionWithdrawsTheCall) {
  auto silent = std::make_unique<SilentApprover>();
  silent->on_ask = [this] { asio::post(loop_, [this] { cancel_->Cancel(); }); };
  approver_ = std::move(silent);
  ExpectRefused(Request("hello"), RefusalCode::kWithdrawn);
  EXPECT_THAT(Events(), ElementsAre("ask", "refusal"));
}

TEST_F(SupervisorTest, CancellingARunningCallEndsItAndRecordsThat) {
  launcher_.on_launch = [this] { asio::post(loop_, [this] { cancel_->Cancel(); }); };
  const Outcome outcome = OutcomeOf(Request("hang"));
  EXPECT_TRUE(std::holds_alternative<Cancelled>(outcome.ending)) << OutcomeText(outcome);
  EXPECT_THAT(Events(), ElementsAre("ask", "decision", "use", "outcome"));
}

TEST_F(SupervisorTest, AMissingLayerIsARefusalThatIsRecordedWithItsAttestation) {
  LaunchFailure failure;
  failure.refused = true;
  failure.could_not_start.detail = "layer `landlock` is missing";
  failure.attestation.layers.push_back({"landlock", true, sandbox::LayerState::kAbsent, "no"});
  launcher_.failure = failure;
  const Outcome outcome = OutcomeOf(Request("hello"));
  const auto* refused = std::get_if<Refused>(&outcome.ending);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, RefusalCode::kSandboxUnavailable);
  EXPECT_THAT(refused->reason, HasSubstr("landlock"));
  EXPECT_THAT(outcome.attestation.layers, SizeIs(1));
  EXPECT_THAT(Events(), ElementsAre("ask", "decision", "use", "outcome"));
}

TEST_F(SupervisorTest, AStepThatFailsInTheCellIsCouldNotStart) {
  LaunchFailure failure;
  failure.could_not_start = {"mount", 1, "cannot mount"};
  launcher_.failure = failure;
  EXPECT_EQ(ExitCode(OutcomeOf(Request("hello")).ending), 127);
}

TEST_F(SupervisorTest, ALauncherThatIsGoneIsAFault) {
  launcher_.gone = absl::UnavailableError("the launcher is gone");
  EXPECT_TRUE(absl::IsUnavailable(Call(Request("hello")).status()));
}

TEST_F(SupervisorTest, AResultIsNotLostWhenTheAuditLogFailsAfterTheRun) {
  launcher_.on_launch = [this] {
    std::filesystem::rename(tree_.At("state/audit.jsonl"), tree_.At("state/moved"));
  };
  const auto result = Call(Request("hello"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ExitCode(result->outcome.ending), 0);
  EXPECT_FALSE(result->recorded.ok());
}

TEST_F(SupervisorTest, AnAuditLogThatCannotBeWrittenRefusesTheCall) {
  std::filesystem::rename(tree_.At("state/audit.jsonl"), tree_.At("state/moved"));
  ExpectRefused(Request("hello"), RefusalCode::kAuditUnavailable);
}

TEST_F(SupervisorTest, AnApproverThatCannotBeChosenIsAFault) {
  SupervisorParts parts = Parts();
  parts.approver = [](const manifest::NamedPolicy&) -> absl::StatusOr<approval::Approver*> {
    return absl::InvalidArgumentError("rules.json:1:1: bad");
  };
  Supervisor supervisor(std::move(parts));
  const auto result = warder::testing::RunAsync(loop_, supervisor.Call(Request("hello"), cancel_));
  EXPECT_TRUE(absl::IsInvalidArgument(result.status()));
  EXPECT_THAT(launcher_.tickets, IsEmpty());
}

TEST_F(SupervisorTest, APreviewIsTheTicketAndNeitherAsksNorRunsNorRecords) {
  SupervisorParts parts = Parts();
  parts.audit = nullptr;
  parts.launcher = nullptr;
  parts.approver = nullptr;
  const auto preview = Supervisor(std::move(parts)).Preview(Request("echo", "{\"n\": 1}"));
  ASSERT_TRUE(preview.ok()) << preview.status();
  const auto* ticket = std::get_if<approval::Ticket>(&*preview);
  ASSERT_NE(ticket, nullptr);
  EXPECT_EQ(ticket->tool, "echo");
  EXPECT_EQ(ticket->input, "{\"n\": 1}");
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(SupervisorTest, APreviewOfWhatCannotRunSaysWhy) {
  const auto preview = Supervisor(Parts()).Preview(Request("gone"));
  ASSERT_TRUE(preview.ok()) << preview.status();
  const auto* refusal = std::get_if<approval::Refusal>(&*preview);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, RefusalCode::kNotRunnable);
}

}  // namespace
}  // namespace warder::supervisor
