"""The league says what mechanisms and certificates say."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, library, workloads
from ldp_core.papers import league

MAKERS = {"Histogram": workloads.histogram, "Prefix": workloads.prefix, "All Range": workloads.all_range}
QUICK = ("randomized_response", "subset_selection", "olh", "hadamard", "projective_geometry", "haar")


@pytest.fixture(scope="module")
def stored():
    return league.read()


def test_every_mechanism_is_there_wherever_it_can_run(stored):
    there = set(stored[["workload", "epsilon", "name"]].itertuples(index=False, name=None))
    for title, maker in MAKERS.items():
        for epsilon in (0.5, 1.0, 3.0):
            runs = {
                name
                for name in library.names()
                if not library.spec(name).surveys_only and not library.spec(name).unsuitable(64, epsilon, maker(64))
            }
            assert {name for w, e, name in there if (w, e) == (title, epsilon)} == runs | set(league.VARIANTS)
    assert len(there) == len(stored)


@pytest.mark.parametrize("title", MAKERS)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_stored_numbers_are_those_of_mechanisms_and_of_the_closed_bound(stored, title, epsilon):
    workload = MAKERS[title](64)
    place = stored[(stored["workload"] == title) & (stored["epsilon"] == epsilon)].set_index("name")
    for name in (*QUICK, *league.VARIANTS):
        mechanism = library.create(name, 64, epsilon, workload)
        assert analysis.worst_case_variance(mechanism, workload) == pytest.approx(place["variance"][name], rel=1e-8)
    (least,) = set(place["least"])
    assert place["multiple"].to_numpy() == pytest.approx(place["variance"].to_numpy() / least, rel=1e-8)
    assert least >= bounds.worst_case_variance(workload, epsilon) * (1 - 1e-7)  # a proof allows for rounding
    assert place["multiple"].min() >= 1
    assert place["multiple"]["optimized"] < 1.01


def test_the_minimum_is_proved(stored):
    for title, maker in MAKERS.items():
        proof = bounds.worst_case(maker(64), 1.0, time_limit=None)
        assert proof.verify()
        kept = stored[(stored["workload"] == title) & (stored["epsilon"] == 1.0)]["least"]
        assert kept.to_numpy() == pytest.approx(np.full(len(kept), proof.variance), rel=1e-4)


def test_the_table_is_in_order_and_never_flatters(stored):
    told = league.table(stored)
    assert list(told.columns[1:4]) == ["Histogram, 0.5", "Histogram, 1", "Histogram, 3"]
    assert len(told) == stored["name"].nunique()
    assert told["Mechanism"][0] == "Optimised"
    assert told["Mechanism"].iloc[-1] == "Rejection sampling"  # it cannot run at epsilon 3
    assert list(told.iloc[-1] == "").count(True) == 3
    titles = {library.spec(name).title + (" *" if library.spec(name).delta else ""): name for name in stored["name"]}
    assert len(titles) == len(told)
    for column in told.columns[1:]:
        workload, _, epsilon = column.partition(", ")
        place = stored[(stored["workload"] == workload) & (stored["epsilon"] == float(epsilon))].set_index("name")
        for title, text in zip(told["Mechanism"], told[column], strict=True):
            if text:
                exact, shown = place["multiple"][titles[title]], float(text.replace(",", ""))
                assert exact * (1 - 1e-5) <= shown <= exact + max(0.01, 0.01 * exact)
