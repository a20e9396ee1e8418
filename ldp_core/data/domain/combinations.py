"""Attributes of which only some combinations can occur: several items chosen, a ranking, the course of several days.

A type is a row of numbers, one for each item (`CombinedAttribute.members`): 1 for an item that is chosen, the rank of an item, or the value
on a day. As products of columns, choices, ranks and days would have many more types, most of which nobody can have.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, pairwise, permutations, product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, Strict, model_validator

from ldp_core.data import columns
from ldp_core.data.domain.attributes import MISSING, OUTSIDE, BaseAttribute, CategoricalAttribute, Placed
from ldp_core.data.domain.numbers import NumericAttribute, RangeAttribute
from ldp_core.data.missing import NOTHING
from ldp_core.limits import MOST_DAYS, MOST_LISTED_TYPES, MOST_RANKED_ITEMS
from ldp_core.wording import plural, quote_examples, quoted

_TIMES = re.compile(r"(.*[^ ]) *[x\N{MULTIPLICATION SIGN}] *([0-9]{1,3})", re.DOTALL)

Texts = Annotated[tuple[str, ...], Strict(False)]


class CombinedAttribute(BaseAttribute):
    """An attribute whose values are a list of combinations, written as texts with a ``separator`` between their items."""

    holds: ClassVar[str]
    """What a combination is: a set of items, a ranking, or a value for each of some days."""
    ways_out: ClassVar[str] = "send them to (other)"
    merged: ClassVar[tuple[tuple[str, str], ...]] = ()
    separator: str = Field(default=",", min_length=1, max_length=3, exclude_if=lambda separator: separator == ",")
    outside: Literal["other", "refuse"] = "refuse"

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        parts, (fewest, most) = self.parts, self._sizes
        if not fewest <= len(parts) <= most:
            raise ValueError(
                f"{quoted(self.name)} has {plural(len(parts), 'item')}, and takes {fewest} to {most:,}: name others, or check the sign between items."
            )
        wrong = [part for part in parts if not part or part != columns.plain(part) or self.sign in part]
        if wrong:
            raise ValueError(
                f"{quote_examples(wrong)} cannot be told apart where {quoted(self.separator)} stands between items: rename it, "
                "or use another separator."
            )
        if len(set(parts)) < len(parts) or NOTHING in parts:
            raise ValueError(f"items must differ from each other and from {quoted(NOTHING)}: rename or leave one out.")
        if self._count() > MOST_LISTED_TYPES:
            raise ValueError(
                f"{self._count():,} combinations are too many for {quoted(self.name)}: at most {MOST_LISTED_TYPES:,} are handled. {self._smaller}"
            )
        return self

    if TYPE_CHECKING:  # the names of the columns of `members`: a field, or a property
        kind: str

        @property
        def items(self) -> tuple[str, ...]: ...

    @property
    def parts(self) -> Sequence[str]:
        """The texts that a combination is written with: items, or values on a day."""
        return self.items

    @abstractmethod
    def _count(self) -> int:
        """Number of combinations, without listing them."""

    @abstractmethod
    def _listed(self) -> Iterator[tuple[int, ...]]:
        """The combinations, in the order of the types, as places in `parts`."""

    _smaller: ClassVar[str]
    _sizes: ClassVar[tuple[int, int]] = (2, MOST_LISTED_TYPES)
    """Fewest and most `parts`."""

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        return {combination: i for i, combination in enumerate(self._listed())}

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The label of each combination."""
        return tuple(map(self._written, self._places))

    @cached_property
    def members(self) -> np.ndarray:
        """(combinations, items) numbers: whether an item is chosen, its rank from 1 up, or the value on a day."""
        return np.array([self._row(combination) for combination in self._places])

    def _written(self, combination: tuple[int, ...]) -> str:
        return self.between.join(self.parts[i] for i in combination) or NOTHING

    @property
    def sign(self) -> str:
        """The separator without the blanks around it, where it is not one of them."""
        return self.separator.strip() or self.separator

    @property
    def between(self) -> str:
        """What stands between items in labels."""
        return f"{'' if self.sign in ',;' else ' '}{self.sign} " if self.sign.strip() else self.sign

    @abstractmethod
    def _row(self, combination: tuple[int, ...]) -> list[int]:
        """A row of `members`."""

    def read(self, text: str) -> int:
        """The type that a text stands for; a mark where it is no combination."""
        if text == NOTHING:
            return self._places.get((), OUTSIDE)
        found = {part: i for i, part in enumerate(self.parts)}
        names = [columns.plain(name) for name in text.split(self.sign)]
        places = [found.get(name, -1) for name in names if name]
        return self._places.get(self._key(places), OUTSIDE)

    def _key(self, places: list[int]) -> tuple[int, ...]:
        return tuple(places)

    @property
    def in_order(self) -> bool:
        """False: combinations have no order."""
        return False

    def _ordinary_size(self) -> int:
        return self._count()

    def _ordinary_labels(self, which: np.ndarray) -> list[str]:
        return [self.values[i] for i in which]

    def _taken_labels(self) -> set[str]:
        return set(self.values)

    def _place(self, column: columns.Column) -> Placed:
        types = np.array([self.read(text) for text in column.texts], dtype=np.int64)
        types[column.missing & (types == OUTSIDE)] = MISSING
        return types, types == OUTSIDE, np.zeros(types.size, dtype=bool)


