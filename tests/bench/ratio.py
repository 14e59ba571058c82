"""What one confined command costs against a bare spawn of the same program, measured on this machine in this run.

Usage: ratio.py WARDER [RUNS]. The confined command is a whole `warder exec`: start of the supervisor, start of the launcher, policy,
ticket, audit record on disk, a cold cell, the program, teardown. It is the most expensive way to make one call.

Then what the syscall filter adds to a system call that it allows: getppid in a tight loop, in a cell of `default` and outside.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = "/bin/true"
WARM_UP = 3
FILTER_RUNS = 15
FILTER_BAR, FILTER_AIM = 10, 3  # percent that the filter may add to an allowed system call


def spawn(argv, null):
    actions = [(os.POSIX_SPAWN_DUP2, null, descriptor) for descriptor in (0, 1, 2)]
    started = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter_ns() - started
    if status != 0:
        sys.exit(f"ratio: {' '.join(argv)}: exit code {os.waitstatus_to_exitcode(status)}: run it by hand")
    return took / 1e6


def call_ns(argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ratio: {' '.join(argv)}: exit code {done.returncode}: {done.stderr}")
    return float(done.stdout)


def measure_start(confined, runs):
    null = os.open("/dev/null", os.O_RDWR)
    times = {"bare": [], "confined": []}
    # Interleaved, so that a slow moment of the machine hits both.
    for run in range(WARM_UP + runs):
        for name, argv in (("bare", [PROGRAM]), ("confined", confined + [PROGRAM])):
            took = spawn(argv, null)
            if run >= WARM_UP:
                times[name].append(took)
    print(f"{'':10} {'p50 ms':>8} {'p95 ms':>8}   {runs} runs, interleaved")
    for name, values in times.items():
        print(f"{name:10} {statistics.median(values):8.2f} {statistics.quantiles(values, n=20)[18]:8.2f}")
    ratio = statistics.median(times["confined"]) / statistics.median(times["bare"])
    print(f"ratio of the medians: {ratio:.1f}")
    print(f"confined: {' '.join(confined + [PROGRAM])}")


def measure_filter(confined, program):
    shutil.copy(program, "loop")
    costs = {"no filter": [], "default": []}
    for _ in range(FILTER_RUNS):  # interleaved, as above; each is the median of thousands of short runs
        costs["no filter"].append(call_ns(["./loop"]))
        costs["default"].append(call_ns(confined + ["./loop"]))
    print(f"\n{'getppid':10} {'p50 ns':>8} {'min ns':>8} {'max ns':>8}   {FILTER_RUNS} runs, interleaved")
    for name, values in costs.items():
        print(f"{name:10} {statistics.median(values):8.1f} {min(values):8.1f} {max(values):8.1f}")
    added = 100 * (statistics.median(costs["default"]) / statistics.median(costs["no filter"]) - 1)
    verdict = "met" if added <= FILTER_BAR else "NOT MET"
    print(f"the filter adds {added:.1f} % to an allowed system call: bar {FILTER_BAR} % {verdict}, aim {FILTER_AIM} %")


def main():
    warder = os.path.realpath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    state = tempfile.TemporaryDirectory()  # an audit log of its own
    # And a workspace: Warder refuses one that its own files lie in, as they do in a build tree.
    workspace = tempfile.TemporaryDirectory()
    os.chdir(workspace.name)
    confined = [warder, "exec", "--state-dir", state.name, "--policy", "default", "--approve", "allow-all", "--"]
    measure_start(confined, runs)
    measure_filter(confined, os.path.join(os.path.dirname(warder), "programs", "syscall_cost"))


main()
