"""What survey reports reveal about a column, against every report written out."""

import itertools
import math

import numpy as np
import pytest

from ldp_core import beliefs
from ldp_core.mechanisms import ExplicitMechanism, ScrambledPatterns, SplitSurvey
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.split_survey import GroupTable
from ldp_core.people import Counted
from ldp_core.workloads import survey

SIZES = (3, 2, 2)
EPSILON = 1.5
COUNTS = np.random.default_rng(4).integers(0, 60, math.prod(SIZES))
PEOPLE = Counted(COUNTS, SIZES)


def sets_of(attributes, images, share):
    """Rows over all types of the reports (attributes, S), each image as likely as the others."""
    types = np.stack(np.unravel_index(np.arange(len(COUNTS)), SIZES))[list(attributes)]
    ratio = math.exp(EPSILON)
    for held in images:
        inside = held[tuple(types)]
        size = held.mean()
        yield share / len(images) * np.where(inside, ratio, 1.0) / (1 + (ratio - 1) * size)


def every_report(mechanism):
    rows = []
    if isinstance(mechanism, SplitSurvey):
        types = np.stack(np.unravel_index(np.arange(len(COUNTS)), SIZES))
        for one, share in zip(mechanism.own, mechanism.shares, strict=False):
            cells = np.ravel_multi_index(tuple(types[list(one.attributes)]), [SIZES[i] for i in one.attributes])
            rows += list(share * one.mechanism.strategy[:, cells])
        rest = [] if mechanism.rest is None else list(mechanism.shares[-1] * every_report(mechanism.rest))
        return np.array(rows + rest)
    if isinstance(mechanism, ScrambledPatterns):
        for pattern, share in zip(mechanism.patterns, mechanism.shares, strict=True):
            orders = [list(itertools.permutations(range(size))) for size in pattern.cells.shape]
            images = [pattern.cells[np.ix_(*order)] for order in itertools.product(*orders)]
            rows += sets_of(pattern.attributes, images, share)
        return np.array(rows)
    for k, (members, share) in enumerate(zip(mechanism.sets, mechanism.shares, strict=True)):
        shape = tuple(SIZES[i] for i in members)
        cells, size = math.prod(shape), getattr(mechanism.oracle(k), "size", 1)
        images = []
        for chosen in itertools.combinations(range(cells), size):
            held = np.zeros(cells, dtype=bool)
            held[list(chosen)] = True
            images.append(held.reshape(shape))
        rows += sets_of(members, images, share)
    return np.array(rows)


def by_cell(rows, places):
    """P(report, cell) (m, cells) of the table over ``places`` for a person drawn from the people."""
    joint = (rows * (COUNTS / COUNTS.sum())).reshape(len(rows), *SIZES)
    others = tuple(1 + i for i in range(len(SIZES)) if i not in places)
    return joint.sum(axis=others).reshape(len(rows), -1)


def patterns():
    corner = np.zeros((3, 2), dtype=bool)
    corner[0, 0] = corner[1, 1] = True
    single = np.array([True, False, False])
    shapes = [Pattern((0, 1), corner), Pattern((0,), single), Pattern((1, 2), np.eye(2, dtype=bool))]
    return ScrambledPatterns("optimized", SIZES, EPSILON, shapes, np.array([0.5, 0.2, 0.3]))


def split(rest):
    own = []
    for attributes in ((0,), (0, 2)):
        n = math.prod(SIZES[i] for i in attributes)
        strategy = np.random.default_rng(n).random((2 * n, n)) + 0.5
        own.append(GroupTable(attributes, ExplicitMechanism("optimized", strategy / strategy.sum(axis=0), EPSILON)))
    return SplitSurvey("optimized", SIZES, EPSILON, own, rest, [0.3, 0.2, 0.5][: 2 + (rest is not None)])


MECHANISMS = {
    "strategies and patterns": lambda: split(patterns()),
    "strategies": lambda: split(None),
    "subset selection": lambda: SampledSets(survey(SIZES), EPSILON),
    "randomized response": lambda: SampledSets(survey(SIZES), EPSILON, "randomized_response"),
    "patterns": patterns,
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("places", [(0,), (1,), (0, 1), (0, 2)])
def test_a_column_against_all_reports_written_out(name, places):
    mechanism = MECHANISMS[name]()
    joint = by_cell(every_report(mechanism), places)
    assert joint.sum() == pytest.approx(1)
    found = beliefs.exposure_of_columns(mechanism, PEOPLE, places)
    best, mean = joint.max(axis=1), joint.sum(axis=1)
    gained = (best - joint[:, joint.sum(axis=0).argmax()]) / mean
    spread = math.sqrt(float(mean @ (gained - float(mean @ gained)) ** 2))
    assert abs(found.guess - best.sum()) <= 4 * spread / math.sqrt(beliefs.REPORTS) + 1e-12
    given = joint / joint.sum(axis=0)
    largest = math.log((given.max(axis=1) / given.min(axis=1)).max())
    rest = (joint.sum(axis=1, keepdims=True) - joint) / (1 - joint.sum(axis=0))
    alone = math.log((given / rest).max())
    assert largest - 1e-9 <= found.between <= EPSILON + 1e-9
    assert alone - 1e-9 <= found.single <= found.between  # the smaller of both, so without an allowance
    if name == "patterns" and places == (1,):  # a column alone is never told as much as epsilon allows
        assert found.between < 0.95 * EPSILON


@pytest.mark.parametrize("places", [(0,), (1,), (0, 1), (0, 2)])
def test_of_strategies_alone_everything_is_exact(places):
    mechanism = split(None)
    joint = by_cell(every_report(mechanism), places)
    found = beliefs.exposure_of_columns(mechanism, PEOPLE, places)
    assert not beliefs.drawn_at_random(mechanism)
    assert found.guess == pytest.approx(joint.max(axis=1).sum())
    given = joint / joint.sum(axis=0)
    assert found.between == pytest.approx(math.log((given.max(axis=1) / given.min(axis=1)).max()))
    rest = (joint.sum(axis=1, keepdims=True) - joint) / (1 - joint.sum(axis=0))
    assert found.single == pytest.approx(math.log((given / rest).max()))


def test_one_set_of_all_columns_tells_what_subset_selection_tells():
    mechanism = SampledSets(survey(SIZES, ways=3), EPSILON)
    exact = beliefs.exposure(SubsetSelection(len(COUNTS), EPSILON), COUNTS / COUNTS.sum())
    found = beliefs.exposure_of_columns(mechanism, PEOPLE, (0, 1, 2))
    assert found.single == pytest.approx(exact.single)
    assert found.between == pytest.approx(exact.between)
    assert found.guess == pytest.approx(exact.guess, rel=0.05)
