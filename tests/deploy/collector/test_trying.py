"""Simulated reports: everyone once, accepted as they are, and marked."""

import io

import numpy as np
import pandas as pd
import pytest
from test_collect_files import BUILT, DESIGN

from ldp_core import limits
from ldp_core.deploy import collector
from ldp_core.deploy.collector import trying
from ldp_core.people import Records


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


def test_a_thousand_million_people_are_no_more_than_many():
    content = collector.simulated(BUILT["number"], DESIGN, np.full(5, 2 * 10**8))
    assert content.count(b"\n") == limits.MOST_DRAWN_PEOPLE + 1
