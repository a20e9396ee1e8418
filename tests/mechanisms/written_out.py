"""Every report of a mechanism on few types, from what a person does, and its errors from those of
all reports."""

import math
from collections import Counter
from functools import cache, cached_property, singledispatch
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.linalg import hadamard, qr

from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.shuffled import Blanket, shuffled
from ldp_core.workloads import Survey

# --- reports and their probabilities --------------------------------------------------------------


def likely(held, epsilon):
    """Columns of probabilities, e^epsilon times as large where ``held``."""
    Q = np.where(held, math.exp(epsilon), 1.0)
    return Q / Q.sum(axis=0)


def order_of(n):
    """The least power of two that is at least n."""
    return 2 ** math.ceil(math.log2(n))


def padded(parts, width, fill):
    """The raw reports of several designs, each after the number of its design."""
    rows = np.full(
        (sum(map(len, parts)), 1 + width), fill, dtype=np.result_type(int, *parts) if fill else parts[0].dtype
    )
    start = 0
    for number, part in enumerate(parts):
        part = np.reshape(part, (len(part), -1))
        rows[start : start + len(part), 0] = number
        rows[start : start + len(part), 1 : 1 + part.shape[1]] = part
        start += len(part)
    return rows


@singledispatch
def reports_of(mechanism):
    """Raw reports (m, ...) as `aggregate` takes them, and Q (m, n)."""
    raise NotImplementedError(type(mechanism))


@reports_of.register
def _(mechanism: ExplicitMechanism):
    return np.arange(len(mechanism.strategy)), mechanism.strategy


@reports_of.register
def _(mechanism: RandomizedResponse):
    return np.arange(mechanism.n), likely(np.eye(mechanism.n, dtype=bool), mechanism.epsilon)


@reports_of.register
def _(mechanism: SubsetSelection):
    sets = np.array(list(combinations(range(mechanism.n), mechanism.size)))
    return sets, likely((sets[:, :, None] == np.arange(mechanism.n)).any(axis=1), mechanism.epsilon)


@reports_of.register
def _(mechanism: UnaryEncoding):
    bits = np.array(list(product((0, 1), repeat=mechanism.n)))
    E = math.exp(mechanism.epsilon)
    p, q = {"oue": (1 / 2, 1 / (E + 1)), "rappor": (1 / (1 + E**-0.5), 1 / (1 + E**0.5))}[mechanism.name]
    ones = np.where(np.eye(mechanism.n, dtype=bool), p, q)
    return bits, np.where(bits[:, None, :] == 1, ones, 1 - ones).prod(axis=2)


def signed(characters, epsilon):
    """Q of reports on the sign of one of the ``characters`` (m, n): plus, minus, plus, ..."""
    plus_and_minus = np.stack([characters, -characters], axis=1).reshape(-1, characters.shape[1])
    return np.where(plus_and_minus > 0, math.exp(epsilon), 1) / ((math.exp(epsilon) + 1) * len(characters))


@reports_of.register
def _(mechanism: LocalHashing):
    """Those whose key and offset are 0: another key renames the buckets of each type, and another offset all buckets."""
    g, E = mechanism.buckets, math.exp(mechanism.epsilon)
    raw = [(0, *told, 0, bucket) for told in product(range(g), repeat=mechanism.digits) for bucket in range(g)]
    raw = np.array(raw, dtype=np.uint64)
    bits = np.array([mechanism.aggregate(raw[[k]]).data for k in range(len(raw))])
    return raw, np.where(bits > 0, E, 1.0) / (E + g - 1) / g**mechanism.digits


@reports_of.register
def _(mechanism: HadamardRandomizedResponse):
    Q = signed(hadamard(order_of(mechanism.n))[1:, : mechanism.n], mechanism.epsilon)
    return np.arange(len(Q)), Q


