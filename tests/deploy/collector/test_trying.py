"""Simulated reports: everyone once, accepted as they are, and marked."""

import io

import numpy as np
import pandas as pd
import pytest
from test_collect_files import BUILT, DESIGN

from ldp_core import limits, workloads
from ldp_core.deploy import collector
from ldp_core.deploy.collector import trying
from ldp_core.people import Records
from ldp_core.studies.simulate import one_collection


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


def test_a_release_is_what_collect_answers_from_one_collection_beside_the_truth():
    workload, counts, mechanism = workloads.prefix(5), np.array([30, 0, 50, 20, 100]), BUILT["number"]
    found = collector.release(mechanism, workload, counts, seed=7)
    reports = mechanism.simulate(counts, np.random.default_rng(np.random.SeedSequence(7)))
    expected = collector.answers(collector.Collection("", reports), mechanism, workload)
    pd.testing.assert_frame_equal(found[expected.columns.tolist()], expected)
    assert found["true"].tolist() == pytest.approx((np.cumsum(counts) / 2).tolist())  # percentage points of 200 people
    assert not found["answer"].equals(collector.release(mechanism, workload, counts, seed=8)["answer"])
    anew = collector.release(mechanism, workload, counts, seed=7, drawn=True)
    people, sent = one_collection(mechanism, counts, np.random.SeedSequence(7), True)
    assert people.tolist() != counts.tolist()
    told = collector.answers(collector.Collection("", sent), mechanism, workload, drawn=True)
    assert (anew["low"].tolist(), anew["true"].tolist()) == (told["low"].tolist(), found["true"].tolist())
