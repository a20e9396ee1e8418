"""One vocabulary: every estimator on every mechanism and workload either works or says why not."""

import numpy as np
import pytest

from ldp_core import estimators, library, mechanisms, workloads
from ldp_core.mechanisms.base import Estimate
from tests.refused import refused

COUNTS = np.array([300, 0, 40, 0, 900, 10, 0, 50])
WORKLOADS = [workloads.histogram(8), workloads.all_range(8), workloads.k_way_marginals(3, 1)]
VARIANTS = {
    "hierarchical": [{}, {"reconstruction": "raw"}, {"reconstruction": "consistent", "oracle": "oue"}],
    "hierarchical_2d": [{"shape": (2, 4), "oracle": oracle} for oracle in ("oue", "hrr")],
    "hrr": [{}, {"reconstruction": "transform"}],
    "oue": [{}, {"reconstruction": "standard"}],
    "matrix_l1": [{"max_rounds": 2}],
    "optimized": [{"max_rounds": 2, "time_limit": None}],
    "optimized_gradient": [{"max_rounds": 2}],
    "fourier": [{}, {"max_weight": 1}],
}
OPTIONS = {"posterior": {"draws": 100, "burn_in": 0}}


def built(workload):
    answering = [name for name in library.names() if library.spec(name).unsuitable(8, 1.0, workload) is None]
    for name in answering:
        fitted = {"workload": workload} if library.spec(name).needs_workload else {"n": 8}
        for parameters in VARIANTS.get(name, [{}]):
            yield mechanisms.create(name, epsilon=1.0, **fitted, **parameters)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_every_estimator_works_or_says_why_not(workload):
    used = set()
    for mechanism in built(workload):
        reports = mechanism.simulate(COUNTS, np.random.default_rng(0))
        for name in estimators.names():
            entry = estimators.spec(name)
            options = OPTIONS.get(name, {})
            reason = entry.unsuitable(mechanism, workload)
            if reason is None:
                used.add(name)
                found = estimators.apply(name, reports, mechanism, workload, **options)
                assert isinstance(found, Estimate)
                assert found.unbiased == entry.unbiased
                assert found.answers(workload).shape == (workload.num_queries,)
                assert np.all(np.isfinite(found.answers(workload)))
                if name in ("wnnls", "wnnls_total", "norm_sub", "mle", "ems", "posterior"):
                    assert found.estimated_counts.min() >= 0
                if name in ("wnnls_total", "norm_sub", "mle", "ems", "posterior"):
                    assert found.estimated_counts.sum() == pytest.approx(COUNTS.sum())
            else:
                assert reason[0].isupper()
                assert reason.endswith(".")
                said = refused(r".", estimators.apply, name, reports, mechanism, workload, **options)
                assert said == reason
    assert used == set(estimators.names())


def test_what_the_mechanism_cannot_answer_no_estimator_can():
    mechanism, workload = mechanisms.create("fourier", 8, 1.0, max_weight=1), workloads.histogram(8)
    for name in estimators.names():
        assert "cannot answer" in estimators.spec(name).unsuitable(mechanism, workload)
    other = workloads.prefix(5)
    for name in estimators.names():
        assert "8 types, the workload 5" in estimators.spec(name).unsuitable(mechanism, other)


@pytest.mark.crossed
@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize("oracle", ["oue", "hrr"])
def test_consistency_turns_raw_trees_into_consistent_ones(branching, oracle):
    options = {"branching": branching, "oracle": oracle}
    raw = mechanisms.create("hierarchical", 11, 1.0, reconstruction="raw", **options)
    tidy = mechanisms.create("hierarchical", 11, 1.0, reconstruction="consistent", **options)
    workload, counts = workloads.all_range(11), np.arange(11) * 10
    reports = raw.simulate(counts, np.random.default_rng(5))
    found = estimators.apply("consistency", reports, raw, workload)
    same = tidy.estimate(tidy.simulate(counts, np.random.default_rng(5)))
    assert found.counts() == pytest.approx(same.counts())
    assert found.unbiased
    assert found.counts().sum() == pytest.approx(counts.sum())
    assert found.ranges(np.array([2]), np.array([7])) == pytest.approx(found.counts()[2:8].sum())


@pytest.mark.crossed
@pytest.mark.parametrize("make", [workloads.prefix, workloads.all_range, lambda n: workloads.width_range(n, 4)])
@pytest.mark.parametrize("users", [50, 5000])
def test_raw_answers_are_projected_as_they_are(make, users):
    """Raw ranges are not the answers of any counts: what is projected are the answers, so errors never grow."""
    workload, rng = make(11), np.random.default_rng(1)
    mechanism = mechanisms.create("hierarchical", 11, 1.0, reconstruction="raw", branching=3, oracle="oue")
    for _ in range(25):
        counts = rng.multinomial(users, rng.dirichlet(np.full(11, 0.3)))
        reports = mechanism.simulate(counts, rng)
        raw = mechanism.estimate(reports)
        fitted, *_ = np.linalg.lstsq(workload.matrix, raw.answers(workload))
        assert raw.fitted(workload) == pytest.approx(fitted, abs=1e-6 * np.abs(fitted).max())
        before = raw.squared_error(workload, counts)
        for name in ("wnnls", "wnnls_total", "polytope"):
            found = estimators.apply(name, reports, mechanism, workload)
            assert found.squared_error(workload, counts) <= before * (1 + 1e-9)


def test_reports_of_another_mechanism_are_refused():
    one, other = (mechanisms.create("hadamard", 8, epsilon) for epsilon in (1.0, 2.0))
    reports = one.simulate(COUNTS, np.random.default_rng(0))
    for name in ("unbiased", "wnnls", "mle", "posterior"):
        refused("another mechanism", estimators.apply, name, reports, other, WORKLOADS[0])


def test_large_domains_are_refused_where_it_would_take_minutes():
    workload = workloads.prefix(2**17)
    mechanism = mechanisms.create("haar", 2**17, 1.0)
    for name, words in (
        ("mle", "at most 65,536 types"),
        ("ems", "at most 65,536 types"),
        ("posterior", "at most 65,536"),
        ("polytope", "at most 4,096"),
    ):
        assert words in estimators.spec(name).unsuitable(mechanism, workload)
    for name in ("unbiased", "wnnls", "wnnls_total", "norm_sub"):
        assert estimators.spec(name).unsuitable(mechanism, workload) is None
    raw = mechanisms.create("hierarchical", 2**17, 1.0, reconstruction="raw")
    assert "counts are fitted to them" in estimators.spec("wnnls").unsuitable(raw, workloads.all_range(2**17))
    assert estimators.spec("wnnls").unsuitable(raw, workload) is None
