"""Designs for tables of a few attributes as rows over all types: where a search over all types begins, or as they are.

A report of such a design is a set of cells of one table, scrambled or as fitted; over all types it
is a two-valued row like any other. There are many ways to scramble a pattern, and some are drawn.
The values of every attribute are renamed at random, and each renaming is then moved along every
attribute in all ways. Almost nothing of the second moments is then random.

Where questions treat yes-or-no attributes alike, flipping attributes takes every type to every other, so that the best strategy is a mixture of
orbits of rows, and so is one of patterns, each sent in all ways to flip its attributes. L is the same to fourteen digits.
"""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.optimize.base import Design, SearchLimits
from ldp_core.optimize.columns.orbits import RIDGE, Orbits
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.optimize.strategy import Optimized
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey, too_many
from ldp_core.optimize.surveys.split_design import design_split
from ldp_core.privacy import exp_epsilon, fitted_exp_epsilon
from ldp_core.run import generator
from ldp_core.workloads import Survey, Workload
from ldp_core.workloads.composite import Union
from ldp_core.workloads.restricted import cells_of
from ldp_core.workloads.surveyed import by_tables, of_bits

FEW_TYPES = 128
"""Searches over so few types begin without tables."""
ROWS_PER_TYPE = 15
_MOST_ENTRIES = 2**24
"""How many rows there are at first for each type, and at most of entries in all: their weights are known after a few seconds then."""

OTHERS = 1e-4
"""The share of randomized response where patterns leave some questions about the types open, which may be asked later."""

Rows = tuple[np.ndarray, np.ndarray]
"""Boolean rows (k, n), true for the types that make a report likelier, and weights (k,) in
proportion to the least probabilities of reports."""


def first_rows(workload: Workload, epsilon: float, limits: SearchLimits) -> Rows | None:
    """`rows` of a design for the tables that the questions are `about_tables` of, found in a part of the time there is;
    None where there are no such tables."""
    if workload.n > MOST_FITTED_TYPES or (tables := about_tables(workload)) is None:
        return None
    whole = limits.time_limit
    seconds = None if whole is None else min(whole / 4, 8.0)  # nothing is shown until they are there
    design = design_survey if tables.symmetric else design_split
    return rows(design(tables, epsilon, limits.telling(None).within(seconds)), limits.seed)


def about_tables(workload: Workload) -> Survey | None:
    """The same questions as a `Survey` of tables; None where the workload knows of no attributes, asks about all of them at once, or treats types
    alike, and for few types."""
    if workload.n <= FEW_TYPES:
        return None
    shape = _shape(workload)
    telling = {i for i, size in enumerate(shape) if size > 1}
    if workload.survey is not None or len(telling) < 2 or workload.symmetry_group.scheme is not None:
        return None
    try:
        survey = by_tables(workload, shape)
    except ValueError:  # too many tables
        return None
    return survey if all(not telling <= set(group.attributes) for group in survey.groups) else None


def _shape(workload: Workload) -> tuple[int, ...]:
    if isinstance(workload, Union):
        return max(map(_shape, workload.parts), key=len)
    shape: tuple[int, ...] = getattr(workload, "shape", ())
    return shape if math.prod(shape) == workload.n else ()


