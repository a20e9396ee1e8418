"""Recipes: how columns become attributes, kept as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, field_validator

from ldp_core.data.domain import CategoricalAttribute, Missing, NumericAttribute, Origin, Unit, check_size
from ldp_core.limits import MOST_COLUMN_NAME, MOST_DAYS
from ldp_core.wording import quoted

Texts = Annotated[tuple[str, ...], Strict(False)]
Numbers = Annotated[tuple[Annotated[float, Field(allow_inf_nan=False)], ...], Strict(False)]


Kind = TypeVar("Kind", bound="_Recipe")


class _Recipe(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    column: str = Field(min_length=1)
    missing: Missing = "drop"
    known: bool = Field(default=False, exclude_if=lambda known: not known)
    """True if the collector knows the column already, so that it is no secret."""
    secret: Annotated[tuple[str, ...] | None, Strict(False)] = Field(
        default=None, exclude_if=lambda secret: secret is None
    )
    """The values that are secret, by their labels; None where all are."""
    if TYPE_CHECKING:  # each kind has these where its files have them
        origin: Origin

        @property
        def declared(self) -> bool: ...

    def other(self, kind: type[Kind], **fields: Any) -> Kind:
        """A recipe of another kind, or a new one, for the same column; only what all recipes have stays."""
        return kind(column=self.column, missing=self.missing, known=self.known, **fields)

    def shared(self, *also: str) -> dict[str, Any]:
        """What an attribute takes over as it is: fields of all recipes, and those named ``also``; ValueError without a name."""
        name = self.column.strip()
        if not name:
            raise ValueError("the attribute has no name: give it one.")
        origin = self.origin if self.declared else "data"
        return {
            "name": name,
            "origin": origin,
            **self.model_dump(include={"missing", "known", "secret", "outside", *also}),
        }


class Merge(BaseModel):
    """Texts counted in one category, under a name that may be new."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1)
    texts: Texts


class CategoricalRecipe(_Recipe):
    """A column of categories.

    Attributes:
        categories: all of them in their order, after merging; None reads them off the data.
        merges: categories under new names.
        answers: texts that are categories although they are words for a missing value, such as None; only where
            `categories` is None.
        ordered: the order means something; None means that it does when all are numbers.
        rare_below: values that fewer people than this have go to "(other)"; only where `categories` is None.
        outside: values that are no category go to "(other)" or are refused; rare ones always go to "(other)".
        origin: whether `categories` were declared, or taken from the data and then edited (and so reveal some of it).
    """

    kind: Literal["categorical"] = "categorical"
    categories: Texts | None = None
    merges: Annotated[tuple[Merge, ...], Strict(False)] = ()
    answers: Texts = Field(default=(), exclude_if=lambda answers: not answers)
    ordered: bool | None = None
    rare_below: int = Field(default=0, ge=0)
    outside: Literal["other", "refuse"] = "refuse"
    origin: Origin = "declared"

    @field_validator("merges")
    @classmethod
    def _one_merge_a_name(cls, merges: tuple[Merge, ...]) -> tuple[Merge, ...]:
        names = [merge.name for merge in merges]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"values are merged into {quoted(twice)} twice: list them all at once.")
        return merges

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return self.categories is not None


class NumericRecipe(_Recipe):
    """A column of numbers in bins.

    Attributes:
        method: "equal_width", "equal_count" and "own_edges" as in `numeric_attribute`, at most 2,048 bins; "range" for
            bins of one width, up to millions, from `low` to `high`, each taken from the data where it is None.
        integer: the numbers are whole; None means that they are when those in the data are.
        no_answer: numbers that count as missing, such as 999.
        unit, decimal: what is written beside the numbers, such as "$", and their decimal sign then: see `columns.in_unit`.
        origin: whether own `edges`, or given ends, were declared, or taken from the data (and so reveal some of it).
    """

    kind: Literal["numeric"] = "numeric"
    method: Literal["equal_width", "equal_count", "own_edges", "range"] = "equal_width"
    bins: int = Field(default=32, ge=1)
    edges: Numbers = ()
    low: float | None = None
    high: float | None = None
    integer: bool | None = None
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    non_numbers: Literal["refuse", "missing"] = "refuse"
    no_answer: Numbers = Field(default=(), exclude_if=lambda codes: not codes)
    unit: str = Field(default="", max_length=MOST_COLUMN_NAME, exclude_if=lambda unit: not unit)
    decimal: Literal[".", ","] = Field(default=".", exclude_if=lambda sign: sign == ".")
    origin: Origin = "declared"

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return self.method == "own_edges" or (self.method == "range" and None not in (self.low, self.high))


class DateRecipe(_Recipe):
    """A column of dates by `unit`, from `first` to `last`, each taken from the data where it is None. ``origin`` says whether given
    ends were declared, or taken from the data."""

    kind: Literal["date"] = "date"
    unit: Unit = "month"
    first: str | None = None
    last: str | None = None
    day_first: bool | None = None
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    non_dates: Literal["refuse", "missing"] = "refuse"
    origin: Origin = Field(default="declared", exclude_if=lambda origin: origin == "declared")

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return None not in (self.first, self.last)


class _ItemsRecipe(_Recipe):
    """A column whose cells hold several ``items`` with a ``separator`` between them; None reads them off the data. ``origin`` says whether
    given ones were declared, or taken from the data."""

    items: Texts | None = None
    separator: str = Field(default=",", min_length=1, max_length=3)
    outside: Literal["other", "refuse"] = "refuse"
    origin: Origin = "declared"

    @property
    def declared(self) -> bool:
        """True if the recipe says everything, so that it needs no data."""
        return None not in (self.items, getattr(self, "most", 1))


class ChoiceRecipe(_ItemsRecipe):
    """Several items chosen: at most ``most`` of them, None for as many as anybody in the data did."""

    kind: Literal["choice"] = "choice"
    most: int | None = Field(default=None, ge=1)


class RankingRecipe(_ItemsRecipe):
    """All items ranked, the first one the best."""

    kind: Literal["ranking"] = "ranking"
    separator: str = Field(default=">", min_length=1, max_length=3)


class CourseRecipe(_ItemsRecipe):
    """One of the ``items`` on each of ``days`` days, with at most so many ``changes`` from a day to the next."""

    kind: Literal["course"] = "course"
    days: int = Field(default=7, ge=2, le=MOST_DAYS)
    changes: int = Field(default=1, ge=0)


AttributeRecipe = Annotated[
    CategoricalRecipe | NumericRecipe | DateRecipe | ChoiceRecipe | RankingRecipe | CourseRecipe,
    Field(discriminator="kind"),
]
CombinedRecipe = ChoiceRecipe | RankingRecipe | CourseRecipe

Listed = TypeVar("Listed", CategoricalAttribute, NumericAttribute)


def check_types(attribute: Listed) -> Listed:
    """The attribute itself, or ValueError unless it has 2 to `MOST_LISTED_TYPES` types."""
    check_size(attribute.size, attribute.name)
    if attribute.size < 2:
        raise ValueError(
            f"{attribute.name} has only one value, {quoted(attribute.labels[0])}, so there is nothing to learn: "
            "choose another column, or declare the other values it can take."
        )
    return attribute
