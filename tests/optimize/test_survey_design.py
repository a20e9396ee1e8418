"""Designs of surveys: against matrices over all types and all images of the patterns, the dense optimum, and the bounds."""

import itertools
import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import bounds, workloads
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.limits import MOST_DESIGNED_SETS
from ldp_core.optimize import SearchLimits
from ldp_core.optimize.surveys import design as surveys
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.privacy import exp_epsilon
from ldp_core.workloads.surveys import Group, Survey, marginal
from tests.declared import ADULT
from tests.refused import refused


def images(pattern, sizes):
    """(k, n) all images of a pattern under permutations of the values of its attributes, over all types."""
    permutations = [itertools.permutations(range(size)) for size in pattern.cells.shape]
    shape = [size if i in pattern.attributes else 1 for i, size in enumerate(sizes)]
    found = [
        np.broadcast_to(pattern.cells[np.ix_(*moves)].reshape(shape), sizes).ravel()
        for moves in itertools.product(*permutations)
    ]
    return np.array(found)


def written_out(design, sizes):
    """The strategy Q (m, n): every pattern's images alike."""
    ratio, rows = exp_epsilon(design.epsilon), []
    for pattern, share in zip(design.patterns, design.shares, strict=True):
        v = np.where(images(pattern, sizes), ratio, 1.0)
        rows.append(share * v / (len(v) * v.mean(axis=1, keepdims=True)))
    return np.vstack(rows)


def dense_objective(strategy, workload):
    """tr(M^-1 G) from all types; M may leave out components in no question."""
    M = strategy.T @ (strategy / strategy.sum(axis=1, keepdims=True))
    inverse, gram = np.linalg.pinv(M, rcond=1e-10, hermitian=True), workload.gram_dense()
    np.testing.assert_allclose(M @ inverse @ gram, gram, atol=1e-8 * np.abs(gram).max())  # all questions are identified
    return np.trace(inverse @ gram)


@pytest.mark.parametrize(
    ("sizes", "ways", "weights", "epsilon"),
    [
        ((2, 3, 4), 2, None, 1.0),
        ((2, 3, 4), 1, None, 2.0),
        ((2, 3, 4), [(0, 1), (2,)], [1.0, 3.0], 0.5),
        ((3, 2, 2), 3, None, 3.0),
        ((4, 1, 3), 3, None, 1.0),
    ],
)
def test_the_objective_is_that_of_all_images_written_out(sizes, ways, weights, epsilon):
    survey = workloads.survey(sizes, ways=ways, weights=weights)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=3))
    strategy = written_out(found, sizes)
    np.testing.assert_allclose(strategy.sum(axis=0), 1, atol=1e-12)
    assert (strategy.max(axis=1) <= math.exp(epsilon) * strategy.min(axis=1) * (1 + 1e-12)).all()
    objective = dense_objective(strategy, survey)
    assert objective == pytest.approx(found.objective, rel=1e-10)


@pytest.mark.parametrize(
    ("sizes", "ways", "epsilon"),
    [((2, 3, 4), 2, 1.0), ((5, 6, 7), 3, 2.0), ((6, 1, 5, 3, 2), 2, 4.0), ((2,) * 8, 3, 3.0)],
)
def test_the_objective_is_that_of_the_fourier_weights_of_its_patterns(sizes, ways, epsilon):
    survey = workloads.survey(sizes, ways=ways)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=2, seed=1))
    assert isinstance(found, SurveyDesign)
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    assert found.shares.min() > 0
    fourier_weight = dict.fromkeys(survey.components.sets, 0.0)
    for pattern, share in zip(found.patterns, found.shares, strict=True):
        assert pattern.cells.shape == tuple(sizes[i] for i in pattern.attributes)
        for members, value in pattern.fourier_weights(epsilon).items():
            if members in fourier_weight:
                fourier_weight[members] += share * value
    c = survey.components
    expected = c.constant + sum(
        dim**2 * gram / fourier_weight[members] for members, dim, gram in zip(c.sets, c.dims, c.gram, strict=True)
    )
    assert found.objective == pytest.approx(survey.n * expected, rel=1e-10)
    assert found.objective >= bounds.centred_svd(survey, epsilon) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("sizes", "ways", "epsilon", "gap"),
    [
        pytest.param(ADULT, 2, 1.0, 5e-4, marks=pytest.mark.slow),
        pytest.param(ADULT, 2, 2.0, 1.6e-3, marks=pytest.mark.slow),
        pytest.param(ADULT, 2, 4.0, 0.14, marks=pytest.mark.slow),
        (ADULT, 1, 1.0, 0.025),
        ((5,) * 12, 2, 1.0, 1e-3),
        ((2,) * 10, 2, 1.0, 2.5e-3),
        ((2,) * 10, 2, 2.0, 0.17),
        ((100_000, 5, 2), 2, 1.0, 1e-3),
        ((1000, 900, 3), 2, 1.0, 1e-4),
        ((7,), 1, 1.0, 0.01),
    ],
)
def test_designs_come_near_to_the_closed_form_in_a_few_rounds(sizes, ways, epsilon, gap):
    survey = workloads.survey(sizes, ways=ways)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=4))
    assert -1e-12 <= found.objective / bounds.centred_svd(survey, epsilon) - 1 < gap
    # As few patterns as there are sets.
    assert len(found.patterns) <= len(survey.components.sets)