class ChoiceAttribute(CombinedAttribute):
    """Up to ``most`` of some ``items``, in any order; a blank cell is the answer of who chose none.

    Attributes:
        items: their names, different and without the separator. most: the number of items that a person can choose at most.
        separator: what stands between items in a cell.
    """

    kind: Literal["choice"] = "choice"
    holds: ClassVar[str] = "set"
    items: Texts
    most: int = Field(ge=1)
    _blank: ClassVar[int | None] = 0
    _smaller: ClassVar[str] = "Let people choose fewer at once, merge rare items, or make a yes/no column of each item."

    @model_validator(mode="after")
    def _check_most(self) -> Self:
        if self.most > len(self.items):
            raise ValueError(f"nobody can choose {self.most:,} of {len(self.items):,} items: choose a lower number.")
        return self

    def _count(self) -> int:
        return sum(math.comb(len(self.items), j) for j in range(self.most + 1))

    def _listed(self) -> Iterator[tuple[int, ...]]:
        for size in range(self.most + 1):
            yield from combinations(range(len(self.items)), size)

    def _key(self, places: list[int]) -> tuple[int, ...]:
        return tuple(sorted(set(places)))

    def _row(self, combination: tuple[int, ...]) -> list[int]:
        return [int(i in combination) for i in range(len(self.items))]


class RankingAttribute(CombinedAttribute):
    """All ``items``, at most `MOST_RANKED_ITEMS` of them, ranked: the first is the best."""

    kind: Literal["ranking"] = "ranking"
    holds: ClassVar[str] = "ranking"
    items: Texts
    _sizes: ClassVar[tuple[int, int]] = (2, MOST_RANKED_ITEMS)
    separator: str = Field(default=">", min_length=1, max_length=3, exclude_if=lambda separator: separator == ">")

    def _count(self) -> int:
        return math.factorial(len(self.items))

    def _listed(self) -> Iterator[tuple[int, ...]]:
        return permutations(range(len(self.items)))

    def _row(self, combination: tuple[int, ...]) -> list[int]:
        return [combination.index(i) + 1 for i in range(len(self.items))]


class CourseAttribute(CombinedAttribute):
    """The values of one attribute on ``days`` days, with at most so many ``changes`` from a day to the next.

    Written as the value of every day, or as runs: "no x3, yes x4".

    Attributes:
        of: what is asked every day; it gives the course its name. days: at least 2. changes: fewer than days.
    """

    kind: Literal["course"] = "course"
    holds: ClassVar[str] = "days"
    of: Annotated[CategoricalAttribute | NumericAttribute | RangeAttribute, Field(discriminator="kind")]
    days: int = Field(ge=2, le=MOST_DAYS)
    _sizes: ClassVar[tuple[int, int]] = (1, MOST_LISTED_TYPES)
    changes: int = Field(ge=0)
    _smaller: ClassVar[str] = "Ask for fewer days, fewer changes, or fewer values."

    @model_validator(mode="before")
    @classmethod
    def _name(cls, given: Any) -> Any:
        of = given.get("of") if isinstance(given, dict) else None
        name = of.get("name") if isinstance(of, dict) else getattr(of, "name", None)
        return given if name is None else {"name": name, **_in_tuples(given)}

    @model_validator(mode="after")
    def _check_changes(self) -> Self:
        if self.changes >= self.days:
            raise ValueError(f"{self.days} days have at most {self.days - 1} changes: choose a lower number.")
        if wrong := [part for part in self.parts if (run := _TIMES.fullmatch(part)) and run[1] in self.parts]:
            raise ValueError(f"{quote_examples(wrong)} reads as several days of another value: rename it.")
        return self

    @property
    def parts(self) -> Sequence[str]:
        return self.of.labels

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(f"day {day + 1}" for day in range(self.days))

    def _count(self) -> int:
        size = self.of.size
        return sum(math.comb(self.days - 1, c) * size * (size - 1) ** c for c in range(self.changes + 1))

    def _listed(self) -> Iterator[tuple[int, ...]]:
        values = range(self.of.size)
        for changes in range(self.changes + 1):
            for ends in combinations(range(1, self.days), changes):
                lengths = np.diff([0, *ends, self.days])
                for runs in product(values, repeat=changes + 1):
                    if all(a != b for a, b in pairwise(runs)):
                        yield tuple(np.repeat(runs, lengths).tolist())

    def _row(self, combination: tuple[int, ...]) -> list[int]:
        return list(combination)

    def _written(self, combination: tuple[int, ...]) -> str:
        starts = [0, *(day for day in range(1, self.days) if combination[day] != combination[day - 1]), self.days]
        lengths = np.diff(starts).tolist()
        runs = [f"{self.parts[combination[a]]} x{many}" for a, many in zip(starts, lengths, strict=False)]
        return self.between.join(runs)

    def read(self, text: str) -> int:
        """The type that a text of days or of runs stands for; a mark where it is no course."""
        names = list[str]()
        for part in map(columns.plain, text.split(self.sign)):
            run = None if part in self.parts else _TIMES.fullmatch(part)
            names += [run[1]] * int(run[2]) if run else [part]
        return super().read(self.sign.join(names))


def _in_tuples(given: Any) -> Any:
    """Lists of a JSON file as tuples, which they are in a model: what is looked at before it is read comes in lists."""
    if isinstance(given, dict):
        return {name: _in_tuples(value) for name, value in given.items()}
    return tuple(map(_in_tuples, given)) if isinstance(given, list) else given
