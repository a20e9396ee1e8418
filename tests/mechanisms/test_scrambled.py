"""Scrambled patterns against a domain of 2 x 3 x 4 types with every image written out."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from ldp_core import mechanisms
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.people import Counted, Records
from ldp_core.workloads import Custom, Group, Histogram, KWayMarginals, Parity, Prefix, Survey, survey

SIZES, EPSILON = (2, 3, 4), 1.2
COUNTS = np.array([3, 0, 1, 5, 2, 2, 9, 0, 4, 1, 1, 7, 0, 2, 8, 3, 3, 1, 0, 6, 2, 5, 1, 4])


def mask(shape, *cells):
    found = np.zeros(shape, dtype=bool)
    found[tuple(zip(*cells, strict=True))] = True
    return found


PATTERNS = [
    Pattern((0, 1), mask((2, 3), (0, 0), (1, 1))),
    Pattern((1, 2), mask((3, 4), (0, 0), (0, 1), (1, 2), (2, 3))),
    Pattern((0, 2), mask((2, 4), (0, 0), (1, 3), (1, 2))),
    Pattern((2,), mask((4,), (1,))),
    Pattern((1,), mask((3,), (0,), (2,))),
    Pattern((0, 1, 2), np.random.default_rng(1).random(SIZES) < 0.4),
]
SHARES = np.array([0.2, 0.3, 0.15, 0.1, 0.05, 0.2])


@pytest.fixture(scope="module")
def mechanism():
    return ScrambledPatterns("optimized", SIZES, EPSILON, PATTERNS, SHARES, {"seed": 0})


def written_out(patterns, shares, sizes, epsilon):
    """Q (m, n) over every image of every pattern, as sets of cells, and the pattern of each row."""
    types = list(product(*map(range, sizes)))
    rows, owners, masks = [], [], []
    for number, (pattern, share) in enumerate(zip(patterns, shares, strict=True)):
        cells = list(zip(*np.nonzero(pattern.cells), strict=True))
        images = {
            frozenset(tuple(int(move[c]) for move, c in zip(moves, cell, strict=True)) for cell in cells)
            for moves in product(*(permutations(range(size)) for size in pattern.cells.shape))
        }
        for image in sorted(images, key=sorted):
            inside = np.array([tuple(u[i] for i in pattern.attributes) in image for u in types])
            high = share / len(images) / (1 + (math.exp(epsilon) - 1) * pattern.cells.mean())
            rows.append(np.where(inside, math.exp(epsilon) * high, high))
            owners.append(number)
            masks.append(inside)
    return np.array(rows), np.array(owners), np.array(masks)


@pytest.fixture(scope="module")
def strategy():
    return written_out(PATTERNS, SHARES, SIZES, EPSILON)


@pytest.fixture(scope="module")
def adds(mechanism, strategy):
    """(m, n) what each output adds to the counts, by the optimal reconstruction."""
    Q = strategy[0]
    information = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    return np.linalg.solve(information, (Q / Q.sum(axis=1, keepdims=True)).T).T


ORDERED = Survey(
    SIZES,
    [
        Group((1, 2), Histogram(12), 2.0),
        Group((2,), Prefix(4)),
        Group((0, 1), Prefix(6), 0.5),
        Group((0, 1, 2), Histogram(24)),
    ],
)
WORKLOADS = [
    survey(SIZES, 1),
    survey(SIZES, 2, weights=[1.0, 3.0, 0.5]),
    survey(SIZES, 3),
    KWayMarginals(SIZES, 2),
    Histogram(24),
    Prefix(24),
    ORDERED,
]


def matrix(workload):
    return workload.rows(np.arange(workload.num_queries))


def variances_written_out(Q, adds, W, counts):
    """(p,) exact variances of the answers, from every output."""
    answers = adds @ W.T
    means = Q.T @ answers
    return counts @ (Q.T @ answers**2 - means**2)


def test_every_image_is_written_out_as_the_mechanism_promises(mechanism, strategy):
    Q, owners, _ = strategy
    np.testing.assert_allclose(Q.sum(axis=0), 1, atol=1e-12)
    assert np.max(Q.max(axis=1) / Q.min(axis=1)) <= math.exp(EPSILON) * (1 + 1e-12)
    M = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    for members, value in mechanism.information.items():
        projection = np.ones((1, 1))
        for i, size in enumerate(SIZES):
            mean = np.full((size, size), 1 / size)
            projection = np.kron(projection, np.eye(size) - mean if i in members else mean)
        np.testing.assert_allclose(M @ projection, value * projection, atol=1e-12)
    assert len(mechanism.information) == 7
    raws = sum(math.prod(math.factorial(size) for size in pattern.cells.shape) for pattern in PATTERNS)
    assert mechanism.bits_per_report == math.ceil(math.log2(raws))
    assert len(owners) <= raws


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_variances_are_those_of_all_images(mechanism, strategy, adds, workload):
    Q, W = strategy[0], matrix(workload)
    expected = variances_written_out(Q, adds, W, COUNTS)
    np.testing.assert_allclose(mechanism.query_variances(workload, COUNTS), expected, rtol=1e-9, atol=1e-9)
    some = np.array([0, workload.num_queries - 1, 1])
    for people in (COUNTS, Counted(COUNTS, SIZES), Records(np.repeat(list(np.ndindex(SIZES)), COUNTS, axis=0), SIZES)):
        found = mechanism.query_variances(workload, people, some)
        np.testing.assert_allclose(found, expected[some], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_profile_is_that_of_all_images(mechanism, strategy, adds, workload):
    Q, W = strategy[0], matrix(workload)
    expected = np.array([variances_written_out(Q, adds, W, unit).sum() for unit in np.eye(24)])
    profile = mechanism.variance_profile(workload)
    alike = isinstance(workload, Survey) and workload.symmetric
    assert profile.shape == ((1,) if alike else (24,))
    np.testing.assert_allclose(np.broadcast_to(profile, 24), expected, rtol=1e-9, atol=1e-9)
    M = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    objective = np.trace(np.linalg.solve(M, W.T @ W))
    assert 24 * profile.mean() + workload.trace == pytest.approx(objective, rel=1e-10)


def test_contributions_are_those_of_all_images(mechanism, strategy, adds):
    Q = strategy[0]
    for attributes in [(2,), (0, 1), (1, 2), (0, 1, 2)]:
        cells = math.prod(SIZES[i] for i in attributes)
        lifted = Survey(SIZES, [Group(attributes, Histogram(cells))])
        W = matrix(lifted)
        queries = np.arange(cells)
        found = mechanism.query_contributions(lifted, queries)
        answers = adds @ W.T
        means = Q.T @ answers
        variances = Q.T @ answers**2 - means**2
        types = np.array(list(np.ndindex(SIZES)))[:, attributes]
        places = np.ravel_multi_index(types.T, [SIZES[i] for i in attributes])
        np.testing.assert_allclose(found.means[:, places], means.T, atol=1e-10)
        np.testing.assert_allclose(found.variances[:, places], variances.T, atol=1e-9)
        np.testing.assert_allclose(found.up, answers.max(axis=0) - means.min(axis=0), atol=1e-9)
        np.testing.assert_allclose(found.down, means.max(axis=0) - answers.min(axis=0), atol=1e-9)


def test_bounds_hold_what_reports_add_to_other_questions(mechanism, strategy, adds):
    W = matrix(ORDERED)
    answers = adds @ W.T
    found = mechanism.query_contributions(ORDERED, np.arange(ORDERED.num_queries))
    up, down = answers.max(axis=0) - W.min(axis=1), W.max(axis=1) - answers.min(axis=0)
    assert (found.up >= up - 1e-9).all()
    assert (found.down >= down - 1e-9).all()
    assert (found.up <= 3 * up + 1e-9).all()  # and they are no more than a few times too wide
    single = np.arange(12, 15)  # running totals of one attribute: only patterns over it, or that hold it, matter
    assert (found.up[single] <= 1.6 * up[single]).all()


def test_reports_of_one_person_come_as_often_as_the_strategy_says(mechanism, strategy):
    Q, owners, masks = strategy
    types = np.array(list(np.ndindex(SIZES)))
    person, users = 17, 100_000
    raw = mechanism.privatize(np.tile(types[person], (users, 1)), np.random.default_rng(3))
    assert np.issubdtype(raw.dtype, np.integer)
    assert raw.shape == (users, 1 + 9)
    known = {(owner, inside.tobytes()): row for row, (owner, inside) in enumerate(zip(owners, masks, strict=True))}
    tally = np.zeros(len(Q))
    for report, times in zip(*np.unique(raw, axis=0, return_counts=True), strict=True):
        pattern = PATTERNS[report[0]]
        moves = np.split(report[1 : 1 + sum(pattern.cells.shape)], np.cumsum(pattern.cells.shape)[:-1])
        image = np.zeros(pattern.cells.shape, dtype=bool)
        image[np.ix_(*moves)] = pattern.cells
        tally[known[report[0], image[tuple(types[:, pattern.attributes].T)].tobytes()]] += times
    expected = users * Q[:, person]
    chi = ((tally - expected) ** 2 / expected).sum()
    assert chi < len(Q) - 1 + 5 * math.sqrt(2 * (len(Q) - 1))


def test_aggregate_counts_what_images_cover(mechanism):
    records = np.array(list(np.ndindex(SIZES)))
    raw = mechanism.privatize(records, np.random.default_rng(0))
    reports = mechanism.aggregate(raw)
    sent, cover = reports.arrays
    assert sent.sum() == 24
    assert sent.dtype == cover.dtype == np.int64
    expected, starts = np.zeros(len(cover), dtype=int), np.cumsum([0] + [p.cells.size for p in PATTERNS])
    for report in raw:
        pattern = PATTERNS[report[0]]
        moves = np.split(report[1 : 1 + sum(pattern.cells.shape)], np.cumsum(pattern.cells.shape)[:-1])
        image = np.zeros(pattern.cells.shape, dtype=int)
        image[np.ix_(*moves)] = pattern.cells
        expected[starts[report[0]] : starts[report[0] + 1]] += image.ravel()
    np.testing.assert_array_equal(cover, expected)
    halves = mechanism.aggregate(raw[:9]) + mechanism.aggregate(raw[9:])
    assert all((mine == whole).all() for mine, whole in zip(halves.arrays, reports.arrays, strict=True))
    assert mechanism.aggregate(raw[:0]).users == 0


@pytest.mark.parametrize("how", ["privatize", "simulate"])
def test_estimates_are_unbiased_and_have_the_exact_variance(mechanism, how):
    asked, trials = survey(SIZES, 2), 200
    records = np.repeat(np.array(list(np.ndindex(SIZES))), COUNTS, axis=0)
    truth, found, errors = asked.answers(Counted(COUNTS, SIZES)), [], []
    rng = np.random.default_rng(7)
    for _ in range(trials):
        if how == "privatize":
            reports = mechanism.aggregate(mechanism.privatize(records, rng))
        else:
            reports = mechanism.simulate(COUNTS, rng)
        estimate = mechanism.estimate(reports)
        assert estimate.unbiased
        assert (estimate.counts(), estimate.total) == (None, COUNTS.sum())
        found.append(estimate.answers(asked))
        errors.append(estimate.squared_error(asked, COUNTS))
        one = estimate.table([2, 1]).reshape(4, 3)
        np.testing.assert_allclose(one.sum(axis=0), estimate.table([1]), atol=1e-9)
        np.testing.assert_allclose(estimate.table([0, 1]).reshape(2, 3).sum(axis=0), estimate.table([1]), atol=1e-9)
        assert one.sum() == pytest.approx(COUNTS.sum())
    variances = mechanism.query_variances(asked, COUNTS)
    assert np.abs((np.mean(found, axis=0) - truth) / np.sqrt(variances / trials)).max() < 4.5
    assert np.mean(errors) == pytest.approx(np.sum((np.array(found) - truth) ** 2, axis=1).mean())
    total = COUNTS.sum() * mechanism.variance_profile(asked)[0]
    assert variances.sum() == pytest.approx(total)
    assert abs(np.mean(errors) - total) < 4.5 * np.std(errors) / math.sqrt(trials)
    spread = np.var(found, axis=0)  # of about normal answers: relative error sqrt(2 / trials)
    assert np.abs(spread / variances - 1).max() < 5 * math.sqrt(2 / trials)


def test_both_ways_of_collecting_have_the_same_moments(mechanism):
    records = np.repeat(np.array(list(np.ndindex(SIZES))), COUNTS, axis=0)
    rng, trials = np.random.default_rng(11), 200

    def drawn(collect):
        return np.array([np.concatenate(collect().arrays) for _ in range(trials)])

    first = drawn(lambda: mechanism.aggregate(mechanism.privatize(records, rng)))
    second = drawn(lambda: mechanism.simulate(Records(records, SIZES), rng))
    error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / trials)
    assert np.abs((first.mean(axis=0) - second.mean(axis=0)) / error).max() < 4.5
    ratio = np.cov(first.T).diagonal() / np.cov(second.T).diagonal()
    assert np.abs(np.log(ratio)).max() < 5 * math.sqrt(4 / trials)
    products = [np.einsum("ti,tj->tij", one - one.mean(axis=0), one - one.mean(axis=0)) for one in (first, second)]
    uncertain = np.sqrt(sum(part.var(axis=0) for part in products) / trials)
    assert np.abs((products[0].mean(axis=0) - products[1].mean(axis=0)) / uncertain).max() < 5.5


def test_the_guarantee_is_that_of_the_coin_as_drawn(mechanism):
    audit = mechanism.audit()
    assert EPSILON - 1e-9 < audit.epsilon <= EPSILON
    first, second = (np.unravel_index(t, SIZES) for t in audit.worst_pair)
    assert first != second
    for epsilon in (0.001, 8.0, 20.0):
        other = ScrambledPatterns("optimized", SIZES, epsilon, PATTERNS, SHARES)
        assert other.audit().epsilon <= epsilon
        assert other.audit().epsilon > epsilon - 1e-5
        assert (other.true_probability * 2.0**53 == np.floor(other.true_probability * 2.0**53)).all()


def test_values_that_are_all_alike_are_asked_for_free(strategy, adds):
    sizes = (2, 1, 3, 4)
    patterns = [Pattern(tuple(i + (i > 0) for i in one.attributes), one.cells) for one in PATTERNS[:5]]
    patterns.append(Pattern((0, 1, 2, 3), PATTERNS[5].cells.reshape(sizes)))
    mechanism = ScrambledPatterns("optimized", sizes, EPSILON, patterns, SHARES)
    asked = survey(sizes, 3)
    assert mechanism.supports(asked) is None
    assert all(1 not in members for members in mechanism.information)
    expected = variances_written_out(strategy[0], adds, matrix(asked), COUNTS)
    np.testing.assert_allclose(mechanism.query_variances(asked, COUNTS), expected, rtol=1e-9, atol=1e-9)
    records = np.array(list(np.ndindex(sizes)))
    estimate = mechanism.estimate(mechanism.aggregate(mechanism.privatize(records, np.random.default_rng(0))))
    assert estimate.table([1]) == pytest.approx([24.0])
    np.testing.assert_allclose(estimate.table([1, 3]), estimate.table([3]))


def test_what_reports_do_not_tell_is_refused():
    first = Pattern((0, 1), mask((2, 3), (0, 0), (0, 1)))
    second = Pattern((1, 2), mask((3, 4), (0, 0), (0, 1), (1, 1), (2, 3)))
    mechanism = ScrambledPatterns("optimized", SIZES, 1.0, [first, second], [0.4, 0.6])
    assert mechanism.supports(survey(SIZES, 1)) is None
    assert "how attribute 1 and attribute 3 go together" in mechanism.supports(survey(SIZES, 2))
    assert mechanism.supports(survey(SIZES, [(0, 1), (1, 2)])) is None
    with pytest.raises(ValueError, match="say nothing about how"):
        mechanism.variance_profile(survey(SIZES, 2))
    with pytest.raises(ValueError, match="say nothing about how"):
        mechanism.query_variances(survey(SIZES, 2), COUNTS)
    assert "sizes" in mechanism.supports(survey((3, 2, 4), 1))
    assert "types" in mechanism.supports(Histogram(25))
    assert mechanism.supports(Histogram(24)) is not None
    balanced = ScrambledPatterns("optimized", (2, 2), 1.0, [Pattern((0, 1), mask((2, 2), (0, 0), (1, 1)))], [1.0])
    assert "the values of attribute 1" in balanced.supports(survey((2, 2), 1))
    assert set(balanced.information) == {(0, 1)}


def test_parities_are_answered_from_their_component_alone():
    pattern = Pattern((0, 1), mask((2, 2), (0, 0), (1, 1)))
    mechanism = ScrambledPatterns("optimized", (2, 2, 2), 1.0, [pattern], [1.0])
    asked = Survey((2, 2, 2), [Group((0, 1), Custom([[1, -1, -1, 1]]))])
    Q, _, _ = written_out([pattern], [1.0], (2, 2, 2), 1.0)
    assert len(Q) == 2
    chance = math.e / (1 + math.e)  # of the true parity: randomized response
    expected = 4 * chance * (1 - chance) / (2 * chance - 1) ** 2
    assert mechanism.supports(asked) is None
    np.testing.assert_allclose(mechanism.variance_profile(asked), [expected])
    np.testing.assert_allclose(mechanism.query_variances(asked, np.full(8, 5)), [40 * expected])
    one_sided = Survey((2, 2, 2), [Group((0, 1), Custom([[1, 0, 0, 1]]))])  # all people, and the parity
    assert not one_sided.symmetric
    np.testing.assert_allclose(mechanism.variance_profile(one_sided), np.full(8, expected / 4))
    assert "the values of attribute 1" in mechanism.supports(Survey((2, 2, 2), [Group((0, 1), Parity(2))]))
    reports = mechanism.simulate(np.array([0, 0, 0, 0, 10**6, 0, 0, 0]), np.random.default_rng(0))
    assert abs(mechanism.estimate(reports).answers(asked)[0] + 10**6) < 5 * math.sqrt(10**6 * expected)


def test_nothing_grows_with_the_number_of_types():
    sizes = [20] * 199 + [1]
    chain = [(i, i + 1) for i in range(0, 198, 2)]
    cells = np.indices((20, 20)).sum(axis=0) % 20 < 5
    patterns = [Pattern(one, cells) for one in chain] + [Pattern((198,), np.arange(20) < 5)]
    patterns += [Pattern((i,), np.arange(20) < 5) for i in range(198)]
    mechanism = ScrambledPatterns("optimized", sizes, 2.0, patterns, np.full(298, 1 / 298))
    assert mechanism.n == 20**199
    assert "10²⁵⁸ types" in repr(mechanism)
    assert mechanism.audit().epsilon <= 2
    asked = survey(sizes, chain)
    records = np.random.default_rng(0).integers(0, sizes, size=(3000, 200))
    raw = mechanism.privatize(records, np.random.default_rng(1))
    assert raw.nbytes < 3000 * 100
    total = mechanism.variance_profile(asked)[0] * 3000
    assert mechanism.query_variances(asked, records).sum() == pytest.approx(total)
    error = mechanism.estimate(mechanism.aggregate(raw)).squared_error(asked, Records(records, sizes))
    assert abs(error / total - 1) < 0.2


def test_people_are_given_by_records_or_by_types(mechanism):
    rng = np.random.default_rng(0)
    records = np.stack([rng.integers(size, size=500) for size in SIZES], axis=1)
    types = np.ravel_multi_index(records.T, SIZES)
    one, two = (mechanism.privatize(given, np.random.default_rng(1)) for given in (records, types))
    np.testing.assert_array_equal(one, two)
    for outside in (-1, math.prod(SIZES)):
        with pytest.raises(ValueError, match="Types run from 0 to"):
            mechanism.privatize(np.array([0, outside]), rng)
    with pytest.raises(ValueError, match="Records must be"):
        mechanism.privatize(np.array([0.0, 1.0]), rng)


def test_bad_input_is_refused(mechanism):
    with pytest.raises(ValueError, match="probability each"):
        ScrambledPatterns("optimized", SIZES, 1.0, PATTERNS, SHARES[:5])
    with pytest.raises(ValueError, match="sum to 1"):
        ScrambledPatterns("optimized", SIZES, 1.0, PATTERNS, SHARES * 2)
    with pytest.raises(ValueError, match="does not fit"):
        ScrambledPatterns("optimized", (2, 3, 5), 1.0, PATTERNS, SHARES)
    with pytest.raises(ValueError, match="lie outside"):
        mechanism.privatize(np.array([[0, 3, 0]]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="must hold"):
        mechanism.aggregate(np.zeros((1, 3), dtype=int))
    good = mechanism.privatize(np.zeros((1, 3), dtype=int), np.random.default_rng(0))
    with pytest.raises(ValueError, match="numbered from 0 to 5"):
        mechanism.aggregate(np.where(np.arange(10) == 0, 6, good))
    bad = good.copy()
    bad[0, 1] = bad[0, 2]
    with pytest.raises(ValueError, match="permutation"):
        mechanism.aggregate(bad)
    other = ScrambledPatterns("optimized", SIZES, 1.0, PATTERNS, SHARES)
    with pytest.raises(ValueError, match="another mechanism"):
        mechanism.estimate(other.aggregate(good))


@pytest.mark.parametrize("attributes", [(0, 0), (3,), (-1,)])
def test_tables_of_other_attributes_are_refused(mechanism, attributes):
    estimate = mechanism.estimate(mechanism.simulate(COUNTS, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="different attributes, from 0 to 2"):
        estimate.table(attributes)


def test_a_million_values_work_and_too_many_reports_are_refused():
    asked = survey([10**6, 2, 3], 1)
    mechanism = mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=1)
    records = np.random.default_rng(0).integers(0, asked.shape, size=(2000, 3))
    estimate = mechanism.estimate(mechanism.aggregate(mechanism.privatize(records[:4], np.random.default_rng(1))))
    assert estimate.table([0]).sum() == pytest.approx(4)
    reports = mechanism.simulate(Records(records[:20], asked.shape), np.random.default_rng(2))
    assert mechanism.estimate(reports).table([0]).sum() == pytest.approx(20)
    with pytest.raises(ValueError, match=r"2,000 reports of 1,000,001 numbers each .* at most 1,073 people at a time"):
        mechanism.privatize(records, np.random.default_rng(3))
