"""The inputs of a design, and nothing else: every result is keyed by the digest of the inputs it was computed from."""

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic import field_validator as check

from ldp_core import limits
from ldp_core.data.domain import Domain
from ldp_core.data.population import CONCENTRATIONS, SHAPES, Shape
from ldp_core.data.tables import AttributeRecipe, ReadOptions
from ldp_core.designs import former, strict_json
from ldp_core.library import USUAL, known
from ldp_core.limits import MOST_ATTRIBUTES, MOST_LISTED_TYPES, MOST_PARTS
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.problems import ConfigurationError, in_words, join
from ldp_core.wording import NUMBER, check_parameters
from ldp_core.workloads import Rates, Workload, WorkloadPart, default_parts, over_attributes
from ldp_core.workloads.units import LEVEL, POWER

FORMAT: Final = "ldp-design"
VERSION: Final = 10
_ALLOWED = f"Enter a number from {MIN_EPSILON:g} to {MAX_EPSILON:g}; 0.5 to 4 is common."
_MAX_EPSILON_LENGTH = 40


def parse_epsilon(text: str) -> float:
    """The privacy parameter of one report, from a decimal as a person types it (" 1 ", "0.5", "1e-1").

    Raises ValueError: one sentence if it is empty, not a plain decimal, or outside 0.001 to 20.
    """
    if not isinstance(text, str):
        raise ValueError(f'Epsilon is kept as the text that was entered, for example "1". {_ALLOWED}')
    text = text.strip()
    refused = {
        "Epsilon is empty.": not text,
        f"Epsilon has {len(text):,} characters, too many for a number.": len(text) > _MAX_EPSILON_LENGTH,
        f"Epsilon {text!r} is written with digits other than 0 to 9.": not text.isascii()
        and any(letter.isdigit() and not letter.isascii() for letter in text),
        f"Epsilon {text!r} has a comma: write {text.replace(',', '.')} with a point.": re.fullmatch(
            r"[+-]?\d+,\d+", text
        ),
        "Epsilon must be finite: at infinity a report is the value itself.": re.fullmatch(
            r"[+-]?(inf|infinity)", text, re.IGNORECASE
        ),
        f"Epsilon {text!r} is not a number.": not NUMBER.fullmatch(text),
    }
    if sentence := next((sentence for sentence, is_so in refused.items() if is_so), ""):
        raise ValueError(f"{sentence} {_ALLOWED}")
    value = float(text)
    if value < 0:
        raise ValueError(f"Epsilon {text} is negative, which has no meaning. {_ALLOWED}")
    if value < MIN_EPSILON:
        raise ValueError(f"Epsilon {text} is too small: reports would carry next to no information. {_ALLOWED}")
    if value > MAX_EPSILON:
        raise ValueError(f"Epsilon {text} is too large: a report would all but reveal its sender's value. {_ALLOWED}")
    return value


def _scalar(value: Any) -> int | float | str | bool:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("a parameter must be a finite number, a text, or true or false")
    return value


def _has_weight(histogram: tuple[float, ...]) -> tuple[float, ...]:
    if not sum(histogram) > 0:
        raise ValueError("a histogram needs at least one number above 0")
    return histogram


Whole = Annotated[int, BeforeValidator(lambda value: int(value) if isinstance(value, np.integer) else value)]
Seed = Annotated[Whole, Field(ge=0, lt=2**63)]
Parameters = Annotated[
    dict[str, Annotated[int | float | str | bool, PlainValidator(_scalar)]],
    AfterValidator(lambda parameters: dict(sorted(parameters.items()))),  # equal configurations, equal files
]
Names = Annotated[tuple[str, ...], Strict(False)]  # a list from a widget is welcome


Histogram = Annotated[
    tuple[Annotated[float, Field(ge=0)], ...],
    Strict(False),
    Field(max_length=MOST_LISTED_TYPES),
    AfterValidator(_has_weight),
]


Ratio = Annotated[float, Field(ge=-1e12, le=1e12)] | None
Ratios = Annotated[
    tuple[Annotated[tuple[Ratio, ...], Strict(False)], ...], Strict(False), Field(min_length=1, max_length=2)
]
Size = Annotated[float, Field(ge=0, le=1)]
Sizes = Annotated[
    tuple[Annotated[tuple[Size, ...], Strict(False)], ...], Strict(False), Field(min_length=1, max_length=2)
]


