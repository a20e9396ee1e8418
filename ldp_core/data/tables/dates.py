"""From a column of dates to consecutive days, weeks, months, quarters or years."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from ldp_core.data import columns
from ldp_core.data.domain import DateAttribute, Unit, build
from ldp_core.data.domain.dates import day_comes_first, first_day, label_of_period, not_dates, period_of, periods_of
from ldp_core.data.tables.recipes import DateRecipe

_FAR = 8
_FEW = 0.01
_LONG = 50 * 365
"""Dates are far from all others if the gap before them is more than 8 times the span of the others,
which are at least half of all people. More than 1 % of people are far only if the gap is 50 years or
more: such dates stand for none, as 9999-12-31 does."""


def crowd_of_dates(column: columns.Column, unit: Unit, day_first: bool | None) -> tuple[str, str, np.ndarray] | None:
    """The first and the last period of nearly all dates, and a mask of the texts beyond; None where no dates are far from all others."""
    days = periods_of(column.texts, "day", day_first)
    days[column.missing] = -1
    order = np.argsort(days)
    order = order[days[order] >= 0]
    users, kept = column.rows_per_text[order], days[order]
    everyone = users.sum()
    while len(kept) > 3:
        cut = int(np.argmax(np.diff(kept))) + 1
        low = users[:cut].sum() > users[cut:].sum()
        gap, rest = kept[cut] - kept[cut - 1], slice(None, cut) if low else slice(cut, None)
        held, left_out = users[rest].sum(), users.sum() - users[rest].sum()
        enough = len(kept[rest]) > 2 and 2 * held >= everyone and (left_out <= _FEW * everyone or gap >= _LONG)
        if not enough or gap <= _FAR * (kept[rest][-1] - kept[rest][0]):
            break
        kept, users = kept[rest], users[rest]
    beyond = (days >= 0) & ((days < kept[0]) | (days > kept[-1])) if len(kept) else np.zeros(days.shape, dtype=bool)
    if not beyond.any():
        return None
    first, last = (label_of_period(period_of(date.fromordinal(int(day)), unit), unit) for day in (kept[0], kept[-1]))
    return first, last, beyond


def other_unit(label: str | None, unit: Unit, other: Unit, end: bool = False) -> str | None:
    """The label of the other unit's period that a period begins in, or ends in. A text that is no label stays."""
    try:
        day = first_day(label or "", unit)
        if end:
            day = first_day(label_of_period(period_of(day, unit) + 1, unit), unit) - timedelta(1)
    except ValueError:
        return label
    return label_of_period(period_of(day, other), other)


def date_attribute(recipe: DateRecipe, column: columns.Column | None) -> DateAttribute:
    """The periods that a recipe describes, without gaps; which texts are dates: `DateAttribute`. The column is only needed where the
    recipe is not `declared`.

    Raises
    ------
    ValueError
        Texts that are not dates, dates of unclear order, no dates, ends out of order, too many
        periods.
    """
    unit, first, last, day_first = recipe.unit, recipe.first, recipe.last, recipe.day_first
    if column is not None:
        day_first = day_comes_first(column.texts[~column.missing]) if day_first is None else day_first
        read = periods_of(column.texts, unit, day_first)
        unread = (read < 0) & ~column.missing
        if recipe.non_dates == "refuse" and unread.any():
            raise ValueError(not_dates(column, unread))
        within = read <= period_of(date(9998, 12, 28 if unit == "week" else 31), unit)
        periods = read[(read >= 0) & within & ~column.missing]
        if not periods.size and not recipe.declared:
            raise ValueError(f"{column.name} holds no dates: use its values as categories, or choose another column.")
        first = label_of_period(int(periods.min()), unit) if first is None else first
        last = label_of_period(int(periods.max()), unit) if last is None else last
    ends = {"unit": unit, "first": first, "last": last, "day_first": day_first}
    attribute = build(DateAttribute, **ends, **recipe.shared("non_dates"))
    if attribute.size < 2:
        raise ValueError(
            f"{attribute.name} has only one {unit}, {first}, so there is nothing to learn: use a finer unit, or "
            "declare the first and last one."
        )
    return attribute
