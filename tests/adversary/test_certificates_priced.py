"""The price of checking a certificate is known before the check begins, and unchecked parts are
named."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from ldp_core.bounds import verify
from ldp_core.designs import certificate_file
from ldp_core.designs.certificate_file import Written
from tests.certificates import columns
from tests.refused import refused


def triangles(n):
    """The largest arrays of a proof by types, which take no memory."""
    triangle = np.lib.stride_tricks.as_strided(np.zeros(1), (n * (n + 1) // 2,), (0,))
    return {"inverse": triangle, "pairs": triangle, "size_multipliers": np.zeros(0)}


def tables(groups, width, shift=1):
    """A document of some kilobytes at most, about so many groups of ``width`` columns each."""
    sizes = [2] * ((groups - 1) * shift + width)
    asked = [{"columns": [*range(k * shift, k * shift + width)], "weight": 1.0} for k in range(groups)]
    workload = {"gram": "tables", "sizes": sizes, "groups": asked}
    return {"kind": "tables", "epsilon": "1", "types": 2 ** len(sizes), "prior": "even", "workload": workload}


SMALL = {
    "many sets of columns": (tables(20, 20), {}),
    "more columns than any": (tables(1, 40), {}),
    "sets of many columns": (tables(7, 20, 20), {}),
    "parts of sets of columns": (
        {"kind": "strata", "parts": [{**tables(2, 19), "arrays": place} for place in range(12)]},
        {"which": np.zeros(1)},
    ),
    "numbers of one question for other types": (
        {"kind": "question", "types": 4096, "workload": {"gram": "histogram"}},
        dict.fromkeys(("direction", "alpha", "beta"), np.zeros(3)),
    ),
    "more types than numbers": ({"kind": "general", "types": 4096, "workload": {"gram": "histogram"}}, triangles(3)),
}


@pytest.mark.parametrize(("document", "data"), SMALL.values(), ids=SMALL)
def test_small_files_that_cost_much_are_refused_before_they_are_looked_at(document, data, monkeypatch):
    assert len(json.dumps(document)) + sum(array.nbytes for array in data.values()) < 10_000
    for name in ("by_kind", "by_set", "gram", "subsets"):
        monkeypatch.setattr(verify, name, lambda *_: pytest.fail("it was begun"))
    refused(r"longer to check than the 5 seconds allowed|do not belong together", verify.proven, document, data)


def test_what_a_small_file_may_cost_is_paid_in_seconds_and_half_a_gigabyte():
    """Seven tables of twenty columns: an honest file of a kilobyte."""
    document = tables(7, 20)
    assert verify.price(document, {}) <= verify.allowed({}) <= 5e6
    tracemalloc.start()
    proved = verify.proven(document, {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500e6
    # sums over sizes of overlaps: a set of s columns whose last one comes m columns after the first is in 7 - max(0, m - 13) ... groups
    d = {0: 7.0 / 2**20}
    root = sum(
        len(range(max(0, last - 19), min(first, 6) + 1)) ** 0.5 * (2 ** (last - first - 1) if last > first else 1)
        for first in range(26)
        for last in range(first, min(first + 20, 26))
    )
    ratio = np.sinh(0.5) ** 2
    exact = 2.0**26 * (d[0] + root**2 / 2**20 / ratio)
    assert 1 - 1e-9 < proved / exact < 1


def test_what_takes_long_is_refused_before_it_is_begun(monkeypatch):
    """Only the number of numbers is examined."""
    monkeypatch.setattr(verify, "by_kind", lambda *_: pytest.fail("it was begun"))
    part = {"kind": "general", "types": 2048}
    document = {"kind": "strata", "parts": [{**part, "arrays": place} for place in range(20)]}
    data = {f"{place}.{name}": array for place in range(20) for name, array in triangles(2048).items()}
    data["which"] = np.arange(20.0)
    for about, content in ((document, data), ({"kind": "classes"}, {"cut_multipliers": np.zeros(50_000)})):
        refused("longer to check than the 40 seconds allowed", verify.proven, about, content)


@pytest.mark.parametrize("shape", [(2,) * 16, (2,) * 20, (3, 3, 8), (65,)])
def test_a_cut_of_many_numbers_is_refused_before_its_square_is_made(shape):
    cut = np.lib.stride_tricks.as_strided(np.zeros(1), shape, (0,) * len(shape))
    bits = sum(shape) - len(shape)
    document = {"kind": "classes", "types": 2**bits, "workload": {"gram": "classes", "bits": bits}}
    refused("at most 64 numbers", verify.price, document, {"cut_multipliers": np.zeros(1), "cut0": cut})


def test_the_script_names_what_it_did_not_check(tmp_path):
    """A larger bound beside the one that holds proves nothing."""
    found = columns([3, 2, 4, 2], 3.0)
    written = certificate_file.write(found, "3")
    document = json.loads(written.document)
    document["stronger"]["value"] = 1e12
    lying = Written(json.dumps(document).encode(), written.arrays)
    refused("cannot be used", certificate_file.read, lying, found.workload, "3")
    for name, content in lying.members.items():
        (tmp_path / name).write_bytes(content)
    done = subprocess.run([sys.executable, "-I", tmp_path / "verify.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Not checked here")
    assert last.endswith("says under stronger and proof.")
