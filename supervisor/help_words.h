// HelpWords: what --help says beyond the names of commands and options.
#ifndef WARDER_SUPERVISOR_HELP_WORDS_H_
#define WARDER_SUPERVISOR_HELP_WORDS_H_

namespace warder::supervisor {

inline constexpr char kPurpose[] =
    "Runs the tools that a repository declares: checks the call, asks an approver,\n"
    "and runs exactly what was approved inside a cell that the kernel enforces.";

inline constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  the tool's own  the tool ran and exited\n"
    "  128+N           signal N ended the tool, or warder (130 SIGINT, 143 SIGTERM)\n"
    "  124             the tool ran into its time limit\n"
    "  125             Warder failed, or a manifest, policy or rules file is bad\n"
    "  126             refused: denied, nobody to ask, bad input, no policy or tool\n"
    "  127             could not start: no such program, or a step of the cell failed\n"
    "  2               the command line is wrong, or --input cannot be read";

inline constexpr char kRootFooter[] =
    "  1               check, doctor, audit verify: problems were found\n"
    "\n"
    "`warder COMMAND --help` says more. The options above may also follow COMMAND.";

inline constexpr char kReportExitCodes[] =
    "Exit codes:\n"
    "  0    all is well\n"
    "  1    problems were found\n"
    "  2    the command line is wrong\n"
    "  125  Warder failed, or one of its files cannot be read";

inline constexpr char kReadExitCodes[] =
    "Exit codes:\n"
    "  0    done\n"
    "  2    the command line is wrong\n"
    "  125  Warder failed, or a manifest, policy or log file is bad";

inline constexpr char kApproverWords[] =
    "WHO decides (--approve; otherwise the policy says):\n"
    "  ask            you, at this terminal\n"
    "  allow-all      everything is allowed; the cell still confines it\n"
    "  deny-all       nothing is\n"
    "  rules          the shipped rules of the policy and yours, then the terminal\n"
    "  rules:FILE     the rules in FILE and yours, then the terminal\n"
    "  program:/PATH  a program that gets the ticket on stdin and answers on stdout\n"
    "Your own rules (rules/*.json in the configuration directory) always come first:\n"
    "what one of them denies is denied.\n\n";

inline constexpr char kInputWords[] =
    "INPUT is the tool's input, one JSON object:\n"
    "  --input '{\"name\": 1}'  the text itself\n"
    "  --input @FILE          the content of FILE\n"
    "  --input -              standard input\n\n";

inline constexpr char kSuggestWords[] =
    "Without --call or --last reads an outcome (--json) from standard input. Prints a\n"
    "policy for you to read, complete and save; nothing is applied.\n\n"
    "Exit codes: 0 it covers every denial, 1 it does not, 2 and 125 as elsewhere";

inline constexpr char kWouldAllowWords[] =
    "Runs the policy's compiled filter on this one call; names the verdict and the\n"
    "rule that made it. Nothing is called. The default of --policy is `default`.\n"
    "What is allowed here the file view, Landlock or the kernel may still refuse.\n\n"
    "ARG: 15, -1, 0x1f, 0755, a constant of a denial's record (AF_INET, SOCK_STREAM,\n"
    "TIOCSTI, CLONE_NEWUSER), or several joined by |.\n\n"
    "  warder policy would-allow socket AF_ALG 5 0\n"
    "  warder policy would-allow -p ci-runner prlimit64 1 7 -1 0\n\n"
    "Exit codes:\n"
    "  0    it would be allowed\n"
    "  1    it would not\n"
    "  2    the command line is wrong: no such call, argument or ABI\n"
    "  125  Warder failed, the policy is bad, or filter and rules disagree";

}  // namespace warder::supervisor

#endif  // WARDER_SUPERVISOR_HELP_WORDS_H_