class _Inputs(BaseModel):
    """Frozen; unknown keys, NaN and "3" for 3 refused, so that one meaning has one spelling and one digest."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Recipes = Annotated[tuple[AttributeRecipe, ...], Strict(False), Field(min_length=1, max_length=MOST_ATTRIBUTES)]


class SampleData(_Inputs):
    """Columns of one of the sample data sets; `file` is a bare file name, never a path."""

    source: Literal["sample"] = "sample"
    file: str
    recipes: Recipes

    @check("file")
    @classmethod
    def _bare_name(cls, file: str) -> str:
        if not re.fullmatch(r"\w[\w.-]*", file, re.ASCII):
            raise ValueError("the sample must be a bare file name such as ages.csv, without folders")
        return file


class UploadedData(_Inputs):
    """Columns of the user's own table. Neither its name, its place nor its content is kept.

    `counts` names the column that says how many people a row stands for (None: one), `reading`
    holds the options for reading the file, and `query` the SELECT if the table came out of a
    database.
    """

    source: Literal["upload"] = "upload"
    recipes: Recipes
    counts: str | None = None
    reading: ReadOptions = ReadOptions()
    query: str | None = None


class DeclaredData(_Inputs):
    """A domain declared without data: recipes that say everything."""

    source: Literal["declared"] = "declared"
    recipes: Recipes


DataChoice = Annotated[SampleData | UploadedData | DeclaredData, Field(discriminator="source")]


class Population(_Inputs):
    """How many users there are, and how their values are spread (for the errors expected on this data).

    `centre` is that of a Cauchy shape, `concentration` and `draw` are those of a Dirichlet one (see `expected_counts`); other
    shapes have none of them.
    """

    users: Annotated[Whole, Field(ge=1, le=10**9)] | None
    origin: Literal["declared", "data"]
    shape: Literal["data"] | Shape
    centre: Annotated[float, Field(gt=0, lt=1)] | None = None
    concentration: Annotated[float, Field(ge=CONCENTRATIONS[0], le=CONCENTRATIONS[1])] | None = None
    draw: Seed | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the shape: arguments of `expected_counts`."""
        stated = {"centre": self.centre, "concentration": self.concentration, "draw": self.draw}
        return {name: value for name, value in stated.items() if value is not None}

    def shaped(self, shape: Shape) -> "Population":
        """The same people in another shape, told what that starts from."""
        stated = {"users": self.users, "origin": self.origin, "shape": shape, **SHAPES[shape]}
        return Population.model_validate(stated)

    @model_validator(mode="after")
    def _tells_its_shape(self) -> "Population":
        wanted = set() if self.shape == "data" else set(SHAPES[self.shape])
        if missing := wanted - set(self.parameters):
            raise ValueError(f"the shape {self.shape} needs a {' and a '.join(sorted(missing))}")
        if unused := set(self.parameters) - wanted:
            raise ValueError(f"the shape {self.shape} has no {' and no '.join(sorted(unused))}: remove it")
        return self


class WorkloadRecipe(_Inputs):
    """Groups of queries, each with its weight: see `ldp_core.workloads.over_attributes`."""

    parts: Annotated[tuple[WorkloadPart, ...], Strict(False), Field(min_length=1, max_length=MOST_PARTS)]

    @property
    def summary(self) -> str:
        """The questions in a few words: "Running totals along age", "3 groups of questions"."""
        return self.parts[0].summary if len(self.parts) == 1 else f"{len(self.parts)} groups of questions"

    @classmethod
    def default(cls, domain: Domain) -> "WorkloadRecipe":
        """Default questions: running totals if there is an order, else counts of each value; all
        pairs of attributes."""
        return cls(parts=default_parts(domain))

    def following(self, before: Domain | None, domain: Domain) -> "WorkloadRecipe":
        """The recipe after the domain has changed: what was only a default gives way to the new one, and queries about
        the only attribute become queries about the attribute in its place. They may still not fit: see `build`."""
        if before is None:
            return self
        if self == self.default(before):
            return self.default(domain)
        if len(before.attributes) == len(domain.attributes) == 1:
            names = before.attributes[0].name, domain.attributes[0].name
            return WorkloadRecipe(parts=tuple(part.about(*names) for part in self.parts))
        return self

    def build(self, domain: Domain) -> Workload:
        """The workload on the types of a domain, for people spread evenly. ValueError, one sentence, where the queries do not fit it."""
        return over_attributes(self.parts, domain)


class MechanismRecipe(_Inputs):
    """A name of `ldp_core.mechanisms.names()`, and those of its parameters that a design records: others are refused by name."""

    name: str
    parameters: Parameters = {}