@reports_of.register
def _(mechanism: Haar):
    parts, order, half = [], order_of(mechanism.n), 1
    while half < order:
        place = np.arange(mechanism.n)
        block, sign = place // (2 * half), np.where(place // half % 2 == 0, 1, -1)
        parts.append(signed(hadamard(order // (2 * half))[:, block] * sign, mechanism.epsilon))
        half *= 2
    raw = padded([np.arange(len(part)) for part in parts], 1, 0)
    return raw, np.concatenate(parts) / len(parts)


def nodes(n, branching):
    """The node (n,) of each type on every level of a tree, the leaves first."""
    found = []
    while branching ** len(found) < n:
        found.append(np.arange(n) // branching ** len(found))
    return found


def tables(shape, branching):
    """The cell (n,) of each type in every table of nodes of two trees, but that of the two roots."""
    rows, columns = ([*nodes(size, branching), np.zeros(size, dtype=int)] for size in shape)
    return [(a[:, None] * (b.max() + 1) + b).ravel() for a in rows for b in columns][:-1]


@reports_of.register
def _(mechanism: HierarchicalTree):
    told = mechanism.parameters
    shares = told.get("shares")
    if mechanism.name == "hierarchical_2d":
        levels = tables(told["shape"], told["branching"])
    else:
        levels = nodes(mechanism.n, told["branching"])
    parts = [reports_of(oracle) for oracle in mechanism.oracles]
    width = max(np.size(raw[0]) for raw, _ in parts)
    shares = shares if isinstance(shares, tuple) else np.full(len(levels), 1 / len(levels))
    Q = [share * part[:, level] for (_, part), level, share in zip(parts, levels, shares, strict=True)]
    return padded([raw for raw, _ in parts], width, 0), np.concatenate(Q)


def types_of(sizes):
    """(n, attributes) the values of every type."""
    return np.array(list(np.ndindex(tuple(sizes))))


def cells_of(sizes, attributes):
    """(n,) the cell of every type in the table of some attributes."""
    if not attributes:
        return np.zeros(math.prod(sizes), dtype=int)
    return np.ravel_multi_index(types_of(sizes)[:, list(attributes)].T, [sizes[i] for i in attributes])


@reports_of.register
def _(mechanism: SampledSets):
    parts = [reports_of(oracle) for oracle in mechanism.parts]
    Q = [
        share * part[:, cells_of(mechanism.sizes, members)]
        for (_, part), members, share in zip(parts, mechanism.sets, mechanism.shares, strict=True)
    ]
    return padded([raw for raw, _ in parts], max(np.size(raw[0]) for raw, _ in parts), -1), np.concatenate(Q)


@reports_of.register
def _(mechanism: ScrambledPatterns):
    types, raws, rows = types_of(mechanism.sizes), [], []
    for pattern, share in zip(mechanism.patterns, mechanism.shares, strict=True):
        moves = list(product(*(permutations(range(size)) for size in pattern.cells.shape)))
        raws.append(np.array([np.concatenate(move) for move in moves]))
        for move in moves:
            back = (np.argsort(one)[types[:, i]] for one, i in zip(move, pattern.attributes, strict=True))
            likelihood = np.where(pattern.cells[tuple(back)], math.exp(mechanism.epsilon), 1.0)
            mass = 1 + (math.exp(mechanism.epsilon) - 1) * pattern.cells.mean()
            rows.append(share * likelihood / (len(moves) * mass))
    return padded(raws, max(raw.shape[1] for raw in raws), -1), np.array(rows)


@reports_of.register
def _(mechanism: SplitSurvey):
    parts = [reports_of(one.mechanism) for one in mechanism.tables]
    cells = [cells_of(mechanism.sizes, one.attributes) for one in mechanism.tables]
    if mechanism.rest is not None:
        parts.append(reports_of(mechanism.rest))
        cells.append(np.arange(mechanism.n))
    Q = [share * part[:, cell] for (_, part), cell, share in zip(parts, cells, mechanism.shares, strict=True)]
    return padded([raw for raw, _ in parts], max(np.size(raw[0]) for raw, _ in parts), -1), np.concatenate(Q)


# --- what follows ---------------------------------------------------------------------------------


def close(found, expected, scale=0.0):
    """Equal but for rounding, also where sums of size ``scale`` cancel."""
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * max(1.0, float(scale)))


def within(samples, expected, scale=0.0, errors=5.0):
    """True if means over the first axis are within ``errors`` of their standard errors of the expected values.

    ``scale`` is the size of what was added up: where a figure is known exactly only rounding is left.
    """
    samples = np.asarray(samples)
    error = samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    return np.all(np.abs(samples.mean(axis=0) - expected) <= errors * error + 1e-9 * max(1.0, scale))


def same(one, other):
    """True if two collections keep the same numbers."""
    return all(np.array_equal(a, b) for a, b in zip(one.arrays, other.arrays, strict=True))


class EveryReport:
    """All reports of a mechanism: ``raw``, their probabilities ``Q``, and each collected alone."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.raw, self.Q = reports_of(mechanism)
        self.collected = [mechanism.aggregate(self.raw[[k]]) for k in range(len(self.raw))]

    @cache  # noqa: B019
    def estimate(self, k):
        return self.mechanism.estimate(self.collected[k])

    @cached_property
    def numbers(self):
        """(m, k) the numbers that each report is added up to."""
        return np.array([numbers_of(reports) for reports in self.collected], dtype=float)

    @cached_property
    def _with_users(self):
        """(m, k + 1) these numbers, and the one user of each report."""
        return np.column_stack([self.numbers, np.ones(len(self.numbers))])

    @cached_property
    def _some(self):
        """A few more reports than are needed to tell what all others add."""
        if len(self.numbers) <= 60:
            return np.arange(len(self.numbers))
        R, order = qr(self._with_users.T, mode="r", pivoting=True)
        rank = np.sum(np.abs(np.diag(R)) > 1e-9)
        return np.sort(order[: rank + 20])

    def added(self, workload):
        """(m, p) what each report adds to the answers, which are linear in the numbers of a report."""
        some = self._some
        told = np.array([self.estimate(k).answers(workload) for k in some])
        if len(some) == len(self.numbers):
            return told
        solution = np.linalg.lstsq(self._with_users[some], told)[0]
        np.testing.assert_allclose(self._with_users[some] @ solution, told, atol=1e-7 * np.abs(told).max())
        return self._with_users @ solution


def numbers_of(reports):
    """(k,) the numbers that reports are added up to."""
    return np.concatenate([np.ravel(array) for array in reports.arrays])


def parts_of(mechanism, workload):
    """Queries with the column of their contributions that each type has: all, or a table at a time.

    Surveys alone say what reports about columns add to their answers.
    """
    if mechanism.survey is None:
        yield np.arange(workload.num_queries), np.arange(workload.n), None
        return
    if not isinstance(workload, Survey):
        return
    start = 0
    for group in workload.groups:
        queries = np.arange(start, start := start + group.base.num_queries)
        yield queries, cells_of(mechanism.sizes, group.attributes), group.attributes


def check_errors(every, workload, counts, sharp=True):
    """Answers are unbiased, and every variance and limit is that of all reports.

    Where estimates put reports about several tables together, limits and variances by type may be
    above the exact ones: not ``sharp``.
    """
    mechanism, Q, queries = every.mechanism, every.Q, np.arange(workload.num_queries)
    W, adds = workload.rows(queries), every.added(workload)
    assert mechanism.supports(workload) is None
    close(Q.T @ adds, W.T)
    exact = Q.T @ adds**2 - W.T**2
    scale = np.abs(exact).max()
    profile = mechanism.variance_profile(workload)
    assert profile.shape == (workload.n,) or (profile.shape == (1,) and workload.symmetric)
    close(np.broadcast_to(profile, workload.n), exact.sum(axis=1), scale)
    close(mechanism.average_of(workload), exact.sum(axis=1).mean(), scale)
    times = np.random.default_rng(7).integers(0, 4, len(every.raw))
    together = mechanism.aggregate(np.repeat(every.raw, times, axis=0))
    close(mechanism.estimate(together).answers(workload), times @ adds, np.abs(adds).max() * times.sum())
    each = counts @ exact
    close(mechanism.query_variances(workload, counts), each, scale * counts.sum())
    some = queries[[-1, 0, len(queries) // 2]]
    close(mechanism.query_variances(workload, counts, some), each[some], scale * counts.sum())
    close(mechanism.variance_on(workload, counts), each.sum(), scale * counts.sum())
    for own, cells, attributes in parts_of(mechanism, workload):
        found = mechanism.query_contributions(workload, own)
        close(found.means[:, cells], W[own])
        above = found.variances[:, cells] - exact.T[own]
        up = adds[:, own].max(axis=0) - W[own].min(axis=1)
        down = W[own].max(axis=1) - adds[:, own].min(axis=0)
        for limit, reached in ((found.up, up), (found.down, down)):
            assert (limit * found.parts >= reached - 1e-9 * max(1, scale)).all()
            assert (limit <= 4 * reached + 1e-9 * max(1, scale)).all()
        assert (above >= -1e-7 * scale - 1e-9).all()
        if sharp:
            close(found.variances[:, cells], exact.T[own], scale)
        two = np.isfinite(found.low)
        nearest = np.minimum(np.abs(adds[:, own] - found.low), np.abs(adds[:, own] - found.high))
        assert nearest[:, two] == pytest.approx(0, abs=1e-7)
        if sharp and attributes is not None:
            close((found.up, found.down), (up, down), scale)


def check_collected(every, counts, people=None, trials=200):
    """What reports are added up to is drawn with the exact mean and covariance."""
    Q, rng = every.Q, np.random.default_rng(5)
    numbers = every.numbers
    drawn = [every.mechanism.simulate(counts if people is None else people, rng) for _ in range(trials)]
    assert all(reports.users == counts.sum() for reports in drawn)
    found = np.array([numbers_of(reports) for reports in drawn])
    means = numbers.T @ Q
    covariance = numbers.T @ ((Q @ counts)[:, None] * numbers) - (means * counts) @ means.T
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0) / trials)
    assert (
        np.abs(found.mean(axis=0) - means @ counts) <= 5 * deviation + 3 / trials
    ).all()  # rare reports come once or not at all
    direction = rng.normal(size=(numbers.shape[1], 8))
    spread = (found @ direction).var(axis=0) / np.einsum("ak,ab,bk->k", direction, covariance, direction)
    assert np.abs(spread - 1).max() < 5 * math.sqrt(2 / trials)


def check_sent(every, person, users=20_000):
    """People of one type send every report as often as is written out, and parts of reports add up."""
    mechanism = every.mechanism
    values = np.full(users, person)
    if mechanism.survey is not None:
        values = np.repeat(types_of(mechanism.sizes)[[person]], users, axis=0)
    sent = mechanism.privatize(values, np.random.default_rng(3))
    unique, times = np.unique(sent, axis=0, return_counts=True)
    expected, often = Counter(), Counter()
    for reports, chance in zip(every.collected, every.Q[:, person], strict=True):
        expected[numbers_of(reports).tobytes()] += users * chance
    for row, number in zip(unique, times.tolist(), strict=True):
        often[numbers_of(mechanism.aggregate(row[None])).tobytes()] += number
    assert often.keys() <= expected.keys()
    common = [name for name in expected if expected[name] >= 5]
    found = np.array([*(often[name] for name in common), users - sum(often[name] for name in common)])
    likely = np.array([*(expected[name] for name in common), users - sum(expected[name] for name in common)])
    chi = ((found - likely) ** 2 / np.maximum(likely, 1)).sum()  # rare reports count together
    assert chi < len(found) + 5 * math.sqrt(2 * len(found))
    whole = mechanism.aggregate(sent)
    halves = mechanism.aggregate(sent[: users // 3]) + mechanism.aggregate(sent[users // 3 :])
    assert whole.users == halves.users == users
    for both, one in zip(halves.arrays, whole.arrays, strict=True):
        np.testing.assert_array_equal(both, one)


def check_guarantee(every, spent=True):
    """The audit is the largest ratio of all reports, and epsilon where it is ``spent``, or less."""
    mechanism, Q = every.mechanism, every.Q
    np.testing.assert_allclose(Q.sum(axis=0), 1, atol=1e-9)
    audit, ratios = mechanism.audit(), np.log(Q.max(axis=1) / Q.min(axis=1))
    assert audit.epsilon <= mechanism.epsilon
    assert audit.epsilon == pytest.approx(ratios.max(), rel=1e-7)
    assert not spent or audit.epsilon == pytest.approx(mechanism.epsilon, rel=1e-7)
    mixed, of_all = shuffled(mechanism, 300), shuffled(Blanket.of_table(Q), 300)
    assert of_all * (1 - 1e-6) <= mixed <= 1.25 * of_all
    one, other = audit.worst_pair
    assert np.log(Q[:, one] / Q[:, other]).max() == pytest.approx(ratios.max(), rel=1e-7)
