"""Searches the workspace's text files. Input: one JSON object on stdin, see .basis/tools.json."""

import fnmatch
import json
import os
import re
import sys

LARGEST_FILE = 4 << 20  # bytes; larger ones are data, not text


def text_files(glob):
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(fnmatch.filter(names, glob)):
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path) and os.path.getsize(path) <= LARGEST_FILE:
                yield path


def main():
    request = json.load(sys.stdin)
    flags = re.IGNORECASE if request.get("ignore_case") else 0
    try:
        pattern = re.compile(request["pattern"], flags)
    except re.error as error:
        sys.exit(f"search_text: pattern: {error}")
    left = request.get("limit", 100)
    for path in text_files(request.get("glob", "*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if pattern.search(line):
                    print(f"{path}:{number}: {line.rstrip()}")
                    left -= 1
                    if left == 0:
                        print("search_text: limit reached", file=sys.stderr)
                        return


main()
