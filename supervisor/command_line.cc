#include "supervisor/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "supervisor/choose_approver.h"
#include "supervisor/console.h"
#include "supervisor/help_words.h"

namespace warder::supervisor {
namespace {

constexpr std::int64_t kLongestTimeoutMs = 24 * 60 * 60 * 1000;  // what `exec` has anyway
constexpr std::size_t kOptionColumns = 28;  // the left half of --help, so that the whole fits 80

// CLI11 cannot know the words of `exec`.
class ExecFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    usage.insert(usage.find_last_not_of('\n') + 1, " [--] COMMAND [ARGUMENTS]...");
    return usage;
  }
};

void Label(CLI::FormatterBase* formatter) {
  formatter->column_width(kOptionColumns);
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("Positionals", "Arguments");
  formatter->label("REQUIRED", "");
}

std::string CheckApproveFlag(const std::string& text) {
  const auto flag = ParseApproveFlag(text);
  return flag.ok() ? "" : std::string(flag.status().message());
}

// The commands and options, bound to one Options value.
class Grammar {
 public:
  Grammar();
  CLI::App& app() { return app_; }
  // Fills `parsed` from what app() has parsed; `after_mark` is what stood after "--", if that was
  // there.
  void Finish(const std::optional<std::vector<std::string>>& after_mark, ParsedCommandLine* parsed);
  // What to say about a command line that cannot be understood.
  std::string Mistake(const CLI::ParseError& error);

 private:
  using Run = int (*)(const Options&);
  CLI::App* Add(CLI::App* parent, const char* name, const char* what, Run run);
  void AddCalls();
  void AddReports();
  void AddAudit();
  void AddPolicy();

  void AddPlaces(CLI::App* app);
  void AddWorkspace(CLI::App* app);
  void AddJson(CLI::App* app, const char* what);
  void AddPolicyName(CLI::App* app);
  void AddApprove(CLI::App* app);
  void AddTimeout(CLI::App* app);
  void AddInput(CLI::App* app);
  void AddTool(CLI::App* app, const char* what);

  // The command that was named last: of "audit show", show.
  CLI::App* Chosen();

  Options options_;
  CLI::App app_{kPurpose, "warder"};
  CLI::App* exec_ = nullptr;
  std::map<const CLI::App*, Run> runs_;
};

Grammar::Grammar() {
  app_.set_help_flag("-h,--help", "Show this help");
  app_.set_version_flag("--version", "warder " WARDER_VERSION);
  Label(app_.get_formatter().get());
  app_.require_subcommand(1);
  app_.footer(std::string(kExitCodes) + "\n" + kRootFooter);
  AddWorkspace(&app_);
  AddPolicyName(&app_);
  AddApprove(&app_);
  AddTimeout(&app_);
  AddJson(&app_, "Print for machines");
  AddPlaces(&app_);
  AddCalls();
  AddReports();
  AddAudit();
  AddPolicy();
}

CLI::App* Grammar::Add(CLI::App* parent, const char* name, const char* what, Run run) {
  CLI::App* app = parent->add_subcommand(name, what)->group("Commands");
  if (run == nullptr) {
    app->require_subcommand(1);
  } else {
    runs_[app] = run;
  }
  return app;
}

void Grammar::AddPlaces(CLI::App* app) {
  app->add_option("--config-dir", options_.config_dir, "Where the operator's files are")
      ->type_name("DIR");
  app->add_option("--state-dir", options_.state_dir, "Where the audit log is")->type_name("DIR");
}

void Grammar::AddWorkspace(CLI::App* app) {
  app->add_option("-w,--workspace", options_.workspace, "The workspace (default: .)")
      ->type_name("DIR");
}

void Grammar::AddJson(CLI::App* app, const char* what) {
  app->add_flag("--json", options_.json, what);
}

void Grammar::AddPolicyName(CLI::App* app) {
  app->add_option("-p,--policy", options_.policy, "Use this policy, not what bindings say")
      ->type_name("NAME");
}

void Grammar::AddApprove(CLI::App* app) {
  app->add_option("--approve", options_.approve, "Who decides the call")
      ->type_name("WHO")
      ->check(CheckApproveFlag);
}

void Grammar::AddTimeout(CLI::App* app) {
  app->add_option("--timeout", options_.timeout_ms, "Shorten the time limit, milliseconds")
      ->type_name("MS")
      ->check(CLI::Range(std::int64_t{1}, kLongestTimeoutMs).description("").name(""));
}

void Grammar::AddInput(CLI::App* app) {
  app->add_option("-i,--input", options_.input, "The tool's input (default: {})")
      ->type_name("INPUT");
}

