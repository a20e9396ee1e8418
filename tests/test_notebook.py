"""The display of the main objects in a notebook, and the answer to a name that does not exist."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import pictures
from ldp_core.optimize import SearchLimits, strategies

PREFIX = ldp.workloads.prefix(8)
OPTIMIZED = ldp.optimize.design(PREFIX, epsilon=1.0, time_limit=None, max_rounds=3)
REPORTS = ldp.mechanisms.Reports("ab" * 32, 1200, (np.zeros(3), np.zeros(4)))
COUNTS = np.arange(8)
CHOSEN = {name: ldp.mechanisms.create(name, n=8, epsilon=1.0) for name in ("oue", "hadamard")}
OUTCOMES = ldp.studies.outcomes.compare(CHOSEN, PREFIX, COUNTS, list("abcdefgh"), 2, 0, ("unbiased", "wnnls"))


def create(name, **parameters):
    return ldp.mechanisms.create(name, workload=PREFIX, epsilon=1.0, **parameters)


def estimate(name, **options):
    mechanism = create("hadamard")
    reports = mechanism.simulate(COUNTS, np.random.default_rng(0))
    return ldp.estimators.apply(name, reports, mechanism, PREFIX, **options)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda: create("optimised"), "mechanism 'optimised'; did you mean 'optimized'"),
        (lambda: create("RAPPOR"), "mechanism 'RAPPOR'; did you mean 'rappor'"),
        (lambda: create("hierarchical", brancing=2), "no parameter 'brancing'; did you mean 'branching'"),
        (lambda: create("haar", branching=2), "no parameter 'branching'; there are none"),
        (lambda: create("hierarchical", oracle="hadamar"), "oracle 'hadamar'; did you mean 'hadamard'"),
        (lambda: create("hierarchical", reconstruction="rau"), "reconstruction 'rau'; did you mean 'raw'"),
        (lambda: create("oue", reconstruction="optimum"), "reconstruction 'optimum'; did you mean 'optimal'"),
        (lambda: create("hrr", reconstruction="transforms"), "reconstruction 'transforms'; did you mean 'transform'"),
        (lambda: create("gaussian", calibration="analytical"), "calibration 'analytical'; did you mean 'analytic'"),
        (lambda: create("rejection_gaussian", variant="correct"), "variant 'correct'; did you mean 'corrected'"),
        (lambda: create("optimized", target="worst"), "target 'worst'; did you mean 'worst_case'"),
        (lambda: ldp.workloads.on_types("prefixes", 8), "workload 'prefixes'; did you mean 'prefix'"),
        (lambda: ldp.workloads.on_types("width_range", 8, widht=2), "no parameter 'widht'; did you mean 'width'"),
        (lambda: ldp.workloads.from_spec({"kind": "all-range", "n": 8}), "'all-range'; did you mean 'all_range'"),
        (lambda: ldp.workloads.from_spec({"kind": "prefix", "N": 8}), "no parameter 'N'; did you mean 'n'"),
        (lambda: estimate("posterior", drows=300), "Posterior mean has no parameter 'drows'; did you mean 'draws'"),
        (lambda: estimate("wnnls", max_rounds=3), "no parameter 'max_rounds'; there are none"),
        (lambda: ldp.estimators.spec("wnls"), "estimator 'wnls'; did you mean 'wnnls'"),
        (
            lambda: ldp.studies.planning.plan(PREFIX, ["haar"], 1.0, 9, case="worst"),
            "'worst'; did you mean 'worst_case'",
        ),
        (lambda: ldp.studies.sweep.epsilons([], PREFIX, [1.0], bounds=["svt"]), "bound 'svt'; did you mean 'svd'"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest_one(ask, answer):
    with pytest.raises(ValueError, match=answer):
        ask()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (PREFIX, "<prefix workload: 8 queries on 8 types>"),
        (ldp.workloads.width_range(100, 3), "<width_range workload: 297 queries on 100 types, width 3>"),
        (ldp.workloads.k_way_marginals([2, 3, 4], 2), "<k_way_marginals workload: 26 queries on 24 types, k 2>"),
        (ldp.workloads.union([PREFIX] * 40), "<union workload: 320 queries on 8 types, 40 parts>"),
        (ldp.workloads.product([PREFIX] * 3), "<product workload: 512 queries on 512 types, 3 factors>"),
        (ldp.workloads.custom(np.ones((3, 500))), "<custom workload: 3 queries on 500 types>"),
        (
            ldp.mechanisms.create("hierarchical", n=64, epsilon=0.5),
            "<hierarchical mechanism: 64 types, epsilon 0.5, branching 4, oracle hadamard, reconstruction optimal>",
        ),
        (create("gaussian"), "<gaussian mechanism: 8 types, epsilon 1, delta 1e-06, calibration analytic>"),
        (create("optimized", max_rounds=3), "<optimized mechanism: 8 types, epsilon 1, seed 0, rounds 3>"),
        (REPORTS, "<Reports: 1,200 users, 7 numbers, mechanism abababab>"),
        (REPORTS + REPORTS, "<Reports: 2,400 users, 7 numbers, mechanism abababab>"),
        (
            ldp.mechanisms.Estimate(np.full(8, 2.5), unbiased=False),
            "<Estimate: 8 types, 20 users, biased>",
        ),
    ],
)
def test_one_line_tells_what_a_thing_is(value, text):
    assert repr(value) == text


def test_designs_and_certificates_tell_their_figures():
    rows, figure = len(OPTIMIZED.strategy), f"{OPTIMIZED.objective:.6g}"
    assert repr(OPTIMIZED) == (
        f"<Optimized: {rows} x 8 strategy, epsilon 1, objective {figure}, 3 rounds, stopped: rounds>"
    )
    worst = ldp.optimize.worst_case_design(PREFIX, 1.0, SearchLimits(time_limit=None, max_rounds=2))
    assert repr(worst).startswith(f"<WorstCaseOptimized: {len(worst.strategy)} x 8 strategy, epsilon 1, objective ")
    orbits = ldp.optimize.design_orbits(
        ldp.workloads.all_marginals(3), 1.0, SearchLimits(time_limit=None, max_rounds=1)
    )
    assert repr(orbits).startswith(f"<OrbitDesign: {len(orbits.high)} base rows on 8 types, epsilon 1, objective ")
    for workload in (PREFIX, ldp.workloads.histogram(8)):
        proof = ldp.bounds.certificate(workload, 1.0, time_limit=0)
        name = type(proof).__name__
        assert repr(proof) == f"<{name}: lower bound {proof.value:.6g}, epsilon 1, {workload!r}>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            ldp.simulate.collect(CHOSEN["oue"], PREFIX, COUNTS * 100, 3, estimators=["unbiased", "wnnls"]),
            "<Trials: 3 trials of 2,800 users by oue, 8 queries, 2 estimators>",
        ),
        (OUTCOMES, "<Outcomes: 2 trials, 2 mechanisms, 2 estimators, groups by running total>"),
        (
            ldp.studies.outcomes.query_groups(ldp.workloads.all_range(8)),
            "<Groups: 36 queries in 8 groups by types in the range>",
        ),
        (
            ldp.studies.outcomes.scales_of(
                PREFIX, [ldp.workloads.Axis("age", list("abcdefgh"), ordinary=8, ordered=True, edges=range(9))]
            )[0],
            "<Scale: 8 values of age, in age>",
        ),
        (
            ldp.studies.planning.recommend(PREFIX, 1.0, candidates=["oue", "hadamard"]),
            "<Recommendation: oue of 2 mechanisms>",
        ),
        (
            ldp.studies.planning.recommend(PREFIX, 1.0, candidates=["optimized"]),
            "<Recommendation: none of 1 mechanism>",
        ),
        (ldp.studies.sweep.epsilons(["oue", "fourier"], ldp.workloads.prefix(6)), "<Sweep: 40 points, 10 left out>"),
        (ldp.studies.sweep.SweepPoint("oue", PREFIX, 0.5), f"<SweepPoint: oue, epsilon 0.5, {PREFIX!r}>"),
        (
            ldp.studies.sweep.outcome_of(CHOSEN["oue"], PREFIX, "given"),
            "<Outcome: variance 40.8558 in the worst case, 39.9808 on average, given>",
        ),
        (ldp.studies.sweep.Outcome(reason="It " + "cannot. " * 50), f"<Outcome: It {'cannot. ' * 9}cann…>"),
        (ldp.analysis.average_case(500), "Case(name='average')"),
    ],
)
def test_what_studies_return_takes_one_line(value, text):
    assert repr(value) == text
    assert len(text) <= 100


def test_matrix_strategies_and_intervals_tell_their_figures():
    found = strategies.optimal_l2(PREFIX, max_rounds=5)
    figures = f"error {found.error:.6g}, bound {found.bound:.6g}, {found.rounds} rounds, stopped: {found.stopped}"
    assert repr(found) == f"<StrategyDesign: {len(found.strategy)} x 8 strategy, {figures}>"
    answer = CHOSEN["hadamard"].estimate(CHOSEN["hadamard"].simulate(COUNTS, np.random.default_rng(0)))
    found = ldp.estimators.intervals(CHOSEN["hadamard"], PREFIX, answer)
    number = {method: (found.methods == method).sum() for method in np.unique(found.methods)}
    assert repr(found) == f"<Intervals: 8 answers ({', '.join(f'{k} {method}' for method, k in number.items())})>"
    none = ldp.estimators.intervals(CHOSEN["hadamard"], PREFIX, answer, queries=np.zeros(0, dtype=int))
    assert repr(none) == "<Intervals: 0 answers>"


@pytest.mark.parametrize("name", [name for name, spec in ldp.library.REGISTRY.items() if not spec.surveys_only])
def test_every_mechanism_its_reports_and_its_estimate_take_one_line(name):
    fast = {"max_rounds": 1} if ldp.library.spec(name).fitted else {}
    told = {"shape": (2, 4)} if name == "hierarchical_2d" else {}
    mechanism = create(name, **fast, **told)
    reports = mechanism.simulate(COUNTS * 100, np.random.default_rng(0))
    for value in (mechanism, reports, mechanism.estimate(reports)):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 160
    assert repr(mechanism).startswith(f"<{name} mechanism: 8 types, epsilon 1")


def test_a_domain_names_its_attributes():
    attributes = [ldp.data.domain.CategoricalAttribute(name=f"a{i}", values=("x", "y", "z")) for i in range(30)]
    assert repr(ldp.data.domain.Domain(attributes=attributes[:2])) == "<Domain: a0 (3) x a1 (3), 9 types>"
    long = repr(ldp.data.domain.Domain(attributes=attributes))
    assert long == "<Domain: a0 (3) x a1 (3) x a2 (3) x a3 (3) and 26 more, 205,891,132,094,649 types>"
    assert str(ldp.data.domain.Domain(attributes=attributes)) == long


def pixels(page):
    """(height, width) brightness from 0 to 255 of the picture in ``page``, read by the rules of PNG."""
    content = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', page)[1])
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    place, chunks = 8, {}
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        data = content[place + 8 : place + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", content[place + 8 + length : place + 12 + length])[0]
        chunks[kind], place = data, place + 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()  # no filter
    return rows[:, 1:]


def test_the_picture_of_a_workload_is_its_matrix():
    seen = pixels(PREFIX._repr_html_())
    assert np.array_equal(seen, np.where(PREFIX.matrix > 0, 0, 255))
    parity = ldp.workloads.parity(2)  # from -1 to 1
    assert np.array_equal(pixels(parity._repr_html_()), np.where(parity.matrix > 0, 0, 255))


def test_larger_workloads_are_averaged_and_very_large_ones_thinned():
    page = ldp.workloads.prefix(192)._repr_html_()
    blocks = ldp.workloads.prefix(192).matrix.reshape(96, 2, 96, 2).mean(axis=(1, 3))
    assert np.array_equal(pixels(page), np.rint(255 * (1 - blocks)))
    assert "192 queries on 192 types&gt; · queries (rows)" in page
    page = ldp.workloads.prefix(2**12)._repr_html_()
    assert "4,096 types&gt; · 96 of 4,096 queries (rows)" in page
    kept = np.unique(np.linspace(0, 2**12 - 1, 96).astype(int))
    rows = ldp.workloads.prefix(2**12).rows(kept)
    assert np.all(pixels(page)[rows.all(axis=1)] == 0)
    assert np.all(np.diff((pixels(page) < 128).sum(axis=1)) >= 0)


def test_the_picture_of_a_strategy_is_its_commonest_reports_by_their_odds():
    strategy = np.array([[0.1, 0.2, 0.1], [0.6, 0.3, 0.3], [0.3, 0.5, 0.6]])
    mechanism = ldp.mechanisms.ExplicitMechanism('<b onload="x">&', strategy, 1.0)
    page = mechanism._repr_html_()
    assert "&lt;b onload=&quot;x&quot;&gt;&amp;" in page
    assert "<b " not in page
    middle = round(255 * (1 - np.log(5 / 3) / np.log(2)))
    assert pixels(page).tolist() == [[0, 255, 255], [255, 0, 255], [255, middle, 0]]


@pytest.mark.parametrize(
    "value",
    [
        ldp.workloads.all_range(300),
        ldp.workloads.custom(np.random.default_rng(0).normal(size=(300, 300))),
        ldp.workloads.prefix(2**16),
        ldp.mechanisms.ExplicitMechanism(
            "noise", (lambda x: x / x.sum(axis=0))(np.random.default_rng(0).uniform(1, 2, (500, 300))), 1.0
        ),
        OPTIMIZED,
    ],
    ids=["ranges", "random", "large", "strategy", "design"],
)
def test_pictures_are_small(value):
    page = value._repr_html_()
    assert len(page) < 20_000
    assert max(pixels(page).shape) <= pictures.SIDE


def test_what_would_take_too_large_rows_has_no_picture():
    assert ldp.workloads.prefix(2**22)._repr_html_() is None
