"""For all tests: nothing is decided by how fast the machine is, and the same examples are tried everywhere."""

import gc
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}

# The default run is the same on every machine. To look further:  bash tests/run.sh --hypothesis-profile=search
# What it finds is printed with the seed and a line that repeats it.
settings.register_profile("repeatable", derandomize=True, max_examples=50, **PATIENT)
settings.register_profile("search", max_examples=100, **PATIENT)
settings.load_profile("repeatable")

LONG = {
    "survive_browser",
    "accessibility_browser",
    "frame_browser",
    "server_keeps_nothing",
    "journey",
    "workshop_browser",
    "hostile_names_browser",
}
"""Files with few tests of which each takes as long as many others."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Files with many tests are begun first, then those that are long though they have few, so that of two processes that share the
    files neither is left alone with a long one at the end."""
    tests = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (-max(tests[item.path], 5.5 * (item.path.stem.removeprefix("test_") in LONG)), item.path)
    )


def pytest_collection_finish():
    """What was loaded to collect the tests stays until the end: no use looking through it for garbage again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()