class Simulation(_Inputs):
    """Trials to run. The seed makes simulations reproducible; a client that used it would have no privacy. `new_people` draws
    people anew for each trial. `prior` is that of the posterior mean (see `ldp_core.priors.dirichlet`), with the histogram of the optimizer as
    earlier counts."""

    seed: Seed = 0
    trials: Whole = Field(default=200, ge=1, le=10_000)
    estimators: Names = ("unbiased", "wnnls")
    new_people: bool = False
    prior: Literal["jeffreys", "histogram"] = "jeffreys"


class DifferenceToDetect(_Inputs):
    """A `difference`, in the unit of an answer, that is to be found with this `power` at this `level` (see `ldp_core.detection`)."""

    difference: Annotated[float, Field(gt=0, le=1e12)]
    power: Annotated[float, Field(ge=0.5, le=0.9999)] = POWER
    level: Annotated[float, Field(ge=1e-4, le=0.5)] = LEVEL


class PlanningRates(_Inputs):
    """What was taken of planning data for one question, two digits of each: see `ldp_core.workloads.Rates`; None for groups without people."""

    ratios: Ratios
    sizes: Sizes
    spread: Annotated[float, Field(ge=0, le=1e12)] = 0.0

    @model_validator(mode="after")
    def _one_size_for_each(self) -> "PlanningRates":
        if [len(side) for side in self.ratios] != [len(side) for side in self.sizes] or len(
            {*map(len, self.sizes)}
        ) > 1:
            raise ValueError("each ratio needs the size of its group, and both sides as many")
        if any(0 < size < 1 / limits.MOST_COUNTED_USERS for side in self.sizes for size in side):
            raise ValueError("a group is smaller than one person of all who can be counted")
        return self

    @classmethod
    def of(cls, rates: Rates) -> "PlanningRates":
        ratios = tuple(tuple(None if math.isnan(x) else x for x in side) for side in rates.ratios.tolist())
        return cls(ratios=ratios, sizes=tuple(map(tuple, rates.sizes.tolist())), spread=rates.spread)

    @property
    def rates(self) -> Rates:
        return Rates(np.array(self.ratios, dtype=float), np.array(self.sizes, dtype=float), self.spread)


class Optimizer(_Inputs):
    """Settings of the strategy optimiser; None leaves the choice to it. `rows` is the number of outputs m, `time_limit`
    is in seconds.

    `aim` says whose error to optimise for: that of users spread evenly over the types (average), of
    the population of the design (people), of users spread like `histogram` (one weight per type),
    or of the worst type (worst_case). Where it is left open, `Configuration.aim` says.
    """

    seed: Seed = 0
    max_rounds: Annotated[Whole, Field(ge=1)] | None = None
    rows: Annotated[Whole, Field(ge=1)] | None = None
    aim: Literal["worst_case", "average", "people", "histogram"] | None = None
    histogram: Histogram | None = None
    time_limit: Annotated[float, Field(ge=1, le=3600)] | None = None


