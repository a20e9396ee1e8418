"""Surveys on 2 x 3 x 4 types, and mechanisms for them whose reports can all be written out."""

import math

import numpy as np

from ldp_core import workloads
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize import design
from ldp_core.workloads import Group, Histogram, KWayMarginals, Prefix, Survey, survey

SIZES, EPSILON = (2, 3, 4), 1.2
COUNTS = np.random.default_rng(1).multinomial(300, np.random.default_rng(2).dirichlet(np.ones(24) / 2))
PAIRS = survey(SIZES, 2, weights=[1.0, 2.0, 0.5])
TOTALS = workloads.product([Histogram(3), Prefix(4)])
MIXED = Survey(SIZES, [*PAIRS.groups, Group((0, 1), Prefix(6)), Group((1, 2), Prefix(12), 0.5), Group((2,), Prefix(4))])
"""Questions that follow an order on sets that share an attribute."""
ORDERED = Survey(SIZES, [*PAIRS.groups, Group((2,), Prefix(4), 1.5), Group((0, 1, 2), Histogram(24), 0.3)])
"""Pairs, running totals along the last attribute, and all types."""
BETWEEN_PAIRS = {
    "pairs": PAIRS,
    "nested": survey(SIZES, [(0,), (0, 1), (1, 2), (2,)], weights=[3.0, 1.0, 2.0, 0.5]),
    "ordered": Survey(SIZES, [Group((0, 1), Histogram(6), 2.0), Group((2,), Prefix(4), 1.5), Group((1, 2), TOTALS)]),
    "mixed": MIXED,
}
AMONG_ALL = {
    "all": survey(SIZES, 3),
    "ordered, with all": ORDERED,
    "marginals of types": KWayMarginals(SIZES, 2),
    "running totals of types": Prefix(24),
}


def mask(shape, *cells):
    inside = np.zeros(shape, dtype=bool)
    inside[tuple(zip(*cells, strict=True))] = True
    return inside


PATTERNS = [
    Pattern((0, 1), mask((2, 3), (0, 0), (1, 1))),
    Pattern((1, 2), mask((3, 4), (0, 0), (0, 1), (1, 2), (2, 3))),
    Pattern((0, 2), mask((2, 4), (0, 0), (1, 3), (1, 2))),
    Pattern((1,), mask((3,), (0,), (2,))),
    Pattern((0, 1, 2), np.random.default_rng(1).random(SIZES) < 0.4),
]
TABLES = {"one": [(2,)], "shared": [(0, 1), (1, 2)], "ring": [(0, 1), (0, 2), (1, 2)], "all": [(0, 1, 2)]}


def matrix(workload):
    return workload.rows(np.arange(workload.num_queries))


def scrambled(sizes=SIZES, patterns=PATTERNS, epsilon=EPSILON):
    return ScrambledPatterns("optimized", sizes, epsilon, patterns, np.array([0.2, 0.3, 0.2, 0.1, 0.2]))


def split_survey(which):
    """People split among strategies on tables that treat all types differently, and scrambled patterns."""
    tables = []
    for members in TABLES[which]:
        cells = math.prod(SIZES[i] for i in members)
        strategy = design(Prefix(cells), EPSILON, time_limit=None, max_rounds=3).strategy
        tables.append(GroupTable(members, ExplicitMechanism("optimized", strategy, EPSILON)))
    rest = None if which == "all" else scrambled()
    shares = [1.0, 3.0, 2.0, 1.5][: len(tables) + (rest is not None)]
    return SplitSurvey("optimized", SIZES, EPSILON, tables, rest, shares)