@pytest.mark.parametrize(("sizes", "most"), [((5, 5, 7, 10), 0.015), ((2, 5, 15, 16), 0.0098)])
def test_triples_spend_next_to_nothing_on_what_nobody_asks_for(sizes, most):
    """By patterns over other attributes than those asked about."""
    survey = workloads.survey(sizes, ways=3)
    found = design_survey(survey, 4.0, SearchLimits(time_limit=None, max_rounds=10))
    assert found.objective / bounds.centred_svd(survey, 4.0) - 1 < most


@pytest.mark.slow
@pytest.mark.parametrize("columns", [100, pytest.param(200, marks=pytest.mark.slow)])
def test_all_pairs_of_very_many_columns_are_designed(columns):
    sizes = tuple(np.random.default_rng(3).integers(2, 12, columns).tolist())
    survey = workloads.survey(sizes, ways=2)
    found = design_survey(survey, 1.0, SearchLimits(time_limit=None, max_rounds=0))
    assert found.objective / bounds.centred_svd(survey, 1.0) - 1 < 0.015
    assert len(found.patterns) <= 4 * len(survey.components.sets)


def dense(survey):
    """The same questions as a matrix, nothing known of how they come about."""
    return workloads.custom(survey.rows(np.arange(survey.num_queries)))


@pytest.mark.crossed
@pytest.mark.parametrize(("sizes", "ways"), [((2, 2, 2), 2), ((2, 5), 1), ((3, 3), 2), ((2, 4), 2)])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_small_designs_are_the_optimum_over_all_strategies(sizes, ways, epsilon):
    survey = workloads.survey(sizes, ways=ways)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=20))
    assert found.objective == pytest.approx(ldp.optimize.exact(dense(survey), epsilon).objective, rel=1e-5)


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(3.0, marks=pytest.mark.slow)])
def test_six_bits_are_designed_as_well_as_over_all_types(epsilon):
    survey, same = workloads.survey((2,) * 6, ways=2), workloads.k_way_marginals(6, 2)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=12))
    best = ldp.optimize.design(same, epsilon, time_limit=None, max_rounds=30)
    assert survey.trace == pytest.approx(same.trace)
    proof = bounds.certificate(same, epsilon, time_limit=None)
    assert proof.value * (1 - 1e-9) <= found.objective <= best.objective * (1 + 1e-5)


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_three_columns_are_designed_better_than_over_all_types(epsilon):
    """3 x 4 x 5 types, which use no symmetry."""
    survey = workloads.survey((3, 4, 5), ways=2)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=6))
    best = ldp.optimize.design(dense(survey), epsilon, time_limit=None, max_rounds=25)
    proof = bounds.certificate(dense(survey), epsilon, time_limit=None)
    assert proof.value * (1 - 1e-9) <= found.objective < best.objective
    assert found.objective < 1.01 * proof.value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "ways", "epsilon", "gap"),
    [
        (12, 2, 1.0, 0.002),
        pytest.param(12, 3, 1.0, 0.002, marks=pytest.mark.slow),
        pytest.param(13, 2, 1.0, 0.002, marks=pytest.mark.slow),
        pytest.param(16, 3, 1.0, 0.005, marks=pytest.mark.slow),
        pytest.param(16, 3, 2.0, 0.005, marks=pytest.mark.slow),
    ],
)
def test_low_degree_questions_on_bits_are_designed_as_surveys(columns, ways, epsilon, gap):
    """Design, mechanism, exact error, proof and reports of one and the same workload over 2^12 to 2^16 types."""
    workload = workloads.k_way_marginals(columns, ways)
    found = ldp.optimize.design(workload, epsilon, time_limit=None, max_rounds=8)
    limits = {"time_limit": None, "max_rounds": 8}
    mechanism = ldp.mechanisms.create("optimized", workload.n, epsilon, workload=workload, **limits)
    assert ldp.analysis.objective(mechanism, workload) == pytest.approx(found.objective, rel=1e-9)
    by_pairs = symmetric_certificate(workloads.surveyed.as_tables(workload), epsilon, rounds=6)
    assert by_pairs.verify()
    assert 0 <= found.objective / by_pairs.value - 1 < gap
    people = np.random.default_rng(0).integers(workload.n, size=4000)
    estimate = mechanism.estimate(mechanism.aggregate(mechanism.privatize(people, np.random.default_rng(1))))
    counts = np.bincount(people, minlength=workload.n)
    error = np.square(estimate.answers(workload) - workload.answers(counts)).sum()
    assert error / (4000 * ldp.analysis.average_variance(mechanism, workload)) == pytest.approx(1, abs=0.25)


