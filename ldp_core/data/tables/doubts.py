"""What may be doubted about a column: numbers that stand for no answer, texts that can be read in two ways, and a few numbers far from
all others. Each is said in a sentence, with other recipes one click away."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldp_core.data import columns
from ldp_core.data.domain.dates import periods_of
from ldp_core.data.domain.numbers import BinnedAttribute
from ldp_core.data.scales import arranged
from ldp_core.data.tables.attributes import build_attribute
from ldp_core.data.tables.categories import categorical_attribute
from ldp_core.data.tables.combined import combined_attribute
from ldp_core.data.tables.dates import crowd_of_dates
from ldp_core.data.tables.recipes import (
    AttributeRecipe,
    CategoricalRecipe,
    ChoiceRecipe,
    DateRecipe,
    NumericRecipe,
    RankingRecipe,
)
from ldp_core.data.tables.summary import LOOKED_AT, MOSTLY
from ldp_core.data.tables.units import unit_of
from ldp_core.wording import listed, plural, quote_examples, quoted

_CODE = re.compile(r"7+|8+|9+[78]?|1")
"""The digits of a code, as in the manuals of surveys: 9, 99, 998, 77, 88; 1 with a minus sign alone."""
_FEWEST, _FEW = 2, 3
_NEIGHBOURS = 5
_LEAST_VALUES = 5


def codes_of(column: columns.Column, known: tuple[float, ...] = ()) -> tuple[float, ...]:
    """The numbers of a column that seem to be codes for no answer, besides those ``known`` as such.

    People share each, and it lies beyond a gap at an end of the other numbers. The gap is wider than twice the widest one between
    these in the half next to it. A gap of two usual steps is enough if far more people share the code than a number near it, and so is
    a minus sign among numbers without one.
    """
    use = np.isfinite(column.numbers) & ~np.isin(column.numbers, known)
    numbers, position = np.unique(column.numbers[use], return_inverse=True)
    users = np.bincount(position, column.rows_per_text[use], minlength=numbers.size)
    numbers, users = numbers[users > 0], users[users > 0]
    low, high = list[float](), list[float]()
    while (last := _at_end(numbers, users)) > 0:
        high += numbers[-last:].tolist()
        numbers, users = numbers[:-last], users[:-last]
    while (last := _at_end(-numbers[::-1], users[::-1], low=True)) > 0:
        low += numbers[:last].tolist()
        numbers, users = numbers[last:], users[last:]
    return tuple(sorted(low + high))


def _at_end(numbers: np.ndarray, users: np.ndarray, low: bool = False) -> int:
    """How many of the last numbers are codes: 0, or the fewest at once that are. The ``low`` ones come with their signs changed."""
    for last in range(1, numbers.size - _LEAST_VALUES + 1):
        if not _CODE.fullmatch(f"{abs(numbers[-last]):.15g}".replace(".", "")):
            return 0
        rest, held = numbers[:-last], users[-last:].sum()
        minus = low and numbers[-last] > 0 >= rest[-1] and rest[0] < 0
        if abs(numbers[-last]) == 1 and not minus:
            return 0
        steps, gap = np.diff(rest), numbers[-last] - rest[-1]
        widest, usual = steps[steps.size // 2 :].max(), np.median(steps)
        crowded = held / last >= max(_FEW, 3 * users[:-last][-_NEIGHBOURS:].mean())
        if held >= _FEWEST and (minus or gap > 2 * widest or (gap >= 2 * usual and crowded)):
            return last
    return 0


_TWO_DIGITS = r"^\d{1,2}[-/.]\d{1,2}[-/.]\d\d$"
_EXPONENT = r"^[+-]?\d+[eE]\d+$"


@dataclass(frozen=True)
class Doubt:
    """``said`` is what was taken; ``ways`` are the alternatives, each by the label of its button; ``effect`` is what the first does;
    ``listed`` if the table of categories puts it right."""

    said: str
    ways: tuple[tuple[str, AttributeRecipe], ...] = ()
    effect: str = ""
    listed: bool = False


def doubts_of(recipe: AttributeRecipe, column: columns.Column) -> tuple[Doubt, ...]:
    """The doubts about a column under its recipe; empty where it can be read in one way only."""
    if isinstance(recipe, NumericRecipe):
        column = columns.in_unit(column, recipe.unit, recipe.decimal)
    checks: dict[str, tuple[Callable[[Any, columns.Column], Doubt | None], ...]] = {
        "categorical": (_words, _dates, _exponents, _units, _compound, _order),
        "numeric": (_exponents, _units, _codes, _known_codes, far_numbers),
        "date": (_dates, _far),
    }
    return tuple(doubt for check in checks.get(recipe.kind, ()) if (doubt := check(recipe, column)) is not None)


def _words(recipe: CategoricalRecipe, column: columns.Column) -> Doubt | None:
    """Texts such as None and N/A, which count as missing unless they are answers."""
    known = {*(recipe.categories or ()), *recipe.answers, *(text for merge in recipe.merges for text in merge.texts)}
    words = [text for text in column.texts[column.missing] if text not in known]
    if not words:
        return _kept_words(recipe, column)
    users, verb = _users(column, np.isin(column.texts, words)), "counts" if len(words) == 1 else "count"
    said = f"{quote_examples(words)} in {column.name} {verb} as missing ({users})."
    update: dict[str, Any] = {"answers": (*recipe.answers, *words)}
    if recipe.categories is not None:
        update = {"categories": (*recipe.categories, *words)}
    return Doubt(said, (("Keep as an answer", recipe.model_copy(update=update)),))


def _kept_words(recipe: CategoricalRecipe, column: columns.Column) -> Doubt | None:
    kept = [text for text in recipe.answers if text in column.texts]
    if not kept:
        return None
    said = f"{quote_examples(kept)} in {column.name} {'counts' if len(kept) == 1 else 'count'} as an answer."
    return Doubt(said, (("Count as missing", recipe.model_copy(update={"answers": ()})),))


def _dates(recipe: CategoricalRecipe | DateRecipe, column: columns.Column) -> Doubt | None:
    """Dates that read as two days, or whose years have two digits."""
    texts = column.texts[~column.missing]
    if not len(texts):
        return None
    if columns.matching(texts, _TWO_DIGITS).mean() >= MOSTLY:
        said = (
            f"{column.name} seems to hold dates with years of two digits, such as {quoted(texts[0])}: these are not read as dates, "
            "since the century is open. Write the years with four digits to count by month or year."
        )
        return Doubt(said)
    days = [periods_of(texts, "day", day_first) for day_first in (True, False)]
    if min((read >= 0).mean() for read in days) < MOSTLY or (days[0] == days[1]).all():
        return None
    if isinstance(recipe, DateRecipe) and recipe.day_first is None:
        return None
    example = quoted(texts[int(np.argmax(days[0] != days[1]))])
    ways = [
        ("Day first", recipe.other(DateRecipe, day_first=True)),
        ("Month first", recipe.other(DateRecipe, day_first=False)),
    ]
    if isinstance(recipe, DateRecipe):
        taken, way = ("day", ways[1]) if recipe.day_first else ("month", ways[0])
        return Doubt(f"{example} in {column.name} was read with the {taken} first; it could be another date.", (way,))
    said = f"{example} in {column.name} could be two dates, so its values are categories: say which comes first, day or month."
    return Doubt(said, tuple(ways))


def _far(recipe: DateRecipe, column: columns.Column) -> Doubt | None:
    """Dates far from all others, such as 9999-12-31, which may stand for none."""
    far = crowd_of_dates(column, recipe.unit, recipe.day_first)
    if far is None or (recipe.origin == "declared" and (recipe.first or recipe.last)):
        return None
    first, last, beyond = far
    users, such = _users(column, beyond), quote_examples(column.texts[beyond])
    if recipe.origin == "data":
        said = f"{recipe.column} goes from {first} to {last}; dates far from these, such as {such}, count in the end periods ({users})."
        ends: dict[str, Any] = {"first": None, "last": None, "outside": "other", "origin": "declared"}
        return Doubt(said, (("All dates", recipe.model_copy(update=ends)),))
    said = f"Dates of {recipe.column} such as {such} lie far from all others ({users})."
    ends = {"first": first, "last": last, "outside": "clamp", "origin": "data"}
    return Doubt(said, ((f"From {first} to {last}", recipe.model_copy(update=ends)),))


def _exponents(recipe: CategoricalRecipe | NumericRecipe, column: columns.Column) -> Doubt | None:
    """Texts such as 7E4, which may be codes or numbers."""
    numbers, present = np.isfinite(column.numbers), ~column.missing
    texts = column.texts[columns.matching(column.texts, _EXPONENT)]
    if not len(texts) or numbers[present].mean() < MOSTLY:
        return None
    number = f"{columns.to_numbers(texts[:1])[0]:.15g}"
    if isinstance(recipe, CategoricalRecipe):
        said = f"{quoted(texts[0])} in {column.name} is a category; it could be the number {number}."
        return Doubt(said, (("Numbers in bins", recipe.other(NumericRecipe)),))
    said = f"{quoted(texts[0])} in {column.name} was read as the number {number}; it could be a code."
    return Doubt(said, (("Categories", recipe.other(CategoricalRecipe)),))


def _units(recipe: CategoricalRecipe | NumericRecipe, column: columns.Column) -> Doubt | None:
    """Numbers with a unit, such as 45% or $1,178.00."""
    if isinstance(recipe, NumericRecipe) and recipe.unit:
        said = f"The numbers of {column.name} were read without their unit, {recipe.unit}."
        return Doubt(said, (("Categories", recipe.other(CategoricalRecipe)),))
    present = ~column.missing
    if np.isfinite(column.numbers[present]).sum() >= MOSTLY * present.sum() or (found := unit_of(column)) is None:
        return None
    unit, decimals = found
    numbers = [columns.in_unit(column, unit, decimal).numbers for decimal in decimals]
    example = int(np.argmax(np.isfinite(numbers[0]) & ((numbers[0] != numbers[-1]) | (len(numbers) == 1))))
    shown = [f"{read[example]:.15g}" for read in numbers]
    ways = [recipe.other(NumericRecipe, unit=unit, decimal=decimal) for decimal in decimals]
    labels = [f"Numbers: {number}" for number in shown] if len(shown) > 1 else ["Numbers in bins"]
    text = quoted(column.texts[example])
    said = (
        f"{text} in {column.name} counts as a text; it could be the number {' or '.join(shown)} with the unit {unit}."
    )
    if bare := int(column.rows_per_text[np.isfinite(column.numbers)].sum()):
        said += f" {plural(bare, 'user')} {'has' if bare == 1 else 'have'} a number without it."
    return Doubt(said, tuple(zip(labels, ways, strict=True)))


_LONGEST = 500
_END = r"\s*[-+]?(?:[\d.]+(?:e[-+]?\d+)?|inf)\s*"
_COMPOUND = (
    (rf"^[\[(]{_END},{_END}[\])]$", "intervals", "For other bins, load the numbers that they were made from."),
    (r"(?s)^\[.*\]$", "lists", "To count what they hold, make a yes-or-no column of each answer in the file first."),
)


def _compound(recipe: CategoricalRecipe, column: columns.Column) -> Doubt | None:
    """Cells that hold several values: each combination is a category."""
    texts = column.texts[~column.missing][:LOOKED_AT]
    for pattern, what, mend in _COMPOUND if len(texts) else ():
        if np.mean([re.search(pattern, text) is not None for text in texts]) >= MOSTLY:
            said = f"{column.name} holds {what}, such as {quoted(texts[0])}: each different one counts as a category of its own."
            return Doubt(f"{said} {mend}")
    several, sign = _several([text for text in texts if len(text) <= _LONGEST])
    if not several:
        return None
    said = f"{column.name} seems to hold several answers in a cell, such as {quote_examples(several, 2)}"
    users = _users(column, np.isin(column.texts, several))
    said = f"{said} ({users}): each combination counts as a category of its own."
    kind: type[ChoiceRecipe | RankingRecipe] = RankingRecipe if sign == ">" else ChoiceRecipe
    split = recipe.other(kind, separator=sign)
    try:
        items = len(combined_attribute(split, column).items)
    except ValueError as error:
        return Doubt(f"{said} The answers cannot be counted one by one here: {error}")
    if isinstance(split, RankingRecipe):
        effect = "Ranks are counted, and which of two items comes first."
        return Doubt(said, ((f"Read as rankings of {items:,} items", split),), effect)
    effect = f"Each of the {items:,} answers is counted, and a blank cell is the answer of who chose none"
    return Doubt(said, ((f"Split into {items:,} answers", split),), effect)


def _several(texts: list[str]) -> tuple[list[str], str]:
    """The texts that are lists of answers or rankings, and the sign between these: semicolons and bars, or what stands first in some and later in
    others, unlike a place and its country."""
    for sign in (";", "|", ">", "\n", ",", "/", "+", "&"):
        parts = {
            text: [part.strip() for part in re.sub(r"(?<=\d),(?=\d{3}\b)", "", text).split(sign) if part.strip()]
            for text in texts
        }
        several = [text for text in texts if len(set(parts[text])) > 1]
        first = {answers[0] for answers in parts.values() if answers}
        later = {answer for text in several for answer in parts[text][1:]}
        numbers = all(answer.isdigit() for answer in later) and (
            sign in "/+&" or all(len(parts[text]) == 2 for text in several)
        )
        if several and (
            sign in ";|" or (2 * len(first & later) >= min(len(first), len(later)) and not (numbers and sign != "\n"))
        ):
            return several, sign
    return [], ""


def _order(recipe: CategoricalRecipe, column: columns.Column) -> Doubt | None:
    """An order that is only that of the alphabet, and categories without a place in it."""
    if not (recipe.ordered or column.order):
        return None
    try:
        attribute = categorical_attribute(recipe, column)
    except ValueError:  # said where the column is used
        return None
    answers, unplaced, apart = arranged(attribute.values)
    numeric = np.isfinite(columns.to_numbers(np.array(answers, dtype=object))).all()
    alphabetical = attribute.ordered and not (numeric or column.order) and attribute.values == answers + apart
    said, unplaced = "", unplaced if alphabetical else ()
    if unplaced:
        after = "" if unplaced == answers else ", after the others"
        said = (
            f"{quote_examples(unplaced)} in {column.name} {'stands' if len(unplaced) == 1 else 'stand'} in the order of the alphabet{after}, "
            f'since no other is known here. If that is wrong, change the places under "Edit the categories of {column.name}". '
        )
    if attribute.apart:
        verbs = "gives no answer and stands" if len(attribute.apart) == 1 else "give no answer and stand"
        said += f"{quote_examples(attribute.apart)} in {column.name} {verbs} apart, at the end, without a place in the order."
    return Doubt(said.strip(), listed=bool(unplaced)) if said else None


def _codes(recipe: NumericRecipe, column: columns.Column) -> Doubt | None:
    codes = codes_of(column, recipe.no_answer)
    if not codes:
        return None
    said = f"{_numbers(column, codes)}: a number so far from all others may be a code for no answer."
    return Doubt(said, (("Count as missing", with_codes(recipe, codes)),))


def _known_codes(recipe: NumericRecipe, column: columns.Column) -> Doubt | None:
    known = tuple(code for code in recipe.no_answer if code in column.numbers)
    if not known:
        return None
    kept = recipe.model_copy(update={"no_answer": tuple(code for code in recipe.no_answer if code not in known)})
    way = "Keep as a number" if len(known) == 1 else "Keep as numbers"
    return Doubt(f"{_numbers(column, known)}, counted as missing.", ((way, kept),))


def with_codes(recipe: NumericRecipe, codes: tuple[float, ...]) -> NumericRecipe:
    """The recipe with more numbers that count as missing. Ends that were taken from the data are so again, without these."""
    update: dict[str, Any] = {"no_answer": (*recipe.no_answer, *codes)}
    if recipe.method == "range" and recipe.origin == "data":
        update |= {"method": "equal_width", "low": None, "high": None, "outside": "refuse", "origin": "declared"}
    return recipe.model_copy(update=update)


def _numbers(column: columns.Column, codes: tuple[float, ...]) -> str:
    """Codes and who has them: 999 in age (12 users)."""
    said = listed([f"{code:.15g}" for code in codes], 6)
    return f"{said} in {column.name} ({_users(column, np.isin(column.numbers, codes))})"


def _users(column: columns.Column, texts: np.ndarray) -> str:
    return plural(int(column.rows_per_text[texts].sum()), "user")


_TAIL = 0.01
"""Share of people on either side of the middle of a column."""
_CROWDED = 8
"""The middle is crowded if it fills at most one bin in this number."""


def far_numbers(recipe: NumericRecipe, column: columns.Column) -> Doubt | None:
    """A few numbers that take most of the bins of one width; None where they do not, or the ends were given.

    The middle 98 % of people are in one bin of eight at most. The new ends hold all values no further from them than these are wide,
    and are rounded outwards to two digits of their distance. They follow from the data, and the recipe says so.
    """
    given = recipe.method == "range" and (recipe.low is not None or recipe.high is not None)
    if given or recipe.method not in ("equal_width", "range"):
        return None
    if codes_of(column, recipe.no_answer):
        return None  # asked about first
    answers = np.isfinite(column.numbers) & ~np.isin(column.numbers, recipe.no_answer)
    order = np.argsort(column.numbers[answers])
    numbers, users = column.numbers[answers][order], column.rows_per_text[answers][order]
    if not users.sum():
        return None
    so_far = np.cumsum(users)
    first, last = numbers[np.searchsorted(so_far, so_far[-1] * np.array([_TAIL, 1 - _TAIL]))]
    near = numbers[(numbers >= first - (last - first)) & (numbers <= last + (last - first))]
    if near[0] == near[-1]:
        return None
    try:
        now = build_attribute(recipe, column)
        if not isinstance(now, BinnedAttribute):
            return None
        low, high = _outwards(float(near[0]), float(near[-1]), now.integer)
        ends = {"method": "range", "low": low, "high": high, "outside": "clamp", "origin": "data"}
        cut = recipe.model_copy(update=ends)
        build_attribute(cut, column)
    except ValueError:  # said where the column is used
        return None
    bins = len(now.edges) - 1
    places = np.clip(np.searchsorted(np.asarray(now.edges), [first, last], side="right") - 1, 0, bins - 1)
    held = int(places[1] - places[0]) + 1
    outside = ((column.numbers < low) | (column.numbers > high)) & ~np.isin(column.numbers, recipe.no_answer)
    beyond = int(column.rows_per_text[outside].sum())
    if held * _CROWDED > bins or not beyond:
        return None
    said = (
        f"A few values of {recipe.column} lie far from all others: at least 98 % of users are in "
        f"{f'only {held:,}' if held > 1 else 'one'} of its {bins:,} bins."
    )
    values = "a value beyond counts" if beyond == 1 else "values beyond count"
    bounds = f"from {low:,.15g} to {high:,.15g}"
    effect = f"Bins of {recipe.column} go {bounds}; {plural(beyond, 'user')} with {values} in the end bins."
    return Doubt(said, ((f"Bins {bounds}", cut),), effect)


def _outwards(low: float, high: float, whole: bool) -> tuple[float, float]:
    """Ends around these, rounded to two digits of their distance."""
    digits = math.floor(math.log10(high - low)) - 1
    digits = max(0, digits) if whole else digits
    step = 10.0**digits
    return round(math.floor(low / step) * step, -digits), round(math.ceil(high / step) * step, -digits)
