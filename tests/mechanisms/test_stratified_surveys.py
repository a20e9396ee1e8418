"""Surveys of people of whom the collector knows some columns: in each group the survey of the others, alone."""

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import analysis, bounds, estimators, mechanisms, optimize
from ldp_core.bounds import verify
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.deploy.kit import client, devices
from ldp_core.designs import certificate_file
from ldp_core.mechanisms.surveys.strata import in_strata
from ldp_core.people import Drawn, Records
from ldp_core.workloads import (
    Group,
    Histogram,
    HistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    Predicate,
    PredicatesPart,
    Prefix,
    PrefixPart,
    StratifiedSurvey,
    Survey,
    over_attributes,
)
from tests.deploy.kit.laws import largest_ratio, law
from tests.refused import refused

ROUNDS = {"time_limit": None, "max_rounds": 2}
SHAPE, KNOWN = (2, 3, 2, 2), (1, 3)
LAST_ASKED_MORE = [
    Group((0, 2), Histogram(4)),
    Group((0, 1), Prefix(6), 0.5),
    Group((1,), Histogram(3), 2.0),
]


def columns(*sizes, known=0):
    return [
        CategoricalAttribute(name=f"c{i}", values=tuple(f"{i}.{k}" for k in range(size)), known=i == known)
        for i, size in enumerate(sizes)
    ]


REGION = columns(4, 6, 9, 7, 9)
PAIRS = over_attributes([KWayMarginalsPart(k=2)], REGION)
UNLIKE = over_attributes(
    [
        MarginalsPart(groups=[("c0", "c1"), ("c2", "c3")]),
        PrefixPart(attribute="age", by=("c0",)),
        PredicatesPart(predicates=[Predicate(expression="c0 = '0.1' and c1 = '1.2' and age < 30")]),
        HistogramPart(attribute="c0"),
    ],
    [*columns(2, 6, 9, 7), RangeAttribute(name="age", low=0, high=59, bins=6, integer=True)],
)


@pytest.fixture(scope="module")
def unlike():
    return optimize.design(UNLIKE, 1.0, time_limit=None, max_rounds=2).mechanism()


def people_of(shape, users, seed=0):
    rng = np.random.default_rng(seed)
    return Records(np.stack([rng.binomial(size - 1, 0.4, users) for size in shape], axis=1), shape)


def small():
    """A survey of 24 types with two of four columns known, and a design for each kind of group."""
    workload = StratifiedSurvey(SHAPE, LAST_ASKED_MORE, KNOWN)
    drawn = [optimize.design(few, 1.0, **ROUNDS).mechanism() for few in workload.strata.designs]
    return workload, in_strata(drawn, workload.strata.which, workload.strata)


def test_blocks_are_those_of_the_gram_matrix():
    workload = StratifiedSurvey(SHAPE, LAST_ASKED_MORE, KNOWN)
    G, strata = Survey(SHAPE, LAST_ASKED_MORE).gram_dense(), workload.strata
    for types, d, scale, constant in zip(strata.types, strata.which, strata.scale, strata.constant, strict=True):
        block = scale**2 * strata.designs[d].gram_dense() + constant
        assert block == pytest.approx(G[np.ix_(types, types)], abs=1e-12)
    assert workload.without_strata == Survey(SHAPE, LAST_ASKED_MORE)
    assert ldp.workloads.from_spec(json.loads(json.dumps(workload.spec))) == workload


def test_the_law_of_reports_gives_the_promise_the_answers_and_their_errors():
    """All reports of all people of a small survey, with their exact probabilities."""
    workload, made = small()
    device = client.Device(json.loads(json.dumps(devices.describe(made, "1"))))
    rows = workload.answers(np.eye(24))
    laws = {}
    for x, values in enumerate(product(*map(range, SHAPE))):
        z = values[1] * 2 + values[3]
        laws[x] = law(device, [z, values[0], values[2]])
        chances = np.array([float(p) for p in laws[x].values()])
        reports = [made.aggregate(np.array([report], dtype=np.int64)) for report in laws[x]]
        told = np.array([made.estimate(report).answers(workload) for report in reports])
        assert chances @ told == pytest.approx(rows[x], abs=1e-9)
        one = np.zeros(24)
        one[x] = 1
        errors = chances @ (told - rows[x]) ** 2
        assert made.query_variances(workload, one) == pytest.approx(errors, rel=1e-9, abs=1e-9)
        assert made.variance_on(workload, one) == pytest.approx(errors.sum(), rel=1e-9)
        adds = made.query_contributions(workload, np.arange(workload.num_queries))
        assert (told - adds.means.min(axis=1) <= adds.up + 1e-9).all()
        assert (adds.means.max(axis=1) - told <= adds.down + 1e-9).all()
        assert (errors <= adds.variances.max(axis=1) + 1e-9).all()
    for z in range(6):
        group = [own for x, own in laws.items() if made.cells_within((0, 1, 2, 3))[z].tolist().count(x)]
        assert largest_ratio(group) <= math.e
    assert {report[0] for own in laws.values() for report in own} == set(range(6))
    profile = made.variance_profile(workload)
    assert profile.shape == (6,)
    assert analysis.average_variance(made, workload) == pytest.approx(
        np.mean([made.variance_on(workload, one) for one in np.eye(24)]), rel=1e-9
    )
    assert made.audit().epsilon == pytest.approx(math.log(largest_ratio(laws[x] for x in (0, 2, 12, 14))), abs=1e-9)


