"""People split among strategies on the tables of a few attributes and scrambled patterns: against every report on 2 x 3 x 4 types."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from ldp_core import analysis, anova, mechanisms, workloads
from ldp_core.bounds import centred_svd, survey_blocks
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys import combined, face, largest
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize import SearchLimits, design
from ldp_core.optimize.surveys import split_design as splitting
from ldp_core.optimize.surveys.split_design import design_split
from ldp_core.optimize.surveys.tables import TableQuestions, own_sets
from ldp_core.optimize.symmetric.orbits import Shifts, first_orbits
from ldp_core.people import Counted, Records
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.studies import sweep
from ldp_core.workloads import Custom, Group, Histogram, Prefix, Survey, survey
from ldp_core.workloads.base import root_of

SIZES, EPSILON = (2, 3, 4), 1.2
TYPES = np.array(list(product(*map(range, SIZES))))
COUNTS = np.random.default_rng(1).multinomial(300, np.random.default_rng(2).dirichlet(np.ones(24) / 2))
PAIRS = survey(SIZES, 2, weights=[1.0, 2.0, 0.5])
ORDERED = Survey(SIZES, [*PAIRS.groups, Group((2,), Prefix(4), 1.5), Group((0, 1, 2), Histogram(24), 0.3)])
"""Pairs, and running totals along the last attribute."""
MIXED = Survey(SIZES, [*PAIRS.groups, Group((0, 1), Prefix(6)), Group((1, 2), Prefix(12), 0.5), Group((2,), Prefix(4))])
"""Questions that follow an order on sets that share an attribute."""


def mask(shape, *cells):
    found = np.zeros(shape, dtype=bool)
    found[tuple(zip(*cells, strict=True))] = True
    return found


PATTERNS = [
    Pattern((0, 1), mask((2, 3), (0, 0), (1, 1))),
    Pattern((1, 2), mask((3, 4), (0, 0), (0, 1), (1, 2), (2, 3))),
    Pattern((0, 2), mask((2, 4), (0, 0), (1, 3), (1, 2))),
    Pattern((1,), mask((3,), (0,), (2,))),
    Pattern((0, 1, 2), np.random.default_rng(1).random(SIZES) < 0.4),
]
OWN = {"one": [(2,)], "shared": [(0, 1), (1, 2)], "ring": [(0, 1), (0, 2), (1, 2)], "all": [(0, 1, 2)]}
DIVIDED = "shared, but divided"
"""As "shared", on tables that count as too large to be put together."""


def split_design(which):
    own = []
    for members in OWN["shared" if which == DIVIDED else which]:
        cells = math.prod(SIZES[i] for i in members)
        strategy = design(Prefix(cells), EPSILON, time_limit=None, max_rounds=3).strategy
        own.append(GroupTable(members, ExplicitMechanism("optimized", strategy, EPSILON)))
    rest = None
    if which != "all":
        rest = ScrambledPatterns("optimized", SIZES, EPSILON, PATTERNS, np.array([0.2, 0.3, 0.2, 0.1, 0.2]))
    found = SplitSurvey("optimized", SIZES, EPSILON, own, rest, [1.0, 3.0, 2.0, 1.5][: len(own) + (rest is not None)])
    with pytest.MonkeyPatch.context() as small:
        small.setattr(combined, "_MOST_DIMENSIONS", 5 if which == DIVIDED else 100)
        assert len(found.combined) == (2 if which == DIVIDED else 1)
    return found


@pytest.fixture(scope="module", params=[*OWN, DIVIDED])
def mechanism(request):
    return split_design(request.param)


def written_out(mechanism):
    """Every possible report, and its probability (reports, 24) for each type."""
    width = 1 + (1 if mechanism.rest is None else 1 + mechanism.rest.width)
    raw, rows = [], []
    for k, one in enumerate(mechanism.own):
        cells = np.ravel_multi_index(TYPES[:, list(one.attributes)].T, [SIZES[i] for i in one.attributes])
        for output, chances in enumerate(one.mechanism.strategy):
            raw.append([k, output])
            rows.append(mechanism.shares[k] * chances[cells])
    for number, pattern in enumerate(() if mechanism.rest is None else mechanism.rest.patterns):
        moves = list(product(*(permutations(range(size)) for size in pattern.cells.shape)))
        high = mechanism.rest.shares[number] / len(moves) / (1 + (math.exp(EPSILON) - 1) * pattern.cells.mean())
        for move in moves:
            back = [np.argsort(one) for one in move]
            inside = pattern.cells[tuple(one[TYPES[:, i]] for one, i in zip(back, pattern.attributes, strict=True))]
            raw.append([len(mechanism.own), number, *(int(place) for one in move for place in one)])
            rows.append(mechanism.shares[-1] * np.where(inside, math.exp(EPSILON) * high, high))
    return np.array([one + [-1] * (width - len(one)) for one in raw]), np.array(rows)


@pytest.fixture(scope="module")
def reports(mechanism):
    return written_out(mechanism)


def matrix(workload):
    return workload.rows(np.arange(workload.num_queries))


def added(mechanism, raw, workload):
    """(reports, p) what each report adds to every answer, as the collector works it out."""
    return np.array([mechanism.estimate(mechanism.aggregate(one[None])).answers(workload) for one in raw])


ASKED = pytest.mark.parametrize("asked", [PAIRS, ORDERED, MIXED], ids=["pairs", "ordered", "mixed"])


@pytest.mark.crossed
@ASKED
def test_answers_are_unbiased_with_the_exact_variances_of_all_reports(mechanism, reports, asked):
    (raw, Q), W = reports, matrix(asked)
    np.testing.assert_allclose(Q.sum(axis=0), 1, atol=1e-12)
    assert (Q.max(axis=1) / Q.min(axis=1)).max() <= math.exp(EPSILON) * (1 + 1e-9)
    adds = added(mechanism, raw, asked)
    np.testing.assert_allclose(Q.T @ adds, W.T, atol=1e-9)
    exact = Q.T @ adds**2 - W.T**2
    assert mechanism.supports(asked) is None
    np.testing.assert_allclose(mechanism.variance_profile(asked), exact.sum(axis=1), rtol=1e-8, atol=1e-8)
    assert mechanism.average_of(asked) == pytest.approx(exact.sum(axis=1).mean())
    np.testing.assert_allclose(mechanism.query_variances(asked, COUNTS), COUNTS @ exact, rtol=1e-8, atol=1e-8)
    some = np.array([3, 0, asked.num_queries - 1])
    records = Records(np.repeat(TYPES, COUNTS, axis=0), SIZES)
    np.testing.assert_allclose(
        mechanism.query_variances(asked, records, some), (COUNTS @ exact)[some], rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(mechanism.linear_variances(W, COUNTS), COUNTS @ exact, rtol=1e-8, atol=1e-8)
    for k, group in enumerate(asked.groups):
        here = slice(asked._starts[k], asked._starts[k + 1])
        cells = np.ravel_multi_index(TYPES[:, list(group.attributes)].T, [SIZES[i] for i in group.attributes])
        found = mechanism.query_contributions(asked, np.arange(asked._starts[k], asked._starts[k + 1]))
        np.testing.assert_allclose(found.means[:, cells], W[here], atol=1e-12)
        assert (found.variances[:, cells] >= exact.T[here] * (1 - 1e-9) - 1e-9).all()
        if all(set(one) <= set(group.attributes) or not set(one) & set(group.attributes) for one in mechanism.sets):
            np.testing.assert_allclose(found.variances[:, cells], exact.T[here], rtol=1e-8, atol=1e-8)
        centre = found.means.min(axis=1), found.means.max(axis=1)
        assert (adds[:, here].max(axis=0) <= found.up + centre[0] + 1e-9).all()
        assert (adds[:, here].min(axis=0) >= centre[1] - found.down - 1e-9).all()
        seen = mechanism.seen_on(group.attributes)
        told = seen.cell_variances(Counted(COUNTS, SIZES).table(group.attributes))
        assert (told >= mechanism.cell_variances(group.attributes, Counted(COUNTS, SIZES)) * (1 - 1e-9) - 1e-9).all()


def test_inflation_is_the_mean_variance_of_every_component(mechanism, reports):
    raw, Q = reports
    one = survey(SIZES, 3)
    adds = added(mechanism, raw, one)
    assert len(mechanism.inflation) == 7
    for members, value in mechanism.inflation.items():
        projection = np.ones((1, 1))
        for i, size in enumerate(SIZES):
            mean = np.full((size, size), 1 / size)
            projection = np.kron(projection, np.eye(size) - mean if i in members else mean)
        squares = ((adds @ projection) ** 2).sum(axis=1)
        assert value == pytest.approx((Q.T @ squares).sum() / anova.dimensions(SIZES, members), rel=1e-8)


@pytest.mark.crossed
@pytest.mark.parametrize("how", ["privatize", "records", "counts"])
def test_collections_have_the_exact_moments(mechanism, how):
    rng, trials, records = np.random.default_rng(5), 250, np.repeat(TYPES, COUNTS, axis=0)
    people = {"records": Records(records, SIZES), "counts": COUNTS}
    found = []
    for _ in range(trials):
        if how == "privatize":
            told = mechanism.aggregate(mechanism.privatize(records, rng))
        else:
            told = mechanism.simulate(people[how], rng)
        assert told.users == COUNTS.sum()
        found.append(mechanism.estimate(told).answers(ORDERED))
    truth, exact = ORDERED.answers(Counted(COUNTS, SIZES)), mechanism.query_variances(ORDERED, COUNTS)
    known = exact > 1e-6  # all but the total
    scores = ((np.mean(found, axis=0) - truth) / np.sqrt(np.maximum(exact, 1e-9) / trials))[known]
    assert np.abs(scores).max() < 4.5
    assert np.abs(np.mean((found - truth) ** 2, axis=0)[known] / exact[known] - 1).max() < 5.5 * math.sqrt(2 / trials)


def test_reports_come_as_often_as_is_written_out(mechanism, reports):
    raw, Q = reports
    users = 40_000
    sent = mechanism.privatize(np.tile(TYPES[17], (users, 1)), np.random.default_rng(3))
    number = {tuple(one): k for k, one in enumerate(raw.tolist())}
    often = np.bincount([number[tuple(one)] for one in sent.tolist()], minlength=len(raw))
    expected = users * Q[:, 17]
    chi = ((often - expected) ** 2 / expected).sum()
    assert abs(chi - len(raw)) < 5 * math.sqrt(2 * len(raw))


def test_the_guarantee_is_that_of_the_worst_design(mechanism, reports):
    _, Q = reports
    audit = mechanism.audit()
    assert isinstance(mechanism, Mechanism)
    assert math.log((Q.max(axis=1) / Q.min(axis=1)).max()) == pytest.approx(audit.epsilon, abs=1e-9)
    assert audit.epsilon <= EPSILON
    first, second = audit.worst_pair
    assert 0 <= first < 24
    assert 0 <= second < 24
    assert first != second
    assert 2**mechanism.bits_per_report >= len(written_out(mechanism)[0])
    assert "about column " in mechanism.explain()
    names = ["age", "sex", "work"]
    told = mechanism.explain(names).split("For everything else")[0]
    assert "column" not in told
    assert all(names[i] in told for one in mechanism.sets for i in one)


def test_shards_add_up_and_foreign_or_broken_reports_are_refused(mechanism):
    rng = np.random.default_rng(1)
    raw = mechanism.privatize(TYPES, rng)
    both = mechanism.aggregate(raw[:10]) + mechanism.aggregate(raw[10:])
    for mine, theirs in zip(both.arrays, mechanism.aggregate(raw).arrays, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    other = SplitSurvey("optimized", SIZES, EPSILON, mechanism.own, mechanism.rest, mechanism.shares[::-1] ** 2)
    if len(other.designs) > 1:
        with pytest.raises(ValueError, match="another mechanism"):
            other.estimate(both)
    broken = raw.copy()
    broken[0, 0] = 9
    for wrong in (broken, raw[:, :1], raw.astype(float)):
        with pytest.raises(ValueError, match=r"numbered|number of a design"):
            mechanism.aggregate(wrong)


def test_designs_must_fit():
    whole = split_design("one")
    for changed, message in (
        ({"own": [GroupTable((1,), whole.own[0].mechanism)]}, "does not fit"),
        ({"own": [], "rest": None, "shares": []}, "must be a design"),
        ({"epsilon": 2.0}, "all need epsilon 2"),
        ({"sizes": (2, 3, 4, 5)}, "are for attributes"),
        ({"shares": [1.0, 0.0]}, "positive share"),
    ):
        given = {"sizes": SIZES, "epsilon": EPSILON, "own": whole.own, "rest": whole.rest, "shares": [1.0, 1.0]}
        with pytest.raises(ValueError, match=message):
            SplitSurvey("optimized", **{**given, **changed})
    narrow = SplitSurvey("optimized", SIZES, EPSILON, whole.own, None, [1.0])
    assert "say nothing about" in narrow.supports(PAIRS)
    assert narrow.supports(Survey(SIZES, [Group((2,), Prefix(4))])) is None
    assert narrow.knows((2,))
    assert not narrow.knows((0, 2))


BY_OTHERS = [
    Group((1, 2), workloads.product([Prefix(3), Histogram(4)]), 2.0),
    Group((0, 1), workloads.product([Histogram(2), Prefix(3)])),
]
"""Running totals along one attribute by each of the others."""


@pytest.mark.parametrize(
    "asked",
    [
        ORDERED,
        MIXED,
        Survey(SIZES, [Group((2,), Prefix(4)), Group((0, 1), Prefix(6))]),
        Survey(SIZES, BY_OTHERS),
        Survey(SIZES, [*PAIRS.groups, *BY_OTHERS, Group((0,), Custom([[0.0, 1.0]]))]),
        Survey(SIZES, [*BY_OTHERS, Group((0, 2), workloads.product([Histogram(2), Prefix(4)]))]),
    ],
    ids=["ordered", "mixed", "apart", "by others", "pairs by others", "two orders"],
)
def test_the_bound_in_blocks_is_that_of_the_whole_matrix(asked, monkeypatch):
    dense = centred_svd(Custom(matrix(asked)), EPSILON)
    assert centred_svd(asked, EPSILON) == pytest.approx(dense, rel=1e-7)
    monkeypatch.setattr(survey_blocks, "_MOST_CELLS", 6)
    fresh = Survey(SIZES, asked.groups)
    assert centred_svd(fresh, EPSILON) <= dense * (1 + 1e-7)


# --- the library's choice ---------------------------------------------------------------------------------------------

ADULT = (16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2)
FIT = {"time_limit": None, "seed": 0}


@pytest.mark.parametrize(
    "asked",
    [
        Survey(SIZES, [Group((2,), Prefix(4), 9.0), Group((0, 1), Histogram(6))]),
        Survey(SIZES, [Group((0, 2), Prefix(8)), Group((1, 2), Prefix(12)), Group((0, 1), Histogram(6), 0.1)]),
    ],
    ids=["apart", "shared"],
)
def test_what_is_built_has_the_objective_of_all_its_reports(asked):
    told = []
    found = design_split(asked, EPSILON, SearchLimits(max_rounds=20, callback=told.append, **FIT)).mechanism()
    assert isinstance(found, SplitSurvey)
    raw, Q = written_out(found)
    variances = Q.T @ added(found, raw, asked) ** 2 - matrix(asked).T ** 2
    objective = variances.sum() + asked.trace
    assert analysis.objective(found, asked) == pytest.approx(objective)
    assert told[-1].objective == pytest.approx(objective, rel=1e-6)
    assert told[-1].objective < told[-2].objective
    assert centred_svd(asked, EPSILON) <= objective


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (Survey((8, 4), [Group((0,), Prefix(8)), Group((0, 1), Histogram(32), 0.5)]), "Optimized"),
        (Survey((16, 9, 16), [Group((0,), Prefix(16), 9.0), Group((1, 2), Histogram(144))]), "SplitDesign"),
        (Survey((16, 9, 16), [Group((0,), Histogram(16), 9.0), Group((1, 2), Histogram(144))]), "SurveyDesign"),
    ],
    ids=["few types", "an order", "alike"],
)
def test_the_design_of_the_core_is_that_of_the_mechanism(asked, kind):
    """Patterns alone, which treat the values of a column alike, needed 15 times as many users for a single condition."""
    found = design(asked, EPSILON, max_rounds=5, **FIT)
    assert type(found).__name__ == kind
    assert repr(found).startswith(f"<{kind}: ")
    made = mechanisms.create("optimized", workload=asked, epsilon=EPSILON, max_rounds=5, **FIT)
    assert found.objective == pytest.approx(analysis.objective(made, asked), rel=1e-6)
    assert found.history[-1][2] >= found.objective * (1 - 1e-9)


@pytest.mark.parametrize("others", [(), (Group((2,), Prefix(4)), Group((0, 1), Prefix(6)))], ids=["alone", "beside"])
def test_conditions_on_large_tables_are_fitted_to_the_types_they_tell_apart(others, monkeypatch):
    young, pair = [((2,), [1.0, 1.0, 0.0, 0.0])], [((0,), [1.0, 0.0]), ((1,), [0.0, 1.0, 1.0])]
    conditions = workloads.Predicates(SIZES, [young, pair, pair + young])
    asked = Survey(SIZES, [Group((0, 1, 2), conditions, 9.0), Group((0, 1), Histogram(6), 0.5), *others])
    sets = own_sets(asked)
    assert sets == ((0, 1, 2),)
    given = TableQuestions(asked, sets)
    gram = given.gram(0)
    about = (given, 0, gram, EPSILON, SearchLimits(None))
    with monkeypatch.context() as fewer:
        fewer.setattr(splitting, "FEW_TOLD_APART", 3)
        assert splitting._merged(*about) is None  # few enough for a search over all types
    monkeypatch.setattr(splitting, "FEW_TYPES", 20)
    found = splitting._merged(*about)
    if others:  # running totals tell all types apart
        assert found is None
        return
    Q = found.strategy
    moments = (Q / Q.sum(axis=1, keepdims=True)).T @ Q
    assert found.objective == pytest.approx(np.trace(np.linalg.solve(moments, gram)), rel=1e-6)
    assert found.objective < 0.8 * first_orbits(gram, fitted_exp_epsilon(EPSILON), Shifts(SIZES)).objective
    answers = matrix(Survey(SIZES, [asked.groups[0]])).T
    told_apart = {tuple(one) for one in answers.tolist()}
    assert len(told_apart) == 4
    alike = [(u, v) for u in range(24) for v in range(24) if u < v and (answers[u] == answers[v]).all()]
    same = np.all([np.isclose(Q[:, u], Q[:, v], rtol=1e-12, atol=0.0) for u, v in alike], axis=0)
    assert Q[same].sum(axis=0) == pytest.approx(np.full(24, found.part), abs=1e-9)


SHARING = [
    Group((0, 1), workloads.Predicates((8, 4), [[((0,), np.arange(8) < 4), ((1,), np.arange(4) < 2)]])),
    Group((1, 2), workloads.Predicates((4, 9), [[((0,), np.arange(4) % 2 == 0), ((1,), np.arange(9) < 6)]]), 3.0),
]
"""Two conditions that share a column."""


def test_conditions_that_share_a_column_are_asked_of_one_table_each(monkeypatch):
    """The part of a condition that no other table answers is no condition: randomised response says most of a whole one."""
    asked = Survey((8, 4, 9), SHARING)
    given = TableQuestions(asked, own_sets(asked))
    assert given.sets == ((0, 1), (1, 2))
    assert given.owners == [0, 1]
    monkeypatch.setattr(splitting, "FEW_TYPES", 20)  # as on large tables
    for k, true in enumerate((1 / 4, 1 / 3)):
        assert len(np.unique(np.round(given.rows(k), 9))) == 2
        found = splitting._merged(given, k, given.gram(k), 1.0, SearchLimits(None))
        least = math.exp(1.0) / math.expm1(1.0) ** 2 + true * (1 - true)
        assert found.objective / len(found.strategy.T) < 1.1 * asked.groups[k].weight ** 2 * least


def test_conditions_are_asked_of_a_table_they_meet_in_part(monkeypatch):
    """The table of the first answers the part of the second about the column that both share."""
    monkeypatch.setattr(combined, "_MOST_DIMENSIONS", 1)
    asked = Survey((8, 4, 9), SHARING)
    given = TableQuestions(asked, own_sets(asked))
    assert given.owners == [None, None]
    gram = given.gram(0)
    monkeypatch.setattr(splitting, "FEW_TYPES", 20)  # as on large tables
    found = splitting._merged(given, 0, gram, 1.0, SearchLimits(None))
    assert found.objective < 1.4 * centred_svd(Custom(root_of(gram)), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [pytest.param(1.0, marks=pytest.mark.slow), 10.0])
def test_totals_among_pairs_of_a_billion_types_are_within_a_few_per_cent(weight):
    pairs = survey(ADULT, 2)
    asked = Survey(ADULT, [*pairs.groups, Group((0,), Prefix(16), weight)])
    found = mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=3, **FIT)
    assert isinstance(found, SplitSurvey)
    assert found.sets == ((0,),)
    assert 0 <= analysis.objective(found, asked) / centred_svd(asked, 1.0) - 1 < 0.02
    average = analysis.average_variance(found, asked)
    assert average < analysis.worst_case_variance(found, asked) < 1.01 * average
    assert found.audit().epsilon <= 1.0
    records = np.minimum(np.random.default_rng(1).geometric(0.3, (2_000, 11)) - 1, np.array(ADULT) - 1)
    people, rng, trials = Records(records, ADULT), np.random.default_rng(2), 12
    truth, exact = asked.answers(people), found.query_variances(asked, people)
    errors = [found.estimate(found.simulate(people, rng)).answers(asked) - truth for _ in range(trials)]
    known = exact > 1e-6
    scores = np.mean(errors, axis=0)[known] * np.sqrt(trials / exact[known])
    assert np.abs(scores).max() < 5
    assert abs((np.square(errors)[:, known] / exact[known]).mean() - 1) < 4 * math.sqrt(2 / trials / 500)
    totals = (np.square(errors)[:, -15:-1] / exact[-15:-1]).mean()
    assert abs(totals - 1) < 5 * math.sqrt(2 / trials / 2)  # neighbouring totals go together


def test_the_worst_type_is_bounded_where_it_cannot_be_found(monkeypatch):
    found = split_design("shared")
    exact = analysis.worst_case_variance(found, MIXED)
    monkeypatch.setattr(face, "MOST_TABLE_CELLS", 1)
    assert found.variance_profile(MIXED) == pytest.approx([exact])
    monkeypatch.setattr(largest, "MOST_TABLE_CELLS", 1)
    bound = found.variance_profile(MIXED)
    assert bound.shape == (1,)
    assert exact <= bound[0] < 1.5 * exact


def test_attributes_that_functions_do_not_depend_on_tie_nothing_together(monkeypatch):
    first, second = np.arange(2.0), np.array([5.0, 1.0, 2.0, 0.0])
    functions = [((0, 1), np.repeat(first, 3)), ((1, 2), np.tile(second, 3)), ((0,), 3 * first), ((), np.array([7.0]))]
    monkeypatch.setattr(largest, "MOST_TABLE_CELLS", 4)
    assert largest.largest(SIZES, functions) == pytest.approx(1 + 5 + 3 + 7)


def test_too_many_tables_are_left_to_patterns():
    sizes = (3,) * 26
    asked = Survey(sizes, [Group((j,), Prefix(3)) for j in range(26)])
    assert own_sets(asked) == ()
    assert isinstance(design_split(asked, 1.0, SearchLimits(max_rounds=0, **FIT)).mechanism(), ScrambledPatterns)


@pytest.mark.parametrize("which", OWN)
def test_averages_are_no_worst_cases_where_only_the_worst_type_is_known(which, monkeypatch):
    found, asked = split_design(which), MIXED if which == "shared" else ORDERED
    raw, Q = written_out(found)
    every = (Q.T @ added(found, raw, asked) ** 2 - matrix(asked).T ** 2).sum(axis=1)
    people = Counted(COUNTS, SIZES)
    monkeypatch.setattr(face, "MOST_TABLE_CELLS", 1)
    assert found.variance_profile(asked).shape == (1,)
    assert analysis.variance_on_data(found, asked, COUNTS) == pytest.approx(every @ COUNTS)
    summary, p = analysis.summarise(found, asked, people), asked.squared_weights
    assert summary.worst_case_variance == pytest.approx(every.max())
    assert summary.average_variance == pytest.approx(every.mean())
    assert summary.standard_error_average == pytest.approx(math.sqrt(every.mean() / p / people.users))
    assert summary.standard_error_on_data == pytest.approx(math.sqrt(every @ COUNTS / p) / people.users)
    assert summary.standard_error_on_data < 0.999 * summary.standard_error_worst_case
    assert summary.objective == pytest.approx(analysis.objective(found, asked))
    assert sweep.outcome_of(found, asked, "").average == pytest.approx(every.mean())
    with pytest.raises(ValueError, match="not known one by one"):
        analysis.average_case(24).variance(found.variance_profile(asked))
    assert analysis.WORST_CASE.variance(found.variance_profile(asked)) == pytest.approx(every.max())
