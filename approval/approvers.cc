#include "approval/approvers.h"

#include <utility>

namespace warder::approval {
namespace {

class FixedApprover : public Approver {
 public:
  FixedApprover(Verdict verdict, std::string name) : verdict_(verdict), name_(std::move(name)) {}

  asio::awaitable<Decision> Ask(const Ticket& ticket) override {
    Decision decision;
    decision.verdict = verdict_;
    decision.approver = name_;
    decision.ticket_digest = TicketDigestHex(ticket);
    co_return decision;
  }
  std::string Name() const override { return name_; }

 private:
  Verdict verdict_;
  std::string name_;
};

class RuleApprover : public Approver {
 public:
  RuleApprover(RuleSet rules, std::unique_ptr<Approver> otherwise)
      : rules_(std::move(rules)), otherwise_(std::move(otherwise)) {}

  asio::awaitable<Decision> Ask(const Ticket& ticket) override {
    std::optional<Decision> decided = rules_.Decide(ticket);
    if (decided) co_return *std::move(decided);
    if (otherwise_ != nullptr) co_return co_await otherwise_->Ask(ticket);
    co_return FailedDecision(RefusalCode::kNoApprover, Name(),
                             "no rule decides this call, and nobody else can be asked");
  }
  std::string Name() const override {
    return otherwise_ == nullptr ? "rules" : "rules, then " + otherwise_->Name();
  }

 private:
  RuleSet rules_;
  std::unique_ptr<Approver> otherwise_;
};

}  // namespace

std::unique_ptr<Approver> MakeAllowAll() {
  return std::make_unique<FixedApprover>(Verdict::kAllow, "allow-all");
}

std::unique_ptr<Approver> MakeDenyAll() {
  return std::make_unique<FixedApprover>(Verdict::kDeny, "deny-all");
}

std::unique_ptr<Approver> MakeRuleApprover(RuleSet rules, std::unique_ptr<Approver> otherwise) {
  return std::make_unique<RuleApprover>(std::move(rules), std::move(otherwise));
}

}  // namespace warder::approval
