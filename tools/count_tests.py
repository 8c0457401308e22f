#!/usr/bin/env python3
"""Counts the single tests of a Meson test log: "N passed, N failed"."""

import json
import re
import sys

# cmocka 1.1.5 writes "[  FAILED  ] 2 test(s)", later ones put the group's name
# before the number.
TOTAL = re.compile(
    r"^\[  (PASSED|SKIPPED|FAILED) +\] (?:.*: )?(\d+) test\(s\)", re.MULTILINE)


def count(test):
    """Returns (passed, failed, skipped) of one entry of the log."""
    output = test.get("stdout", "") + "\n" + test.get("stderr", "")
    totals = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
    matches = TOTAL.findall(output)
    for word, number in matches:
        totals[word] += int(number)
    # A test that is no cmocka program counts as one.
    if not matches and test["result"] in ("OK", "EXPECTEDFAIL"):
        totals["PASSED"] = 1
    elif not matches and test["result"] == "SKIP":
        totals["SKIPPED"] = 1
    # A crash, a time-out or a wrapper's finding leaves no total behind.
    elif (test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")
          and totals["FAILED"] == 0):
        totals["FAILED"] = 1
    return totals["PASSED"], totals["FAILED"], totals["SKIPPED"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: count_tests.py meson-logs/testlog.json")
    passed = failed = skipped = 0
    try:
        with open(sys.argv[1], encoding="utf-8") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except OSError as error:
        print(f"count_tests.py: no test log: {error}", file=sys.stderr)
        tests = []
    for test in tests:
        counts = count(test)
        passed += counts[0]
        failed += counts[1]
        skipped += counts[2]
        if counts[1]:
            print(f"failed: {test['name']} ({test['result']}, "
                  f"{counts[1]} of {sum(counts)})")
        elif counts[2]:
            print(f"skipped: {test['name']} ({counts[2]} of {sum(counts)})")
    sys.stdout.flush()
    line = f"{passed} passed, {failed} failed"
    print(line + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