def test_each_group_is_a_survey_of_its_own(unlike):
    """Errors, estimates and reports are those of the group's mechanism, asked what is asked there."""
    people, strata = people_of(UNLIKE.shape, 900), UNLIKE.strata
    assert sorted(strata.which) == [0, 1]
    each = people.within((0,))
    alone = [
        strata.scale[z] ** 2 * unlike.strata[z].variance_on(strata.designs[strata.which[z]], each[z]) for z in (0, 1)
    ]
    assert unlike.variance_on(UNLIKE, people) == pytest.approx(sum(alone), rel=1e-12)
    assert unlike.query_variances(UNLIKE, people).sum() == pytest.approx(sum(alone), rel=1e-9)
    reports = unlike.aggregate(unlike.privatize(people.codes, np.random.default_rng(5)))
    estimate, parts = unlike.estimate(reports), unlike.reports_of(reports)
    tables = [made.estimate(own).table((0, 2)) for made, own in zip(unlike.strata, parts, strict=True)]
    assert estimate.table((0, 1, 3)) == pytest.approx(np.concatenate(tables))
    assert estimate.table((1, 3)) == pytest.approx(np.sum(tables, axis=0))
    assert estimate.table((0,)) == pytest.approx(people.table((0,)))
    assert estimate.table((3, 0)).reshape(7, 2).T.ravel() == pytest.approx(estimate.table((0, 3)))
    again = unlike.simulate(people, np.random.default_rng(0))
    assert again.arrays[0].tolist() == people.table((0,)).tolist()


def test_simulated_answers_are_off_by_what_is_said(unlike):
    people, rng = people_of(UNLIKE.shape, 2_000), np.random.default_rng(1)
    truth, variances = UNLIKE.answers(people), unlike.query_variances(UNLIKE, people)
    told = np.array([unlike.estimate(unlike.simulate(people, rng)).answers(UNLIKE) for _ in range(120)])
    asked = variances > 1e-6
    assert told[:, ~asked] == pytest.approx(
        np.tile(truth[~asked], (120, 1)), abs=1e-6
    )  # how many people there are in groups
    scores = (told - truth)[:, asked] / np.sqrt(variances[asked])
    assert abs(scores.mean(axis=0)).max() < 5 / math.sqrt(120)
    assert 0.9 < np.mean(scores**2) < 1.1
    found = estimators.intervals(unlike, UNLIKE, unlike.estimate(unlike.simulate(people, rng)))
    held = (found.ends[:, 0] - 1e-6 <= truth) & (truth <= found.ends[:, 1] + 1e-6)
    assert held.mean() > 0.9


def test_pairs_of_four_columns_in_four_regions():
    """Asked alike: one search, one proof, and no region is asked more than a survey of its people alone."""
    found = optimize.design(PAIRS, 1.0, time_limit=None, max_rounds=40)
    proof = bounds.certificate(PAIRS, 1.0, time_limit=None)
    assert len(found.parts) == len(proof.parts) == 1
    assert proof.verify()
    assert 1 <= (found.objective - PAIRS.trace) / (proof.value - PAIRS.trace) < 1.01
    made = found.mechanism()
    assert made.variance_profile(PAIRS) == pytest.approx(np.full(4, analysis.average_variance(made, PAIRS)))
    assert found.objective == pytest.approx(PAIRS.n * analysis.average_variance(made, PAIRS) + PAIRS.trace, rel=1e-9)
    secret = over_attributes([KWayMarginalsPart(k=2)], columns(4, 6, 9, 7, 9, known=None))
    assert found.objective < bounds.certificate(secret, 1.0, time_limit=None).value  # what is known need not be asked
    worst = bounds.worst_case(PAIRS, 1.0, time_limit=None)
    assert worst.verify()
    assert worst.variance == pytest.approx(proof.variance, rel=1e-6)