def along_an_order(*shape):
    """Running totals along the first attribute, the joint counts of the first two, and ranges along a third."""
    ranges = [Group((2,), workloads.all_range(shape[2]))] if len(shape) > 2 else []
    return Survey(shape, [Group((0,), workloads.prefix(shape[0])), marginal(shape, (0, 1), 0.5), *ranges])


@pytest.mark.parametrize(("shape", "rounds", "patterns"), [((8, 4), 20, False), ((6, 6, 5), 1, True)])
def test_small_ordered_surveys_get_the_better_of_strategy_and_patterns(shape, rounds, patterns):
    """Patterns alone need 20 % more people on 32 types; on 216 a short search over all of these is worse. The mechanism is the same."""
    survey = along_an_order(*shape)
    found = ldp.optimize.design(survey, 1.0, time_limit=None, max_rounds=rounds)
    assert isinstance(found, SurveyDesign) == patterns
    others = design_survey(survey, 1.0, SearchLimits(time_limit=None, max_rounds=rounds))
    assert found.objective <= others.objective
    told = []
    limits = {"time_limit": None, "max_rounds": rounds, "callback": lambda progress: told.append(progress.objective)}
    mechanism = ldp.mechanisms.create("optimized", survey.n, 1.0, workload=survey, **limits)
    assert isinstance(mechanism, ldp.mechanisms.ScrambledPatterns | ldp.mechanisms.SplitSurvey) == patterns
    assert ldp.analysis.objective(mechanism, survey) == pytest.approx(found.objective, rel=1e-6)
    assert found.objective * (1 - 1e-9) <= min(told) <= max(told) <= others.objective


def test_a_prior_counts_for_small_surveys_along_an_order():
    """A proof for other people is on another scale: for an even spread it was more than this had."""
    survey = along_an_order(4, 2)
    for prior in (np.eye(8)[3], np.array([0.5, 0.5, 0, 0, 0, 0, 0, 0])):
        found = ldp.optimize.design(survey, 3.0, time_limit=None, max_rounds=20, prior=prior)
        proof = bounds.certificate(survey, 3.0, time_limit=None, prior=prior)
        assert proof.verify()
        assert proof.value <= found.objective * (1 + 1e-9) < proof.value * 1.2
        np.testing.assert_array_equal(found.prior, prior)


def test_past_written_strategies_yes_or_no_questions_get_patterns(lower):
    lower(MOST_FITTED_TYPES=64)
    workload = workloads.all_marginals(7)
    found = ldp.optimize.design(workload, 1.0, time_limit=None, max_rounds=6)
    assert isinstance(found, SurveyDesign)
    assert 0 <= found.objective / bounds.certificate(workload, 1.0, None).value - 1 < 0.005
    made = ldp.mechanisms.create("optimized", 128, 1.0, workload=workload, time_limit=None, max_rounds=2)
    assert isinstance(made, ldp.mechanisms.ScrambledPatterns)
    assert ldp.analysis.objective(made, workload) == pytest.approx(
        ldp.optimize.design(workload, 1.0, time_limit=None, max_rounds=2).objective, rel=1e-6
    )


