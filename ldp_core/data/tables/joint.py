"""How large and how full a joint domain is, and what would make it smaller."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import get_args

from ldp_core.data.domain import Attribute, CombinedAttribute, Domain, Unit
from ldp_core.data.domain.dates import first_day, period_of
from ldp_core.limits import MOST_LISTED_TYPES
from ldp_core.people import Counted, Records

_UNITS: tuple[Unit, ...] = get_args(Unit)
"""From short to long."""


def table_warnings(domain: Domain, users: int, places: Sequence[int]) -> list[str]:
    """Sentences on what is wrong with the largest table that is asked about, of the attributes at these ``places``; empty where
    nothing is."""
    cells = math.prod(domain.shape[i] for i in places)
    if users >= cells:
        return []
    names = [domain.attributes[i].name for i in places]
    widest = max(places, key=lambda i: domain.shape[i])
    return [
        f"The table of {' x '.join(names)} has more cells ({cells:,}) than there are users ({users:,}): most of its counts will be "
        f"noise. Use coarser values for {domain.attributes[widest].name}, or ask about fewer attributes at a time."
    ]


def size_warnings(
    domain: Domain, people: Counted | Records | None = None, limit: int = MOST_LISTED_TYPES, what: str = "this design"
) -> list[str]:
    """Sentences on what is wrong with a joint domain, with what would fix it; empty where nothing is.

    Parameters
    ----------
    domain : Domain
    people : Counted or Records, optional
        Those in the data. Those that are expected in a domain too large to count are taken to
        differ.
    limit : int
        Most types that the mechanisms available, called ``what``, can handle.
    what : str

    Returns
    -------
    list of str
    """
    warnings = []
    if domain.size > limit:
        ways = suggestions(domain, limit)
        mend = "; or ".join(ways[:3]) if ways else "use fewer attributes with coarser bins"
        warnings.append(
            f"{domain.size:,} types ({' x '.join(f'{size:,}' for size in domain.shape)}) are more than the {limit:,} "
            f"that {what} can handle: {mend}."
        )
    if people is not None and people.users < domain.size:
        empty = 1 - people.different[0] / domain.size
        share = f"{100 * empty:.1f} %" if empty < 0.9995 else "nearly all"
        warnings.append(
            f"There are more types ({domain.size:,}) than users ({people.users:,}), and {share} of the "
            "types are empty: their answers will be mostly noise. Use coarser bins or fewer attributes, or ask for "
            "marginals only."
        )
    return warnings


def suggestions(domain: Domain, limit: int) -> list[str]:
    """Changes that make a domain fit `limit` types: one attribute coarser (the mildest change
    first), or fewer attributes."""
    single = [
        (domain.size // attribute.size * coarser[0], coarser[1])
        for attribute in domain.attributes
        if (coarser := _coarser(attribute, limit * attribute.size // domain.size)) is not None
    ]
    ways = [way for _, way in sorted(single, reverse=True)]
    left, gone = domain.size, set[str]()
    for attribute in sorted(domain.attributes, key=lambda attribute: -attribute.size)[:-1]:
        left, gone = left // attribute.size, gone | {attribute.name}
        if left <= limit:
            shorter = len(gone) <= len(domain.attributes) / 2
            named = [part.name for part in domain.attributes if (part.name in gone) == shorter]
            ways.append(f"{'leave out' if shorter else 'keep only'} {' and '.join(named)} ({left:,} types remain)")
            break
    each = math.floor(limit ** (1 / len(domain.attributes)))
    if not single and each >= 2:
        ways.append(f"give each of the {len(domain.attributes)} attributes at most {each:,} types")
    return ways


def _coarser(attribute: Attribute, target: int) -> tuple[int, str] | None:
    """How to bring one attribute down to `target` types and how many are left; None where that leaves fewer than two."""
    special = attribute.special
    if attribute.kind == "categorical":
        # Merging makes an "(other)" type where there was none.
        kept = target - (attribute.missing == "category") - 1
        way = f"merge categories of {attribute.name} until {kept:,} of {len(attribute.values):,} remain"
        return (target, way) if kept > 1 else None
    if isinstance(attribute, CombinedAttribute):
        return None
    if attribute.kind != "date":
        bins = target - special
        way = f"use at most {bins:,} bins for {attribute.name} instead of {attribute.size - special:,}"
        return (target, way) if bins > 1 else None
    for unit in _UNITS[_UNITS.index(attribute.unit) + 1 :]:
        first = _converted(attribute.first, attribute.unit, unit)
        last = _converted(attribute.last, attribute.unit, unit, end=True)
        periods = last - first + 1
        if 2 <= periods <= target - special:
            return periods + special, f"count {attribute.name} by {unit} ({periods:,} types)"
    return None


def _converted(label: str, unit: Unit, coarser: Unit, end: bool = False) -> int:
    """The coarser period that the start, or the end, of a period is in."""
    # Only weeks can begin in one coarser period and end in another.
    return period_of(first_day(label, unit) + timedelta(6 if end and unit == "week" else 0), coarser)