def test_proofs_go_by_the_sizes_of_groups_and_are_checked_by_the_script():
    workload, made = small()
    shares = np.array([0.3, 0.1, 0.1, 0.2, 0.05, 0.25])
    proof = bounds.certificate(workload, 1.0, time_limit=None, prior=shares)
    strata = workload.strata
    each = [bounds.certificate(few, 1.0, time_limit=None).variance for few in strata.designs]
    assert proof.variance == pytest.approx(shares @ (strata.scale**2 * np.array(each)[strata.which]), rel=1e-6)
    assert 0.9 < proof.variance / (shares @ made.variance_profile(workload)) <= 1
    worst = bounds.worst_case(workload, 1.0, time_limit=None)
    assert 0.9 < worst.variance / made.variance_profile(workload).max() <= 1
    even = bounds.certificate(PAIRS, 1.0, time_limit=None)
    for one, asked in ((proof, workload), (worst, workload), (even, PAIRS)):
        files = certificate_file.write(one, "1")
        assert f"within each of {len(asked.strata.which)} groups" in verify.verified(files.document, files.arrays)
        back = certificate_file.read(files, asked, "1")
        assert back.verify()
        assert back.variance == pytest.approx(one.variance, rel=1e-5)
        assert (back.prior is None) == (one is even)
        assert not replace(one, value=one.value * 1.01).verify()
        assert not replace(one, workload=UNLIKE).verify()
    assert not replace(proof, prior=shares[::-1], value=proof.value * 1.001).verify()


def test_clients_refuse_a_format_of_another_number_of_values(unlike):
    description = devices.describe(unlike, "1")
    for other in ("ldp-device/2", "ldp-device/4"):
        changed = {**description, "format": other}
        changed["design"] = client.design_id(changed)
        refused("no device of the format ldp-device/3: export the design again", client.Device, changed)


def test_groups_may_have_an_epsilon_each():
    made = mechanisms.create("optimized", epsilon=(1.0, 0.5), workload=UNLIKE, **ROUNDS)
    assert [own.epsilon for own in made.strata] == [1.0, 0.5]
    assert "epsilon by group 1, 0.5" in repr(made)
    assert made.audit().epsilon == pytest.approx(1.0)
    refused("one for each group", mechanisms.create, "optimized", epsilon=(1.0, 0.5, 1.0), workload=UNLIKE)


@pytest.mark.parametrize("name", ["wnnls", "wnnls_total", "norm_sub"])
def test_tables_are_improved_group_by_group(name):
    made = optimize.design(PAIRS, 1.0, **ROUNDS).mechanism()
    people = people_of(PAIRS.shape, 3_000)
    reports = made.simulate(people, np.random.default_rng(2))
    found, unbiased = estimators.apply(name, reports, made, PAIRS), made.estimate(reports)
    assert found.table((0, 2)).min() >= -1e-6 * 3_000
    assert found.squared_error(PAIRS, people) < unbiased.squared_error(PAIRS, people)
    if name != "wnnls":  # each group has as many people as it had
        assert found.table((0,)) == pytest.approx(people.table((0,)), rel=1e-6)


def test_people_are_told_apart_by_what_is_known():
    counted = np.random.default_rng(0).integers(0, 5, 24)
    weights = np.arange(1, 7)
    records = Records(np.random.default_rng(1).integers(0, 2, (6, 4)), SHAPE, weights)
    expected = Drawn([np.array([6, 2]), np.array([4, 2, 2]), np.array([1, 7]), np.array([8, 0])])
    for people in (ldp.people.Counted(counted, SHAPE), records, expected):
        parts = people.within(KNOWN)
        together = np.stack([part.table((0, 1)) for part in parts]).reshape(3, 2, 2, 2)
        whole = people.table((1, 3, 0, 2)).reshape(3, 2, 2, 2)
        assert np.array_equal(together, whole)
        assert sum(part.users for part in parts) == people.users
    many = Drawn([np.array([6 * 10**8, 2 * 10**8]), np.array([3 * 10**8, 5 * 10**8])])
    assert many.too_many
    assert [part.table((0,)).tolist() for part in many.within((0,))] == [[225000000, 375000000], [75000000, 125000000]]


def test_more_groups_than_are_handled_and_tables_that_are_too_large_are_refused():
    refused("make 300 groups; at most 256", lambda: over_attributes([KWayMarginalsPart(k=2)], columns(300, 60, 60)))
    refused(
        "more than the 1,048,576 that are counted",
        lambda: over_attributes([MarginalsPart(groups=[("c0", "c1", "c2", "c3")])], columns(40, 60, 60, 60)),
    )
    tree = over_attributes(
        [PrefixPart(attribute="x")],
        [columns(4)[0], RangeAttribute(name="x", low=0, high=3999, bins=4_000, integer=True)],
    )
    assert tree.survey is None
    made = mechanisms.create("haar", epsilon=1.0, workload=tree)
    alone = mechanisms.create("haar", epsilon=1.0, workload=Prefix(4_000))
    assert analysis.worst_case_variance(made, tree) == pytest.approx(analysis.worst_case_variance(alone, Prefix(4_000)))
    refused(
        "for at most",
        lambda: over_attributes(
            [PrefixPart(attribute="x")],
            [columns(250)[0], RangeAttribute(name="x", low=0, high=9999, bins=10_000, integer=True)],
        ),
    )
