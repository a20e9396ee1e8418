"""The kinds of questions people can add, in words, which of them a domain allows, and what each starts as."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ldp_core import wording, workloads
from ldp_core.limits import MOST_CONDITION_CHARACTERS, MOST_CONDITIONS
from ldp_core.problems import sentences
from ldp_core.workloads import (
    Axis,
    KWayMarginalsPart,
    MarginalsPart,
    Predicate,
    PredicateError,
    WorkloadPart,
    joint_domain_fits,
)

LEAST_WEIGHT = 1e-6
Made = TypeVar("Made", bound=BaseModel)


COMBINED: dict[str, type[workloads.CombinedPart]] = {
    "items": workloads.ItemsPart,
    "pairs_of_items": workloads.PairsOfItemsPart,
    "number_of_items": workloads.NumberOfItemsPart,
    "mean_rank": workloads.MeanRankPart,
    "before": workloads.BeforePart,
    "days": workloads.DaysPart,
}
"""Questions about attributes whose values are combinations."""

AboutOne = (
    workloads.HistogramPart
    | workloads.PrefixPart
    | workloads.RangesPart
    | workloads.MeanPart
    | workloads.TotalPart
    | workloads.CombinedPart
)
"""Recipes of questions about one attribute."""


@dataclass(frozen=True)
class Kind:
    """A kind of questions: its title, and one line about it."""

    title: str
    meaning: str


KINDS: dict[str, Kind] = {
    "histogram": Kind("Histogram: how many have each value", "The counts of one attribute."),
    "prefix": Kind(
        "Prefix: running totals along an order", "How many have this value or a lower one, for every value."
    ),
    "ranges": Kind(
        "Range: between two values of an order", "How many lie between two values, for all pairs or only close ones."
    ),
    "mean": Kind(
        "Average of a number column", "The average of one attribute, over all people or in each group, in its own unit."
    ),
    "total": Kind("Total of a number column", "The sum of one attribute over all people, in its own unit."),
    "items": Kind("Items: how many chose each", "How many chose each item, or rank it first."),
    "pairs_of_items": Kind("Pairs of items chosen together", "How many chose both, for every two items."),
    "number_of_items": Kind("How many items were chosen", "How many people chose none, one, two, and so on."),
    "mean_rank": Kind("Mean rank of each item", "1 for the first; over all people or in each group."),
    "before": Kind("Which item comes before which", "How many rank the first of two items before the second."),
    "days": Kind("Each day of several", "How many have each value on each day."),
    "rectangles": Kind(
        "Range over two orders at once",
        "How many lie between two values of one attribute and between two of another, for all such rectangles.",
    ),
    "marginals": Kind(
        "Marginals: joint counts of chosen attributes",
        "How many have each combination of values, in pairs or triples you choose.",
    ),
    "k_way_marginals": Kind(
        "Marginals: joint counts of every pair or triple", "Every two columns (k = 2), every three (k = 3), and so on."
    ),
    "all_marginals": Kind(
        "Marginals: joint counts of every group",
        "Every single attribute, every pair, every triple, up to all of them together.",
    ),
    "joint_histogram": Kind(
        "Histogram of all combinations", "How many people have each combination of values of all columns."
    ),
    "parity": Kind(
        "Parity: even or odd",
        "In each group of two-valued attributes: people with the second value of an even number of them, less those with an odd "
        "number. Correlations and all joint counts follow from these.",
    ),
    "difference": Kind(
        "Difference of two groups",
        "How many more fulfil each question in one group than in another, such as two arms of an experiment; or how much larger their share is.",
    ),
    "share": Kind(
        "Share within each group",
        "Which share of the people in each group, such as each region, fulfils each question.",
    ),
    "moments": Kind(
        "Moments: for slopes and correlations of secret columns",
        "Averages, squares and products of number columns, from -1 to 1 over their ranges. Collect makes slopes and correlations of them.",
    ),
    "slope": Kind(
        "Slope: regression on known columns",
        "How a share or an average changes with columns the collector knows, each with the others held fixed.",
    ),
    "predicates": Kind("Conditions", "How many people fulfil a condition you write, such as A and not B."),
    "matrix": Kind(
        "A matrix of your own", "A file with one row per answer and one column per type: CSV, .npy or .npz."
    ),
    "types": Kind(
        "The papers' workloads", "On the plain list of all types in their order, as published results have them."
    ),
}

JOINT = ("all_marginals", "joint_histogram", "matrix", "types")
"""Kinds of questions about all attributes at once."""

# A name before a condition: in quotes, or free of the signs that conditions are made of.
_NAMED = re.compile(
    r"""(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<bare>[^\s"'`“<>=!≤≥≠(){},][^"`“<>=!≤≥≠{}]*?)):\s+(?P<condition>\S.*)"""
)


def usable(kind: str, axes: Sequence[Axis]) -> list[str]:
    """Names of the attributes that questions of this kind can be about."""
    if kind in ("prefix", "ranges", "rectangles"):
        return [axis.name for axis in axes if axis.ordered and axis.ordinary > 1]
    if kind in ("mean", "total", "moments"):
        fits = workloads.summable if kind == "total" else workloads.averageable
        return [axis.name for axis in axes if axis.size > 1 and fits(axis)]
    if kind == "parity":
        return [axis.name for axis in axes if axis.size == 2]
    if kind == "slope":
        secret = [axis for axis in axes if axis.size > 1 and not axis.known and known_columns(axes)]
        return [axis.name for axis in secret if axis.size == 2 or workloads.averageable(axis)]
    if kind in COMBINED:
        return [axis.name for axis in axes if COMBINED[kind].fits(axis)]
    return [axis.name for axis in axes if axis.size > 1]


def known_columns(axes: Sequence[Axis]) -> list[str]:
    """Names of the columns that the collector knows and a regression can be on."""
    known = [axis for axis in axes if axis.known and axis.size > 1]
    return [axis.name for axis in known if not len(axis.edges) or workloads.averageable(axis)]


def offered(axes: Sequence[Axis]) -> list[str]:
    """The kinds that make sense for these attributes."""
    several = len(usable("histogram", axes)) > 1
    joint = ("difference", "share", "marginals", "k_way_marginals", "all_marginals", "joint_histogram", "parity")
    possible = [kind for kind in KINDS if usable(kind, axes) and (several or kind not in joint)]
    if not joint_domain_fits(axes):
        possible = [kind for kind in possible if kind not in JOINT]
    return [kind for kind in possible if kind not in ("rectangles", "moments") or len(usable(kind, axes)) > 1]


def left_out(axes: Sequence[Axis]) -> list[str]:
    """Sentences about kinds that are not offered but could be if the data were set up otherwise."""
    if not usable("histogram", axes):
        return ["Every attribute has one type only, so there is nothing to ask yet."]
    which = "This attribute has" if len(axes) == 1 else "These attributes have"
    needed = {
        f"{which} no order, so there are no running totals or ranges; an order can be set on the Data page.": usable(
            "prefix", axes
        ),
        "Questions about all attributes at once, and matrices over all types, are for fewer combinations of values than there "
        "are here.": joint_domain_fits(axes),
        "Parity needs attributes of exactly two values; a category for missing values is a third.": usable(
            "parity", axes
        ),
        "Joint counts need a second attribute; choose more columns on the Data page.": usable("histogram", axes)[1:],
    }
    return [reason for reason, met in needed.items() if not met]


def made(model: type[Made], **fields: Any) -> Made:
    """A recipe; what is wrong comes as one sentence."""
    try:
        return model(**fields)
    except ValidationError as error:
        raise ValueError(wording.capital(sentences(error, fields))) from None


def edited(part: Made, **fields: Any) -> Made:
    """``part`` with other settings. ValueError with a sentence."""
    return made(type(part), **{**dict(part), **fields})


def starting(
    kind: str, axes: Sequence[Axis], others: Sequence[WorkloadPart] = (), before: WorkloadPart | None = None
) -> WorkloadPart:
    """A group of this kind that can be asked at once, if possible about what ``others`` do not ask. It keeps the weight and,
    where it can, the attribute of the group ``before`` it in its place."""
    known = {axis.name for axis in axes if axis.known}
    names = sorted(usable(kind, axes), key=known.__contains__)  # what the collector knows is asked about last
    secret = [name for name in names if name not in known] or names
    fields: dict[str, Any] = {"weight": before.weight if before is not None else 1.0}
    if kind in ("histogram", "prefix", "ranges", "mean", "total", *COMBINED):
        attribute = getattr(before, "attribute", None)
        about = {part.attribute for part in others if isinstance(part, AboutOne) and part.kind == kind}
        by = [name for name in getattr(before, "by", ()) if name in usable("histogram", axes)]
        fields["attribute"] = (
            attribute if attribute in names else next((name for name in secret if name not in about), secret[0])
        )
        if fields["attribute"] not in by:
            fields["by"] = by
    elif kind == "moments":
        fields["attributes"] = names[:2]
    elif kind == "rectangles":
        pairs = [part.attributes for part in others if isinstance(part, workloads.RectanglesPart)]
        fields["attributes"] = _not_among(pairs, combinations(names, 2)) or names[:2]
    elif kind == "marginals":
        present = [group for part in others if isinstance(part, MarginalsPart) for group in part.groups]
        fields["groups"] = [_not_among(present, combinations(names, 2)) or names[:2]]
    elif kind == "k_way_marginals":
        taken = {part.k for part in others if isinstance(part, KWayMarginalsPart)}
        fields["k"] = next((k for k in range(2, len(names) + 1) if k not in taken), 2)
    elif kind == "predicates":
        fields["predicates"] = [{"expression": examples(axes)[0]}]
    elif kind == "types":
        fields["family"] = "histogram"
    elif kind == "slope":
        fields |= {"of": names[0], "on": known_columns(axes)}
    elif kind in ("difference", "share"):
        groups = min((axis for axis in axes if axis.size > 1), key=lambda axis: (not axis.known, axis.size))
        inside = [axis for axis in axes if axis is not groups]
        first = starting("histogram", inside)
        fields["of"] = workloads.share_of(next(axis for axis in inside if axis.name in first.mentions))
        if kind == "share":
            fields["within"] = [groups.name]
        else:
            fields |= {"attribute": groups.name, "first": groups.labels[1], "second": groups.labels[0]}
    part: WorkloadPart = TypeAdapter(WorkloadPart).validate_python({"kind": kind, **fields})
    return part


def next_group(groups: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[str, ...] | None:
    """A group of attributes as large as the last one (a pair, a triple) that is not among ``groups`` yet."""
    sizes = dict.fromkeys([len(groups[-1]), *range(2, len(names) + 1)])
    return _not_among(groups, chain.from_iterable(combinations(names, size) for size in sizes))


def _not_among(groups: Sequence[Sequence[str]], offers: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    present = {frozenset(group) for group in groups}
    return next((offer for offer in offers if frozenset(offer) not in present), None)


def read_weight(text: str) -> float:
    """The weight of a group as a person types it. ValueError with a sentence."""
    try:
        weight = float(text.strip())
    except ValueError:
        weight = math.nan
    if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
        raise ValueError(
            f"Please give the weight as a number from {wording.significant(LEAST_WEIGHT)} to {1 / LEAST_WEIGHT:,.0f}, such as 1 or 0.5; "
            f"{text.strip()[:30]!r} is not one. To leave a group out, remove it."
        )
    return weight


# --- conditions ------------------------------------------------------------------------------------------------------


def read_conditions(text: str, axes: Sequence[Axis]) -> tuple[Predicate, ...]:
    """The conditions in ``text``, one per line, each perhaps with a name and a colon before it. A
    text that is no condition is kept as it is: building the queries says what is wrong with it."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        raise ValueError(f"There is no condition; write one per line, such as {examples(axes)[0]}.")
    if len(lines) > MOST_CONDITIONS:
        raise ValueError(f"There are {len(lines):,} conditions, and at most {MOST_CONDITIONS:,} fit in a group.")
    for i, line in enumerate(lines, start=1):
        if len(line) > MOST_CONDITION_CHARACTERS:
            raise ValueError(
                f"Condition {i} has {len(line):,} characters, and at most {MOST_CONDITION_CHARACTERS:,} are read; split it."
            )
    return tuple(_read(line, axes) for line in lines)


def _read(line: str, axes: Sequence[Axis]) -> Predicate:
    named = _NAMED.fullmatch(line)
    if named is None or _is_condition(line, axes):  # an attribute may have a colon in its name
        return made(Predicate, expression=line)
    quoted = named["quoted"]
    name = named["bare"] if quoted is None else quoted.replace('""', '"')
    return made(Predicate, expression=named["condition"], name=name.strip() or None)


def _is_condition(line: str, axes: Sequence[Axis]) -> bool:
    try:
        workloads.parse(line, axes)
    except PredicateError:
        return False
    return True


def write_conditions(predicates: Sequence[Predicate], axes: Sequence[Axis]) -> str:
    """The text that `read_conditions` reads."""
    return "\n".join(_written(predicate, axes) for predicate in predicates)


def _written(predicate: Predicate, axes: Sequence[Axis]) -> str:
    condition, name = " ".join(predicate.expression.split("\n")).strip(), " ".join((predicate.name or "").split())
    line, escaped = f"{name}: {condition}", name.replace('"', '""')
    if not name:
        return condition
    return line if _read(line, axes).name == name else f'"{escaped}": {condition}'


def examples(axes: Sequence[Axis]) -> list[str]:
    """Conditions about these attributes, to start from: the first is a plain one, the last has a name."""
    telling = [axis for axis in axes if axis.size > 1]
    if not telling:
        return ["attribute = value"]
    single = [_plain_condition(axis) for axis in telling[:3]]
    texts = [" and ".join(single[:2])]
    if len(single) > 1:
        texts.append(f"{single[0]} or not {single[-1]}")
    many = next((axis for axis in telling if axis.size > 2 and axis.ordinary > 1), None)
    if many is not None:
        first, second = (workloads.quoted(label) for label in many.labels[:2])
        texts.append(f"{workloads.quoted(many.name)} in {{{first}, {second}}}")
    return [*texts, f"A name for it: {single[-1]}"]


def _plain_condition(axis: Axis) -> str:
    """A condition that many people may fulfil: the upper half of an order, "yes" of no and yes, or
    one of several values."""
    name = workloads.quoted(axis.name)
    if axis.ordered and axis.ordinary > 2:
        middle = axis.ordinary // 2
        value = str(axis.whole_bin(middle)[0]) if axis.integer else workloads.quoted(axis.labels[middle])
        return f"{name} >= {value}"
    place = max(0, axis.ordinary - 1) if axis.ordinary <= 2 else 0
    return f"{name} = {workloads.quoted(axis.labels[place])}"