void Grammar::AddTool(CLI::App* app, const char* what) {
  app->add_option("TOOL", options_.tool, what)->required()->type_name("");
}

void Grammar::AddCalls() {
  CLI::App* call = Add(&app_, "call", "Run a declared tool, once it is approved", RunCall);
  AddTool(call, "The tool's name");
  AddInput(call);
  AddApprove(call);
  AddPolicyName(call);
  AddTimeout(call);
  AddWorkspace(call);
  AddJson(call, "Print the outcome as one JSON object");
  AddPlaces(call);
  call->footer(std::string(kInputWords) + kApproverWords +
               "On success stdout is the tool's, byte for byte; what went wrong is on stderr.\n\n" +
               kExitCodes);

  exec_ = Add(&app_, "exec", "Run a command line of your own in a cell", RunExec);
  exec_->prefix_command();
  exec_->formatter(std::make_shared<ExecFormatter>());
  Label(exec_->get_formatter().get());
  AddApprove(exec_);
  AddPolicyName(exec_);
  AddTimeout(exec_);
  AddWorkspace(exec_);
  AddJson(exec_, "Print the outcome as the last line of stderr");
  exec_->add_option("--json-fd", options_.json_fd, "Print the outcome to this descriptor instead")
      ->type_name("N")
      ->check(CLI::Range(3, 1 << 20).description("").name(""));
  AddPlaces(exec_);
  exec_->footer(std::string("stdin, stdout and stderr are passed through. Without --policy the "
                            "shipped\nbindings choose `ci-runner`, whose rules allow it.\n\n") +
                kApproverWords + kExitCodes);

  CLI::App* preview = Add(&app_, "preview", "Show what a call would run; run nothing", RunPreview);
  AddTool(preview, "The tool's name");
  AddInput(preview);
  AddPolicyName(preview);
  AddTimeout(preview);
  AddWorkspace(preview);
  AddJson(preview, "Print the ticket as one JSON object");
  AddPlaces(preview);
  preview->footer(std::string(kInputWords) + kReadExitCodes +
                  "\n  126  there would be nothing to approve: no such tool, bad input, ...");
}

void Grammar::AddReports() {
  CLI::App* list = Add(&app_, "list", "List the tools of the workspace", RunList);
  AddWorkspace(list);
  AddJson(list, "Print every field as one JSON object");
  AddPlaces(list);
  list->footer(kReadExitCodes);

  CLI::App* check =
      Add(&app_, "check", "Look for faults in manifests, policies and rules", RunCheck);
  AddWorkspace(check);
  AddJson(check, "Print the findings as one JSON object");
  AddPlaces(check);
  check->footer(kReportExitCodes);

  CLI::App* doctor = Add(&app_, "doctor", "Try what a call needs; say what is missing", RunDoctor);
  AddPolicyName(doctor);
  AddJson(doctor, "Print the findings as one JSON object");
  AddPlaces(doctor);
  doctor->footer(
      std::string("Runs /bin/true under the policy (default: `default`), as the audit log\n"
                  "then says.\n\n") +
      kReportExitCodes);
}

void Grammar::AddAudit() {
  CLI::App* audit = Add(&app_, "audit", "Read or verify the audit log", nullptr);
  audit->footer(kReportExitCodes);
  CLI::App* show = Add(audit, "show", "Print the records, oldest first", RunAuditShow);
  show->add_option("--tool", options_.tool, "Only this tool's")->type_name("NAME");
  show->add_option("--last", options_.last, "Only the last N")->type_name("N");
  AddJson(show, "Print the records, one JSON object a line");
  AddPlaces(show);
  show->footer(kReadExitCodes);

  CLI::App* verify = Add(audit, "verify", "Check every link of the log's chain", RunAuditVerify);
  AddJson(verify, "Print the findings as one JSON object");
  AddPlaces(verify);
  verify->footer(kReportExitCodes);
}

