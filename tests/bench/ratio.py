"""What one confined command costs against a bare spawn of the same program, measured on this machine in this run.

Usage: ratio.py WARDER [RUNS]. The confined command is a whole `warder exec`: start of the supervisor, start of the launcher, policy,
ticket, audit record on disk, a cold cell, the program, teardown. It is the most expensive way to make one call.
"""

import os
import statistics
import sys
import tempfile
import time

PROGRAM = "/bin/true"
WARM_UP = 3


def spawn(argv, null):
    actions = [(os.POSIX_SPAWN_DUP2, null, descriptor) for descriptor in (0, 1, 2)]
    started = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter_ns() - started
    if status != 0:
        sys.exit(f"ratio: {' '.join(argv)}: exit code {os.waitstatus_to_exitcode(status)}: run it by hand")
    return took / 1e6


def main():
    warder = os.path.realpath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    state = tempfile.TemporaryDirectory()  # an audit log of its own
    confined = [warder, "exec", "--state-dir", state.name, "--policy", "default", "--approve", "allow-all", "--", PROGRAM]
    null = os.open("/dev/null", os.O_RDWR)
    times = {"bare": [], "confined": []}
    # Interleaved, so that a slow moment of the machine hits both.
    for run in range(WARM_UP + runs):
        for name, argv in (("bare", [PROGRAM]), ("confined", confined)):
            took = spawn(argv, null)
            if run >= WARM_UP:
                times[name].append(took)
    print(f"{'':10} {'p50 ms':>8} {'p95 ms':>8}   {runs} runs, interleaved")
    for name, values in times.items():
        print(f"{name:10} {statistics.median(values):8.2f} {statistics.quantiles(values, n=20)[18]:8.2f}")
    ratio = statistics.median(times["confined"]) / statistics.median(times["bare"])
    print(f"ratio of the medians: {ratio:.1f}")
    print(f"confined: {' '.join(confined)}")


main()