class Configuration(_Inputs):
    """Everything an analyst chose. Undo is a list of these; a result is stale when its digest no longer matches.

    `epsilon` (of one report) is the decimal text as entered. `targets` are standard errors and differences to detect by the unit of
    answers (see `ldp_core.workloads.answers`), those by themselves where they are None. `planning` says whether shares, averages and sizes of
    groups are taken of the people of the design or of people spread evenly; `rates` are those taken, in files that leave the people out. `compared` names mechanisms and variants of them (see `ldp_core.library.variants`). `own` are strategy matrices
    that were supplied; only these can be named as mechanisms of one's own. `types` are those that reports are about: the ones that
    the questions distinguish, or all, for questions asked later.
    """

    format: Literal["ldp-design"] = FORMAT
    version: Literal[10] = VERSION
    data: DataChoice | None = None
    domain: Domain | None = None
    population: Population = Population(users=None, origin="declared", shape="uniform")
    workload: WorkloadRecipe | None = None
    epsilon: str = "1"
    reports_per_user: Whole = Field(default=1, ge=1, le=1000)
    mechanism: MechanismRecipe = MechanismRecipe(name="optimized")
    compared: Names = USUAL
    targets: dict[str, Annotated[float, Field(gt=0, le=1e12)] | DifferenceToDetect] | None = None
    planning: Literal["people", "even"] = "people"
    rates: Annotated[tuple[PlanningRates | None, ...], Strict(False)] | None = None
    simulation: Simulation = Simulation()
    optimizer: Optimizer = Optimizer()
    types: Literal["distinguished", "all"] = "distinguished"

    @model_validator(mode="after")
    def _knows_its_mechanisms(self) -> "Configuration":
        if entry := known(self.mechanism.name):  # other names are refused where the mechanism is built
            check_parameters(entry.title, self.mechanism.parameters, entry.recorded)
        return self

    @check("epsilon")
    @classmethod
    def _valid_epsilon(cls, text: str) -> str:
        parse_epsilon(text)
        return text.strip()

    @property
    def epsilon_value(self) -> float:
        """Epsilon of one report."""
        return parse_epsilon(self.epsilon)

    @property
    def total_epsilon(self) -> float:
        """Epsilon of all reports of one person, by basic composition (Dwork and Roth 2014, Theorem 3.16)."""
        return self.reports_per_user * self.epsilon_value

    @property
    def parts(self) -> tuple[WorkloadPart, ...]:
        """The groups of queries asked; none where nothing is."""
        return () if self.workload is None else self.workload.parts

    @property
    def aim(self) -> str:
        """Whose error to optimise for: as chosen, or `usual_aim`."""
        return self.optimizer.aim or self.usual_aim

    @property
    def usual_aim(self) -> str:
        """Whose error counts unless somebody says otherwise: the worst case. Errors of answers within groups are those for the shares and sizes that
        the design takes of planning data: it is for those people then, or for people spread evenly where there are none."""
        if not any(part.groups_by for part in self.parts):
            return "worst_case"
        return "people" if self.planning == "people" and self.population.shape != "uniform" else "average"

    def with_(self, **changes: Any) -> "Configuration":
        """A validated copy with some fields changed.

        Raises ConfigurationError: one sentence naming the field and what is allowed.
        """
        document = {**dict(self), **changes}
        changed = (document[name] != getattr(self, name) for name in ("workload", "domain"))
        if "rates" not in changes and any(changed):
            document["rates"] = None  # they were of other questions
        try:
            return Configuration.model_validate(document)
        except ValidationError as error:
            raise ConfigurationError(in_words(error, document)) from None

    def digest(self, of: Iterable[str] | None = None) -> str:
        """SHA-256 (hex) of the canonical JSON of all fields, or of those named in `of`, in any order.

        Two spellings of one epsilon ("1", "1.0") have one digest.

        Raises ValueError: if `of` is empty or names no field.
        """
        fields = set(type(self).model_fields) if of is None else set(of)
        unknown = fields - set(type(self).model_fields)
        if unknown or not fields:
            raise ValueError(
                f"A digest covers one or more of {', '.join(type(self).model_fields)}; not {sorted(unknown)}."
            )
        document = self.model_dump(mode="json", include=fields)
        if "epsilon" in document:
            document["epsilon"] = self.epsilon_value
        return hashlib.sha256(strict_json.write(document)).hexdigest()

    def to_json(self) -> bytes:
        """The file `load_configuration` reads: UTF-8, indented, fields in the order declared."""
        return strict_json.write(self.model_dump(mode="json"), pretty=True) + b"\n"

    def check_size(self) -> None:
        """Raise ConfigurationError, one sentence, where `load_configuration` would refuse the file as too large."""
        size = len(self.to_json())
        if size <= limits.MOST_JSON_BYTES:
            return
        matrix = any(part.question.kind == "matrix" for part in self.parts)
        mend = "upload a matrix of fewer queries" if matrix else "use fewer or shorter texts and edges"
        mend += ", or a strategy matrix of fewer reports" if "matrix" in self.mechanism.parameters else ""
        raise ConfigurationError(
            f"The file of this design would have {size / 1e6:.1f} MB, and at most {limits.MOST_JSON_BYTES / 1e6:g} MB "
            f"are read again: {mend}."
        )


def load_configuration(content: str | bytes) -> Configuration:
    """Read a configuration file (JSON text or its UTF-8 bytes, at most 5 MB).

    Raises ConfigurationError: one sentence naming the first three things wrong and what is allowed.
    """
    try:
        document = strict_json.read(content, "The configuration")
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ConfigurationError(
            f'This is JSON but not a configuration: it must be an object with "format": "{FORMAT}". '
            "Choose a file that was exported from here."
        )
    document = former.from_version_9(document)
    if (version := document.get("version")) != VERSION or isinstance(version, bool):
        raise ConfigurationError(
            f"The configuration has format version {str(version)[:20]}, and this program reads version {VERSION}: make the design anew."
        )
    missing = [f"{key} is missing" for key in Configuration.model_fields if key not in document]
    if missing:  # a default would silently replace what the author of the file had chosen
        raise ConfigurationError(f"The configuration is incomplete: {join(missing)}")
    if gone := former.refusal(document):
        raise ConfigurationError(gone)
    try:
        return Configuration.model_validate_json(strict_json.write(document), strict=True)
    except ValidationError as error:
        raise ConfigurationError(f"The configuration cannot be used: {in_words(error, document)}") from None
