"""Settings of all tests: nothing depends on the speed of the machine, and the same examples are
tried everywhere."""

import atexit
import gc
import importlib
import os
import pkgutil
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from ldp_core import run

PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}

# The default run and that of CI are the same on every machine. To look further:  bash tests/run.sh --hypothesis-profile=search
# What it finds is printed with a line that repeats it.
settings.register_profile("repeatable", derandomize=True, max_examples=20, **PATIENT)
settings.register_profile("thorough", derandomize=True, max_examples=100, **PATIENT)
settings.register_profile("search", max_examples=1000, **PATIENT)
settings.load_profile("thorough" if os.environ.get("CI") else "repeatable")

LONG = {
    name: float(seconds)
    for seconds, name in map(str.split, (Path(__file__).parent / "long.txt").read_text().splitlines())
}
"""Test functions of 0.3 s of CPU or more over all their cases, and their seconds: `measure.py` lists them. `run.sh` leaves them out unless
CI is set; of those marked ``promise``, it runs as many cases as `PROMISED` seconds hold, and at least one."""
PROMISED = 1.0
QUICK = 0.04
"""Seconds of a case of all others, about."""

NUMBERS = {"beliefs", "bounds", "designs", "estimators", "mechanisms", "optimize", "papers", "studies", "workloads"}
"""Folders whose tests compare what searches and proofs come to."""


def pytest_configure(config):
    """One process reads the tests from the end: each finds half of them compiled by the others."""
    if getattr(config, "workerinput", {}).get("workerid") == "gw1" and config.args == config.getini("testpaths"):
        files = (path for path in Path(__file__).parent.iterdir() if path.is_dir() or path.match("test_*.py"))
        config.args = [str(path) for path in sorted(files, reverse=True) if path.name != "__pycache__"]


class OneBrowser(LoadFileScheduling):
    """One process runs all files with a browser: it has the one server and the one Chromium."""

    def _split_scope(self, nodeid):
        return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return OneBrowser(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Files that take long begin first, so that no process is left alone with one at the end; before all others those with a browser:
    while one process waits for it, the others compute."""
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    leave_repetitions(items)
    leave_long(items)
    yield  # what was not asked for is left out
    seconds = Counter[Path]()
    for item in items:
        name = item.nodeid.partition("[")[0]
        seconds[item.path] += LONG.get(name, cases[name] * QUICK) / cases[name]
    items.sort(key=lambda item: (item.path.parent.name != "browser", -seconds[item.path], item.path))


def leave_long(items):
    """Marks what is left out by default because it takes long."""
    cases = defaultdict(list)
    for item in items:
        if (name := item.nodeid.partition("[")[0]) in LONG and not item.get_closest_marker("slow"):
            cases[name].append(item)
    for name, many in cases.items():
        taken = max(1, int(len(many) * PROMISED / LONG[name])) if many[0].get_closest_marker("promise") else 0
        run = {place * len(many) // taken for place in range(taken)}
        for place, item in enumerate(many):
            if place not in run:
                item.add_marker(pytest.mark.long)


def leave_repetitions(items):
    """Tests marked ``crossed`` keep by default only as many cases as cover each value of each
    parameter, along the diagonal of their product; the others become slow."""
    crossed = defaultdict(list)
    for item in items:
        if item.get_closest_marker("crossed") and not item.get_closest_marker("slow"):
            crossed[item.nodeid.partition("[")[0]].append(item)
    for cases in crossed.values():
        taken = [{name: id(value) for name, value in item.callspec.params.items()} for item in cases]
        values = {name: list(dict.fromkeys(one[name] for one in taken)) for name in taken[0]}
        most, seen = max(map(len, values.values())), set()
        diagonal = [{name: known[step % len(known)] for name, known in values.items()} for step in range(most)]
        for item, one in sorted(zip(cases, taken, strict=True), key=lambda case: case[1] not in diagonal):
            if one.items() <= seen:
                item.add_marker(pytest.mark.slow)
            seen |= one.items()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Objects loaded to collect the tests stay until the end: searching them for garbage is
    useless, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)


class Clock:
    """Every look at it takes ``step`` seconds."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def perf_counter(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Time limits are tested by looks at the clock, however fast the machine is."""
    monkeypatch.setattr(run, "time", made := Clock(step=1.0))
    return made


@pytest.fixture
def no_hurry(monkeypatch):
    """Time stands still: what has a limit in seconds goes on until it has converged or done its rounds."""
    monkeypatch.setattr(run, "time", Clock(step=0.0))


@pytest.fixture(scope="module", autouse=True)
def untimed(request):
    """Searches and proofs of these folders may not stop by the clock of the machine, nor by a default limit. What they come to by then
    depends on how fast and how busy the machine is. Tests about time limits ask for ``clock``; tests of what always has one, for ``no_hurry``."""
    if request.path.relative_to(Path(__file__).parent).parts[0] not in NUMBERS:
        yield
        return
    begin = run.Budget.__init__

    def begin_untimed(budget, time_limit=None, *others, **named):
        begin(budget, time_limit, *others, **named)
        if time_limit is not None and run.time is time:
            pytest.fail(
                f"A limit of {time_limit} seconds: give rounds or time_limit=None, or ask for `clock` or `no_hurry`."
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run.Budget, "__init__", begin_untimed)
        yield


@pytest.fixture
def lower(monkeypatch):
    """Sets a limit of `ldp_core.limits` in every module that imported it: ``lower(MOST_FITTED_TYPES=16)``."""
    for package in map(importlib.import_module, ("ldp_core", "pages.ui")):
        # A module that is first imported below a lowered limit would keep it.
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)

    def set_everywhere(**values):
        ours = [module for name, module in sys.modules.items() if name.startswith(("ldp_core", "pages"))]
        for name, value in values.items():
            holders = [module for module in ours if name in vars(module)]
            assert holders, f"No module has a limit {name}."
            for module in holders:
                monkeypatch.setattr(module, name, value)

    return set_everywhere
