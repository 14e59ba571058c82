"""Tries to leave the cell. Each attempt is real; its line says what the kernel answered.

Exit code 0: every attempt was refused. Exit code 1: something got out.
"""

import ctypes
import json
import os
import socket
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH = 16
PR_SET_NAME = 15
CLONE_NEWUSER = 0x10000000
LEFT_BEHIND = "left-behind"
escaped = []


class Refused(Exception):
    """The attempt failed in a way that has no errno of its own."""


def attempt(title, action):
    try:
        result = action()
    except OSError as error:
        print(f"refused  {title}: {error.strerror}")
    except Refused as reason:
        print(f"refused  {title}: {reason}")
    else:
        print(f"ESCAPED  {title}: {result}")
        escaped.append(title)


def syscall(function, *arguments):
    if function(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return "the call worked"


def read_shadow():
    with open("/etc/shadow", encoding="utf-8") as file:
        return f"read {len(file.read())} characters"


def write_outside(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("out\n")
    return "written"


def connect_tcp(port):
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return "connected"


def connect_unix(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        return "connected"


def see_processes(pid):
    mine = os.getpid()
    names = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
            names[int(entry)] = file.read().strip()
    strangers = {number: name for number, name in names.items() if number not in (1, mine)}
    if pid is None and strangers:
        return f"sees {strangers}"
    raise Refused(f"sees only its own cell ({len(names)} processes)")


def signal_process(pid):
    os.kill(pid, 0)
    return "the signal was delivered"


def read_environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return f"read {len(file.read())} bytes"


def leave_child(path):
    """A grandchild in a session of its own, without the call's pipes, that would outlive the call."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            LIBC.prctl(PR_SET_NAME, LEFT_BEHIND.encode())
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            time.sleep(3)
            with open(path, "w", encoding="utf-8") as file:
                file.write("a child outlived the call\n")
        os._exit(0)
    os.wait()
    print(f"left     a child named {LEFT_BEHIND} that writes {path} in 3 seconds, if it lives")


def main():
    asked = json.load(sys.stdin)
    attempt("read /etc/shadow", read_shadow)
    attempt("write /etc/warder-was-here", lambda: write_outside("/etc/warder-was-here"))
    attempt("write /usr/bin/warder-was-here", lambda: write_outside("/usr/bin/warder-was-here"))
    if "outside_file" in asked:
        attempt("write " + asked["outside_file"], lambda: write_outside(asked["outside_file"]))
    if "tcp_port" in asked:
        attempt("connect to the host's loopback", lambda: connect_tcp(asked["tcp_port"]))
    if "unix_socket" in asked:
        attempt("connect to a socket of the host", lambda: connect_unix(asked["unix_socket"]))
    attempt("see other processes", lambda: see_processes(None))
    if "pid" in asked:
        attempt("signal a process of the host", lambda: signal_process(asked["pid"]))
        attempt("ptrace a process of the host", lambda: syscall(LIBC.ptrace, PTRACE_ATTACH, asked["pid"], 0, 0))
    attempt("ptrace init", lambda: syscall(LIBC.ptrace, PTRACE_ATTACH, 1, 0, 0))
    attempt("read init's environment", lambda: read_environment(1))
    attempt("read the parent's environment", lambda: read_environment(os.getppid()))
    attempt("become root", lambda: syscall(LIBC.setuid, 0) if os.getuid() != 0 else syscall(LIBC.chroot, b"/"))
    attempt("make a user namespace", lambda: syscall(LIBC.unshare, CLONE_NEWUSER))
    attempt("mount", lambda: syscall(LIBC.mount, b"none", b"/mnt", b"tmpfs", 0, None))
    leave_child(os.path.abspath("left-behind.txt"))
    sys.exit(f"{len(escaped)} attempts got out" if escaped else 0)


main()
