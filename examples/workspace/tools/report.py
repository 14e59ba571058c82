"""Prints a Markdown report over data/sales.sql. Input: {"month": "2025-03"} or {"region": "north"}."""

import json
import pathlib
import sqlite3
import sys

QUERY = "SELECT {by}, SUM(units), SUM(cents) FROM sales WHERE {of} = ? GROUP BY {by} ORDER BY {by}"


def main():
    request = json.load(sys.stdin)
    of, by = ("month", "region") if "month" in request else ("region", "month")
    database = sqlite3.connect(":memory:")
    database.executescript(pathlib.Path("data/sales.sql").read_text(encoding="utf-8"))
    rows = database.execute(QUERY.format(of=of, by=by), [request[of]]).fetchall()
    if not rows:
        sys.exit(f"report: no sales for {of} {request[of]}")
    most = max(cents for _, _, cents in rows)
    print(f"# Sales of {request[of]}\n")
    print(f"| {by} | units | euro | |")
    print("| --- | ---: | ---: | --- |")
    for name, units, cents in rows:
        print(f"| {name} | {units} | {cents / 100:.2f} | {'█' * round(20 * cents / most)} |")
    print(f"| all | {sum(row[1] for row in rows)} | {sum(row[2] for row in rows) / 100:.2f} | |")


main()