def test_the_shares_are_the_best_for_their_patterns():
    """No pattern of the mixture gains more than it costs: the condition of the optimum of a convex
    problem."""
    survey = workloads.survey((4, 5, 6, 3), ways=2)
    found = design_survey(survey, 2.0, SearchLimits(time_limit=None, max_rounds=4))
    c = survey.components
    fourier_weights = np.array(
        [[one.fourier_weights(2.0).get(members, 0.0) for members in c.sets] for one in found.patterns]
    )
    x = found.shares @ fourier_weights
    prices = fourier_weights @ (c.dims**2 * c.gram / x**2)
    level = float(np.sum(c.dims**2 * c.gram / x))
    assert prices.max() <= level * (1 + 1e-3)


def test_designs_depend_on_seed_and_rounds_only():
    survey = workloads.survey((4, 3, 2, 2), ways=2)
    first, again = (design_survey(survey, 3.0, SearchLimits(time_limit=None, max_rounds=3, seed=7)) for _ in range(2))
    assert first.objective == again.objective
    assert first.rounds == 3
    assert first.stopped == "rounds"
    np.testing.assert_array_equal(first.shares, again.shares)
    for one, other in zip(first.patterns, again.patterns, strict=True):
        assert one.attributes == other.attributes
        np.testing.assert_array_equal(one.cells, other.cells)
    other = design_survey(survey, 3.0, SearchLimits(time_limit=None, max_rounds=3, seed=8))
    for made in (first, other):
        assert ldp.analysis.objective(made.mechanism(), survey) == pytest.approx(made.objective, rel=1e-6)


@pytest.mark.parametrize("last", [1, 2, 5, 20, 60, 200])
def test_a_cancelled_design_is_the_best_so_far(last):
    asked, told = [0], []

    def cancel():
        asked[0] += 1
        return asked[0] >= last

    survey = workloads.survey((7, 6, 5, 2, 2), ways=2)
    found = design_survey(survey, 3.0, SearchLimits(time_limit=None, callback=told.append, cancel=cancel))
    assert found.stopped == "cancelled"
    assert asked[0] <= last + 2
    told_best = min(progress.objective for progress in told)
    assert 0.99 * told_best < found.objective <= told_best * (1 + surveys.FREE)  # with fewer patterns
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)


def test_columns_of_one_value_play_no_part():
    survey, without = workloads.survey((4, 1, 3), ways=3), workloads.survey((4, 3), ways=2)
    first, second = (design_survey(w, 1.0, SearchLimits(time_limit=None, max_rounds=3)) for w in (survey, without))
    assert first.objective == pytest.approx(second.objective, rel=1e-4)
    assert all(1 not in pattern.attributes for pattern in first.patterns)


@pytest.mark.parametrize("epsilon", [0.001, 20.0])
def test_the_smallest_and_largest_epsilon_work(epsilon):
    survey = workloads.survey((6, 5, 2, 2), ways=2)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=4))
    assert math.isfinite(found.objective)
    assert found.objective >= bounds.centred_svd(survey, epsilon) * (1 - 1e-12)


def test_what_cannot_be_designed_is_refused_with_the_number():
    refused("out of range", lambda: design_survey(workloads.survey((3, 4)), 0.0, SearchLimits(None)))
    alone = workloads.Survey((3, 4), [workloads.Group((0,), workloads.custom(np.ones((1, 3))))])
    refused("single possible value", lambda: design_survey(alone, 1.0, SearchLimits(None)))
    wide = workloads.survey((2,) * 18, [range(18)])
    assert f"262,143 sets of attributes, and mechanisms are designed for at most {MOST_DESIGNED_SETS:,}" in too_many(
        wide
    )
    deep = workloads.survey((2,) * 15, [range(15)])
    assert "sets of up to 15 attributes with 14,348,906 subsets" in too_many(deep)


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_ordered_questions_are_judged_by_the_average_over_all_types(epsilon):
    """Patterns treat the values of every attribute alike; the objective is then that of the strategy all the same."""
    groups = [workloads.Group((0,), workloads.prefix(4)), workloads.Group((0, 1), workloads.histogram(12), 0.5)]
    survey = workloads.Survey((4, 3), groups)
    found = design_survey(survey, epsilon, SearchLimits(time_limit=None, max_rounds=3))
    objective = dense_objective(written_out(found, (4, 3)), survey)
    assert objective == pytest.approx(found.objective, rel=1e-9)
