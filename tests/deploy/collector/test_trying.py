"""Simulated reports: everyone once, accepted as they are, and marked."""

import io

import numpy as np
import pandas as pd
import pytest
from test_collect_files import BUILT, DESIGN

from ldp_core import limits
from ldp_core.deploy import collector
from ldp_core.deploy.collector import trying
from ldp_core.people import Counted, Records


def people(name):
    """Counts of 500 people in a few types, or records of them."""
    sizes, rng = BUILT[name].sizes, np.random.default_rng(1)
    if BUILT[name].survey is None:
        return np.bincount(rng.integers(BUILT[name].n, size=500), minlength=BUILT[name].n)
    return Records(rng.integers(sizes, size=(500, len(sizes))), sizes)


@pytest.mark.parametrize("name", BUILT)
def test_simulated_reports_are_counted_and_say_that_they_are_simulated(name):
    content = collector.simulated(BUILT[name], DESIGN, people(name), seed=3)
    found = collector.collect((trying.SIMULATED, content), BUILT[name], DESIGN)
    assert (found.users, found.refused, found.repeated) == (500, {}, 0)
    table = pd.read_csv(io.BytesIO(content), dtype=str)
    assert set(table["simulated"]) == {"yes"}
    assert collector.simulated(BUILT[name], DESIGN, people(name), seed=3) == content
    assert collector.simulated(BUILT[name], DESIGN, people(name), seed=4) != content


@pytest.mark.parametrize("kind", ["counts", "counted", "records", "weighted"])
def test_everybody_takes_part_once_and_of_too_many_some_do(kind):
    mechanism = BUILT["number" if kind == "counts" else "sets"]
    sizes = (5,) if kind == "counts" else mechanism.sizes
    counts = np.arange(np.prod(sizes)) * 3
    codes = np.stack(np.unravel_index(np.arange(len(counts)), sizes), axis=1)
    who = {
        "counts": counts,
        "counted": Counted(counts, sizes),
        "records": Records(np.repeat(codes, counts, axis=0), sizes),
        "weighted": Records(codes, sizes, counts),
    }[kind]

    def drawn(most):
        values = trying._people(mechanism, who, np.random.default_rng(0), most)
        types = values if kind == "counts" else np.ravel_multi_index(tuple(values.T), sizes)
        return np.bincount(types, minlength=len(counts))

    assert np.array_equal(drawn(10**6), counts)
    some = drawn(int(counts.sum()) - 1)
    assert some.sum() == counts.sum() - 1
    assert (some <= counts).all()


def test_a_thousand_million_people_are_no_more_than_many():
    content = collector.simulated(BUILT["number"], DESIGN, np.full(5, 2 * 10**8))
    assert content.count(b"\n") == limits.MOST_DRAWN_PEOPLE + 1