void Grammar::AddPolicy() {
  CLI::App* policy = Add(&app_, "policy", "List, show, question or suggest policies", nullptr);
  policy->footer(kReadExitCodes);
  CLI::App* list = Add(policy, "list", "List the policies that calls can use", RunPolicyList);
  AddWorkspace(list);
  AddJson(list, "Print as one JSON object");
  AddPlaces(list);
  list->footer(kReadExitCodes);

  CLI::App* show =
      Add(policy, "show", "Show what a policy allows, with its reasons", RunPolicyShow);
  show->add_option("NAME", options_.name, "The policy's name")->required()->type_name("");
  AddWorkspace(show);
  AddJson(show, "Print every value as one JSON object");
  AddPlaces(show);
  show->footer(kReadExitCodes);

  CLI::App* would =
      Add(policy, "would-allow", "Ask the compiled syscall filter", RunPolicyWouldAllow);
  would->add_option("SYSCALL", options_.name, "Its name or number")->required()->type_name("");
  would->add_option("ARG", options_.arguments, "Its arguments, 0 where not given")->type_name("");
  would->add_option("--abi", options_.abi, "x86_64 (default), x32 or i386")->type_name("ABI");
  AddPolicyName(would);
  AddWorkspace(would);
  AddJson(would, "Print as one JSON object");
  AddPlaces(would);
  would->footer(kWouldAllowWords);

  CLI::App* suggest = Add(policy, "suggest", "Show what would allow denials", RunPolicySuggest);
  suggest->add_option("--call", options_.call, "Record N of the audit log")->type_name("N");
  suggest->add_flag("--last{1}", options_.last, "The last outcome in the audit log");
  AddJson(suggest, "Print as one JSON object");
  AddPlaces(suggest);
  suggest->footer(kSuggestWords);
}

CLI::App* Grammar::Chosen() {
  CLI::App* chosen = &app_;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  return chosen;
}

void Grammar::Finish(const std::optional<std::vector<std::string>>& after_mark,
                     ParsedCommandLine* parsed) {
  CLI::App* chosen = Chosen();
  // An option before the command must mean something to it: `warder --approve allow-all list` says
  // what it cannot do.
  for (const CLI::Option* option : app_.get_options()) {
    if (option->count() > 0 && chosen->get_option_no_throw(option->get_name()) == nullptr) {
      throw CLI::ArgumentMismatch(option->get_name() + " does nothing for `" + chosen->get_name() +
                                  "`");
    }
  }
  if (after_mark && chosen != exec_) {
    throw CLI::ArgumentMismatch("only `exec` takes words after --");
  }
  if (chosen == exec_) {
    options_.command = exec_->remaining();
    if (!options_.command.empty() && options_.command.front().starts_with('-')) {
      throw CLI::ArgumentMismatch("`exec` has no option " + options_.command.front());
    }
    // Behind a command's first word "--" is the command's own.
    if (after_mark && !options_.command.empty()) options_.command.emplace_back("--");
    if (after_mark) {
      options_.command.insert(options_.command.end(), after_mark->begin(), after_mark->end());
    }
    if (options_.command.empty()) throw CLI::ArgumentMismatch("`exec` needs a command to run");
  }
  parsed->run = runs_.at(chosen);
  parsed->options = options_;
}

std::string Grammar::Mistake(const CLI::ParseError& error) {
  CLI::App* chosen = Chosen();
  std::string what = error.what();
  // CLI11 says first that a command is missing, where a wrong one is there.
  const std::vector<std::string> unknown = chosen->remaining();
  if (chosen != exec_ && !unknown.empty()) {
    what = "`" + unknown.front() + "` is not known here";
  } else if (error.get_name() == "RequiredError" && !runs_.contains(chosen)) {
    what = "a command is missing";
  }
  std::string path = chosen->get_name();
  for (const CLI::App* app = chosen->get_parent(); app != nullptr; app = app->get_parent()) {
    path.insert(0, app->get_name() + " ");
  }
  return what + "; see " + path + " --help";
}

}  // namespace

ParsedCommandLine ParseCommandLine(std::vector<std::string> arguments) {
  std::optional<std::vector<std::string>> after_mark;
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) {
    after_mark.emplace(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
  }
  ParsedCommandLine parsed;
  Grammar grammar;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    grammar.app().parse(arguments);
    grammar.Finish(after_mark, &parsed);
  } catch (const CLI::Success& success) {  // help or version
    std::ostringstream out;
    std::ostringstream err;
    grammar.app().exit(success, out, err);
    parsed.out = out.str();
  } catch (const CLI::ParseError& error) {
    parsed.err = grammar.Mistake(error);
    parsed.exit_code = kExitUsage;
  }
  return parsed;
}

int RunCommandLine(int argc, char** argv) {
  const ParsedCommandLine parsed =
      ParseCommandLine(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  try {
    if (parsed.run != nullptr) return parsed.run(parsed.options);
  } catch (const std::exception& exception) {  // from Asio, when the kernel refuses what it needs
    Complain(SafeLine(absl::StrFormat("a fault ended this command: %s", exception.what())));
    return kExitFault;
  }
  if (!parsed.err.empty()) Complain(SafeLine(parsed.err));
  return Print(parsed.out, parsed.exit_code);
}

}  // namespace warder::supervisor
