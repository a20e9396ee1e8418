"""Beliefs about one column of a person, or about a few together, after one report of a survey
mechanism.

About a whole person of a survey nothing is computed: no one holds numbers for all combinations of
answers. About the cells c of the table of some attributes C everything follows from tables of a few
more. A report is a random set S of cells of the table of attributes B, and is e^epsilon times as
likely for people in S as for others; with p_c the share of people in cell c, m_c(S) that of them in
S, s the share of cells that S holds and D = e^epsilon - 1, it makes c as likely as p_c (1 + D
m_c(S)) / (1 + D s), summed over S drawn without looking at the person. Reports of a separate
strategy on the table of B, with probabilities Q, make c as likely as the sum over the cells b of B
of P(c, b) Q[y, b]: these are few enough to be enumerated. This project, from Bayes' rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ldp_core.beliefs.reports import Exposure, of_table
from ldp_core.limits import MOST_REPORT_SETS
from ldp_core.mechanisms import Mechanism, SplitSurvey
from ldp_core.mechanisms.surveys.sets import RandomSet
from ldp_core.mechanisms.surveys.split_survey import GroupTable
from ldp_core.people import People
from ldp_core.privacy import exp_epsilon
from ldp_core.run import Cancel, asked

REPORTS = 2_000
"""How many reports are drawn to find how much better they make the best guess."""


def exposure_of_columns(
    mechanism: Mechanism, people: People, attributes: Sequence[int], cancel: Cancel | None = None
) -> Exposure:
    """The most that one report reveals about the ``attributes`` of its sender, a person drawn from
    ``people``; other attributes are spread among people as they are there.

    ``between`` and ``single`` are upper bounds; ``guess`` is a mean over `REPORTS` reports drawn with a fixed seed, and never
    below what the commonest cell gives. None for what is
    not computed: all but ``between`` for mechanisms whose reports are no sets of cells. ValueError where a table is too large.
    """
    survey = mechanism.survey
    if survey is not None and survey.split is not None:
        return _of_designs(survey.split, people, tuple(attributes), cancel)
    most = math.inf if mechanism.delta > 0 else mechanism.audit().epsilon
    looks = None if survey is None else survey.random_sets()
    if looks is None:
        return Exposure(most, None, None, attained=False)
    places, cancelled = tuple(attributes), asked(cancel)
    tables = _tables(people, places)
    D = exp_epsilon(mechanism.epsilon) - 1
    between, single = most, None
    if len({look.attributes for look in looks}) <= MOST_REPORT_SETS:
        pairs_of_bounds = [
            _strongest(look, tables(look.attributes), people.sizes, places, D) for look in looks if not cancelled()
        ]
        between = min(most, max(pair for pair, _ in pairs_of_bounds))
        single = min(between, max(alone for _, alone in pairs_of_bounds))
    rng = np.random.default_rng(0)
    shares = np.array([look.share for look in looks])
    drawn = rng.multinomial(REPORTS, shares / shares.sum())
    gained = 0.0
    for look, number in zip(looks, drawn.tolist(), strict=True):
        if number and not cancelled():
            gained += _gained(look, tables(look.attributes), people.sizes, places, D, number, rng)
    commonest = float(tables(looks[0].attributes).sum(axis=1).max())
    return Exposure(between, single, min(1.0, commonest + gained / REPORTS), attained=False)


def _of_designs(mechanism: SplitSurvey, people: People, places: tuple[int, ...], cancel: Cancel | None) -> Exposure:
    """The most that a report of any of the designs reveals, and the guess on average over them: the
    choice of the design does not depend on the person."""
    cancelled, tables = asked(cancel), _tables(people, places)
    parts = [_of_own(group, tables(group.attributes), people.sizes, places, cancelled) for group in mechanism.own]
    if mechanism.rest is not None:
        parts.append(exposure_of_columns(mechanism.rest, people, places, cancel))
    guesses = [part.guess for part in parts if part.guess is not None]
    singles = [part.single for part in parts if part.single is not None]
    between = max(part.between for part in parts)
    return Exposure(
        between,
        # One value against all others goes no further than against the best of them, however both are rounded.
        min(between, max(singles)) if len(singles) == len(parts) else None,
        float(mechanism.shares @ guesses) if len(guesses) == len(parts) else None,
        attained=False,
    )


def _of_own(
    own: GroupTable, table: np.ndarray, sizes: Sequence[int], places: tuple[int, ...], cancelled: Callable[[], bool]
) -> Exposure:
    """The most that the reports of a separate strategy reveal, all of them looked at; ``table`` as
    `_tables` gives it for its attributes."""
    others = [i for i in own.attributes if i not in places]
    shape = tuple(sizes[i] for i in (*places, *others))
    values = dict(zip((*places, *others), np.unravel_index(np.arange(table.size), shape), strict=True))
    cells = np.ravel_multi_index(
        tuple(values[i] for i in own.attributes), tuple(sizes[i] for i in own.attributes)
    ).reshape(table.shape)
    shares = table.sum(axis=1)
    if np.count_nonzero(shares) < 2 or cancelled():
        return Exposure(0.0, 0.0, float(shares.max()), attained=False)
    there = shares > 0
    given = np.stack(
        [
            own.mechanism.strategy[:, at] @ (mine / mine.sum())
            for at, mine in zip(cells[there], table[there], strict=True)
        ],
        axis=1,
    )
    single, guess = of_table(given, shares[there])
    between = math.log(max(1.0, float((given.max(axis=1) / given.min(axis=1)).max())))
    return Exposure(between, min(single, between), min(1.0, guess), attained=False)


def _tables(people: People, places: tuple[int, ...]) -> Callable[[tuple[int, ...]], np.ndarray]:
    """The people by cell c of the table over ``places`` and by their values of the other attributes of a set, as shares of all
    (cells, others); those of the latest set are kept, since patterns of one set follow each other."""
    kept: dict[tuple[int, ...], np.ndarray] = {}

    def table(attributes: tuple[int, ...]) -> np.ndarray:
        others = tuple(i for i in attributes if i not in places)
        if others not in kept:
            kept.clear()
            counts = people.table((*places, *others), keep=False).astype(float)
            cells = math.prod(people.sizes[i] for i in places)
            kept[others] = (counts / counts.sum()).reshape(cells, -1)
        return kept[others]

    return table


def _shared(look: RandomSet, sizes: Sequence[int], places: tuple[int, ...]) -> tuple[tuple[int, ...], list[int]]:
    """Sizes of the table that a report is about, and which of its axes are attributes asked about."""
    return tuple(sizes[i] for i in look.attributes), [k for k, i in enumerate(look.attributes) if i in places]


def _strongest(
    look: RandomSet, table: np.ndarray, sizes: Sequence[int], places: tuple[int, ...], D: float
) -> tuple[float, float]:
    """Bounds on the logarithm of the largest change of odds of one cell against another, and of one against all others."""
    shape, kept = _shared(look, sizes, places)
    least, most = look.most_in_slice(kept, shape)
    shares = table.sum(axis=1)
    there = shares > 0
    if np.count_nonzero(there) < 2:
        return 0.0, 0.0
    rising = np.sort(table[there] / shares[there, None], axis=1)
    sums = np.concatenate([np.zeros((len(rising), 1)), np.cumsum(rising, axis=1)], axis=1)
    highest, lowest = 1 - sums[:, sums.shape[1] - 1 - most], sums[:, least]
    between = math.log1p(D * min(1.0, float(highest.max()))) - math.log1p(D * float(lowest.min()))
    rest = _others_inside(table, look, sizes, places, look.inside - most if kept else look.inside)[there]
    single = np.log1p(D * np.minimum(highest, 1.0)) - np.log1p(D * rest)
    return max(0.0, between), max(0.0, float(single.max()))


def _others_inside(
    table: np.ndarray, look: RandomSet, sizes: Sequence[int], places: tuple[int, ...], number: int
) -> np.ndarray:
    """(cells,) at least this share of the people of all other cells is in a set that holds ``number`` cells besides those of the same
    values of the attributes asked about (the rarest ones)."""
    _, kept = _shared(look, sizes, places)
    asked_sizes = tuple(sizes[i] for i in places)
    across = tuple(k for k, i in enumerate(places) if i not in look.attributes)
    by_report = table.reshape(*asked_sizes, -1).sum(axis=across).reshape(-1, table.shape[1])
    own = _index(look, sizes, places)
    sums = np.empty(len(table))
    everybody = by_report.ravel()
    for c, mine in enumerate(table):
        left = 1 - mine.sum()
        outside = np.delete(by_report, own[c], axis=0).ravel() if kept else everybody - mine
        count = min(number, outside.size)
        sums[c] = np.partition(outside, count - 1)[:count].sum() / left if count > 0 and left > 0 else 0.0
    return np.clip(sums, 0.0, 1.0)


def _index(look: RandomSet, sizes: Sequence[int], places: tuple[int, ...]) -> np.ndarray:
    """(cells,) for each cell of the table asked about, which combination of values it has of the attributes that reports are
    about as well."""
    asked_sizes = tuple(sizes[i] for i in places)
    values = np.unravel_index(np.arange(math.prod(asked_sizes)), asked_sizes)
    shared = [k for k, i in enumerate(places) if i in look.attributes]
    if not shared:
        return np.zeros(len(values[0]), dtype=np.int64)
    return np.ravel_multi_index(tuple(values[k] for k in shared), tuple(asked_sizes[k] for k in shared))


def _gained(
    look: RandomSet,
    table: np.ndarray,
    sizes: Sequence[int],
    places: tuple[int, ...],
    D: float,
    number: int,
    rng: np.random.Generator,
) -> float:
    """By how much the chance that the best guess is right exceeds that of the commonest cell, summed over ``number`` reports drawn."""
    shape, kept = _shared(look, sizes, places)
    in_order = sorted(kept, key=lambda k: places.index(look.attributes[k]))
    axes = [*in_order, *[k for k in range(len(shape)) if k not in kept]]
    own, shares = _index(look, sizes, places), table.sum(axis=1)
    commonest, total = int(shares.argmax()), 0.0
    for _ in range(number):
        held = look.draw(shape, rng)
        by_cell = held.transpose(axes).reshape(-1, table.shape[1])[own]  # (cells, others)
        weights = shares + D * (table * by_cell).sum(axis=1)
        total += float(weights.max() - weights[commonest]) / (1 + D * look.inside / held.size)
    return total


def drawn_at_random(mechanism: Mechanism | None) -> bool:
    """True if the guess of `exposure_of_columns` is a mean over reports drawn at random; else it is exact, or there is none."""
    survey = None if mechanism is None else mechanism.survey
    return survey is None or survey.split is None or survey.scrambled is not None


def about_columns(mechanism: Mechanism | None, people: People) -> bool:
    """True if beliefs are computed about a few attributes of a person rather than about their type: where there are too many
    types, or reports are made for surveys."""
    return people.by_type is None or (mechanism is not None and mechanism.survey is not None)