def rows(fitted: SurveyDesign, seed: int) -> Rows:
    """The rows of a design for tables: all of its strategies, and as many scrambled patterns as `ROWS_PER_TYPE` and `_MOST_ENTRIES` allow."""
    shape, ratio, rng = fitted.survey.shape, exp_epsilon(fitted.epsilon), generator(seed)
    budget = min(ROWS_PER_TYPE * fitted.survey.n, _MOST_ENTRIES // fitted.survey.n)
    people, parts = fitted.people / fitted.people.sum(), []
    for (members, strategy), share in zip(fitted.tables, people, strict=False):
        least = strategy.min(axis=1)
        high = strategy > least[:, None] * (1 + ratio) / 2
        telling = high.any(axis=1) & ~high.all(axis=1)
        parts.append((high[telling][:, _lifted(shape, members)], share * least[telling]))
    if fitted.patterns:
        parts.append(_images(fitted, float(people[-1]), shape, ratio, max(1, round(people[-1] * budget)), rng))
    return np.vstack([high for high, _ in parts]), np.concatenate([weights for _, weights in parts])


def _lifted(shape: tuple[int, ...], members: tuple[int, ...]) -> np.ndarray:
    """(n,) the cell of the table of ``members`` that each type is in."""
    return cells_of(shape, tuple(range(len(shape))), members)


def _images(
    fitted: SurveyDesign, share: float, shape: tuple[int, ...], ratio: float, budget: int, rng: np.random.Generator
) -> Rows:
    """About ``budget`` scrambled patterns as `rows`, which together are sent with probability ``share``."""
    n, high, weights = math.prod(shape), [], []
    for pattern, probability in zip(fitted.patterns, fitted.shares, strict=True):
        drawn = _scrambled(pattern, max(1, round(probability * budget)), rng)
        high.append(drawn[:, _lifted(shape, pattern.attributes)])
        mass = n * (1 + (ratio - 1) * pattern.share)
        weights.append(np.full(len(drawn), share * probability * n / (len(drawn) * mass)))
    return np.vstack(high), np.concatenate(weights)


def _scrambled(pattern: Pattern, many: int, rng: np.random.Generator) -> np.ndarray:
    """(k, cells) images of a pattern under renamings of values: all that are moved along the attributes of as many random ones as come near
    ``many``, or some of them where these are more."""
    sizes = pattern.cells.shape
    moves = np.stack(np.unravel_index(np.arange(pattern.cells.size), sizes), axis=1)
    patterns = []
    for _ in range(max(1, round(many / len(moves)))):
        renamed = pattern.cells[np.ix_(*(rng.permutation(size) for size in sizes))]
        some = moves if many >= len(moves) else moves[rng.choice(len(moves), many, replace=False)]
        patterns += [np.roll(renamed, tuple(move), axis=tuple(range(len(sizes)))).ravel() for move in some]
    return np.array(patterns)


def treats_bits_alike(workload: Workload) -> bool:
    """True if the questions treat yes-or-no attributes alike, and not too many tables of them."""
    if workload.symmetry != "hamming":
        return False
    try:
        return too_many(of_bits(workload)) is None
    except ValueError:  # too many tables
        return False


def design_bits(workload: Workload, epsilon: float, limits: SearchLimits) -> Optimized | SurveyDesign:
    """The best patterns for questions that `treats_bits_alike` is true for, written out where all of them can be, up to `MOST_FITTED_TYPES` types."""
    found = design_survey(of_bits(workload), epsilon, limits)
    if workload.n > MOST_FITTED_TYPES or sum(
        pattern.cells.size for pattern in found.patterns
    ) + workload.n > _most_rows(workload.n):
        return found
    return written_out(found, workload)


def written_out(found: SurveyDesign, workload: Workload) -> Optimized:
    """The patterns as a strategy over all types: those sent most often for their rows, where there is no room for all."""
    n, ratio, scheme = workload.n, fitted_exp_epsilon(found.epsilon), workload.symmetry_group.scheme
    assert scheme is not None
    sizes = np.array([pattern.cells.size for pattern in found.patterns])
    heavy = np.argsort(-found.shares / sizes, kind="stable")
    kept = heavy[np.cumsum(sizes[heavy]) <= _most_rows(n) - n]
    shape, patterns = found.survey.shape, [found.patterns[k] for k in kept]
    high = np.array([one.cells.ravel()[_lifted(shape, one.attributes)] for one in patterns])
    high, shares = np.vstack([np.arange(n) == 0, high]), np.append(0.0, found.shares[kept])
    power = np.abs(scheme.transform(np.where(high, ratio, 1.0))) ** 2
    fourier_weights = power / power[:, :1]
    gamma = scheme.transform(workload.gram_column).real
    if len(kept) < len(heavy):
        shares = fitted_shares(shares + OTHERS / len(shares), fourier_weights, gamma + RIDGE * gamma.mean(), 300)
    if (shares @ fourier_weights).min() < OTHERS * fourier_weights[0].min():
        shares = np.append(OTHERS, (1 - OTHERS) * shares[1:] / shares[1:].sum())
    sent = shares > 0
    m = shares @ fourier_weights
    objective = found.objective if not shares[0] else float((gamma / m).sum())
    orbits = Orbits.of(high[sent], shares[sent], power[sent], ratio, scheme, objective)
    about = {field.name: getattr(found, field.name) for field in fields(Design)} | {"objective": objective}
    return Optimized(np.ascontiguousarray(orbits.transposed.T), workload=workload, **about)


def _most_rows(n: int) -> int:
    return MOST_STRATEGY_ENTRIES // (2 * n)  # half of what is kept of a fit
