"""Measures every test in seconds of CPU, with its child processes, and writes the list of long ones:

    .venv-tests/bin/python tests/measure.py            # everything, an hour; rewrites tests/long.txt
    .venv-tests/bin/python tests/measure.py FILES...   # these files or folders, whose lines are rewritten

A test function counts as a whole, over all its cases: what is tried a hundred times is a repetition, however quick one is.
"""

import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

TESTS = Path(__file__).parent
LIST = TESTS / "long.txt"
LONG = 0.3
"""Seconds of CPU from which a test function is long."""


class Meter:
    """The seconds of each test function."""

    def __init__(self):
        self.seconds, self.last, self.process = Counter(), 0.0, psutil.Process()

    def used(self):
        """Seconds of this process and of all below it, ended or not."""
        total = 0.0
        for process in (self.process, *self.process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def pytest_collection_finish(self):
        self.last = self.used()

    def pytest_runtest_logfinish(self, nodeid):
        now = self.used()
        self.seconds[nodeid.partition("[")[0]] += now - self.last
        self.last = now


def main(paths):
    meter = Meter()
    code = pytest.main([*paths, "-p", "no:cacheprovider"], plugins=[meter])
    kept = dict(reversed(line.split()) for line in LIST.read_text().splitlines())
    measured = {name.partition("::")[0] for name in meter.seconds}
    long = {name: seconds for name, seconds in kept.items() if paths and name.partition("::")[0] not in measured}
    long |= {name: f"{seconds:.1f}" for name, seconds in meter.seconds.items() if seconds >= LONG}
    LIST.write_text("".join(f"{seconds:>5} {name}\n" for name, seconds in sorted(long.items())))
    for name, seconds in meter.seconds.most_common(30):
        print(f"{seconds:7.1f} {name}")
    print(f"{sum(meter.seconds.values()):7.1f} all {len(meter.seconds)} functions")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
