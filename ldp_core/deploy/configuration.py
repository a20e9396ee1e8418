"""The inputs of a design, and nothing else: every result is keyed by the digest of the inputs it was computed from."""

import hashlib
import math
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

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
)
from pydantic import field_validator as check

from ldp_core.deploy import strict_json
from ldp_core.deploy.problems import ConfigurationError, in_words, join
from ldp_core.domain import MAX_TYPES, Domain
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON

FORMAT = "ldp-design"
VERSION = 2
_ALLOWED = f"Enter a number from {MIN_EPSILON:g} to {MAX_EPSILON:g}; 0.5 to 4 is common."
_MAX_EPSILON_LENGTH = 40

# Version v -> the function that turns a document of version v into one of v + 1.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def _aims_for_the_average(document: dict[str, Any]) -> dict[str, Any]:
    """Version 1 optimised for the average over the types, until it converged, and could not say otherwise."""
    optimizer = {**document["optimizer"], "aim": "average", "histogram": None, "time_limit": None}
    return {**document, "optimizer": optimizer}


MIGRATIONS[1] = _aims_for_the_average


def parse_epsilon(text: str) -> float:
    """The privacy parameter of one report, from a decimal as a person types it (" 1 ", "0.5", "1e-1").

    Raises ValueError: one sentence if it is empty, not a plain decimal, or outside 0.001 to 20.
    """
    if not isinstance(text, str):
        raise ValueError(f'Epsilon is kept as the text that was entered, for example "1". {_ALLOWED}')
    text = text.strip()
    if not text:
        raise ValueError(f"Epsilon is empty. {_ALLOWED}")
    if len(text) > _MAX_EPSILON_LENGTH:
        raise ValueError(f"Epsilon has {len(text):,} characters, too many for a number. {_ALLOWED}")
    if any(letter.isdigit() and not letter.isascii() for letter in text):
        raise ValueError(f"Epsilon {text!r} is written with other digits than 0 to 9. {_ALLOWED}")
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        raise ValueError(f"Epsilon {text!r} has a comma: write {text.replace(',', '.')} with a point. {_ALLOWED}")
    if re.fullmatch(r"[+-]?(inf|infinity)", text, re.IGNORECASE):
        raise ValueError(f"Epsilon must be finite: at infinity a report is the value itself. {_ALLOWED}")
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        raise ValueError(f"Epsilon {text!r} is not a number. {_ALLOWED}")
    value = float(text)
    if value < 0:
        raise ValueError(f"Epsilon {text} is negative, which has no meaning. {_ALLOWED}")
    if value < MIN_EPSILON:
        raise ValueError(f"Epsilon {text} is too small: reports would carry next to no information. {_ALLOWED}")
    if value > MAX_EPSILON:
        raise ValueError(f"Epsilon {text} is too large: a report would all but reveal its sender's value. {_ALLOWED}")
    return value


def _python_integer(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value


def _scalar(value: Any) -> int | float | str | bool:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("a parameter must be a finite number, a text, or true or false")
    return value


def _has_weight(histogram: tuple[float, ...]) -> tuple[float, ...]:
    if not sum(histogram) > 0:
        raise ValueError("a histogram needs at least one number above 0")
    return histogram


Whole = Annotated[int, BeforeValidator(_python_integer)]
Seed = Annotated[Whole, Field(ge=0, lt=2**63)]
Parameters = Annotated[
    dict[str, Annotated[int | float | str | bool, PlainValidator(_scalar)]],
    AfterValidator(lambda parameters: dict(sorted(parameters.items()))),  # equal configurations, equal files
]
Names = Annotated[tuple[str, ...], Strict(False)]  # a list from a widget is welcome


Histogram = Annotated[
    tuple[Annotated[float, Field(ge=0)], ...], Strict(False), Field(max_length=MAX_TYPES), AfterValidator(_has_weight)
]


class _Inputs(BaseModel):
    """Frozen; unknown keys, NaN and "3" for 3 refused, so that one meaning has one spelling and one digest."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Treatment(_Inputs):
    """How a column becomes types, as set on the Data page; texts as typed."""

    kind: Literal["categorical", "numeric"]
    header: bool = True
    method: Literal["equal_width", "equal_count", "own_edges"] = "equal_width"
    bins: Whole = Field(default=32, ge=1)
    edges_text: str = ""
    missing: Literal["drop", "category", "refuse"] = "drop"
    outside: Literal["other", "clamp", "refuse"] = "refuse"
    non_numbers: Literal["refuse", "missing"] = "refuse"
    rare_below: Whole = Field(default=0, ge=0)


class SampleData(_Inputs):
    """A column of one of the sample data sets; `file` is a bare file name, never a path."""

    source: Literal["sample"] = "sample"
    file: str
    column: str
    treatment: Treatment

    @check("file")
    @classmethod
    def _bare_name(cls, file: str) -> str:
        if not re.fullmatch(r"\w[\w.-]*", file, re.ASCII):
            raise ValueError("the sample must be a bare file name such as ages.csv, without folders")
        return file


class UploadedData(_Inputs):
    """A column of the user's own file, of which neither name nor content is kept."""

    source: Literal["upload"] = "upload"
    column: str
    treatment: Treatment


class DeclaredData(_Inputs):
    """A domain declared without data; texts as typed, whether or not they parse yet."""

    source: Literal["declared"] = "declared"
    kind: Literal["categorical", "numeric"]
    name: str = ""
    categories_text: str = ""
    low_text: str = ""
    high_text: str = ""
    bins: Whole = Field(default=32, ge=1)
    integer: bool = False


DataChoice = Annotated[SampleData | UploadedData | DeclaredData, Field(discriminator="source")]


class Population(_Inputs):
    """How many users there are, and how their values are spread (for the errors expected on this data)."""

    users: Annotated[Whole, Field(ge=1, le=10**9)] | None
    origin: Literal["declared", "data"]
    shape: Literal["data", "uniform", "zipf", "bell"]


class WorkloadRecipe(_Inputs):
    """A constructor of `ldp_core.workloads` and its arguments besides the domain."""

    kind: Literal["histogram", "prefix", "all_range", "width_range", "all_marginals", "k_way_marginals", "parity"]
    parameters: Parameters = {}


class MechanismRecipe(_Inputs):
    """A name of `ldp_core.mechanisms.names()` and its arguments besides n, epsilon and workload."""

    name: str
    parameters: Parameters = {}


class Simulation(_Inputs):
    """Trials to run. The seed makes simulations reproducible; a client that used it would have no privacy."""

    seed: Seed = 0
    trials: Whole = Field(default=20, ge=1, le=10_000)
    estimators: Names = ("unbiased", "wnnls")


class Optimizer(_Inputs):
    """Settings of the strategy optimiser; None leaves the choice to it. `rows` is the number of outputs m, `time_limit`
    in seconds.

    `aim` is whose error is made small: of users spread evenly over the types (average), of the population of the design
    (people), of users spread like `histogram` (a weight a type), or of the worst type, whatever the users are.
    """

    seed: Seed = 0
    max_rounds: Annotated[Whole, Field(ge=1)] | None = None
    rows: Annotated[Whole, Field(ge=1)] | None = None
    aim: Literal["worst_case", "average", "people", "histogram"] = "worst_case"
    histogram: Histogram | None = None
    time_limit: Annotated[float, Field(ge=1, le=3600)] | None = None


class Configuration(_Inputs):
    """Everything an analyst chose. Undo is a list of these; a result is stale when its digest no longer matches.

    `epsilon` (of one report) is the decimal text as entered, `target_alpha` the normalised variance aimed at.
    """

    format: Literal["ldp-design"] = FORMAT
    version: Literal[2] = VERSION
    data: DataChoice | None = None
    domain: Domain | None = None
    population: Population = Population(users=None, origin="declared", shape="uniform")
    workload: WorkloadRecipe | None = None
    epsilon: str = "1"
    reports_per_user: Whole = Field(default=1, ge=1, le=1000)
    mechanism: MechanismRecipe = MechanismRecipe(name="optimized")
    compared: Names = (
        "randomized_response",
        "subset_selection",
        "hadamard",
        "hierarchical",
        "optimized",
    )
    target_alpha: float = Field(default=0.01, gt=0, le=1)
    simulation: Simulation = Simulation()
    optimizer: Optimizer = Optimizer()

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

    def with_(self, **changes: Any) -> "Configuration":
        """A validated copy with some fields changed.

        Raises ConfigurationError: one sentence naming the field and what is allowed.
        """
        document = {**dict(self), **changes}
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
                f"A digest is of one or more of {', '.join(type(self).model_fields)}; not {sorted(unknown)}."
            )
        document = self.model_dump(mode="json", include=fields)
        if "epsilon" in document:
            document["epsilon"] = self.epsilon_value
        return hashlib.sha256(strict_json.write(document)).hexdigest()

    def to_json(self) -> bytes:
        """The file `load_configuration` reads: UTF-8, indented, fields in the order declared."""
        return strict_json.write(self.model_dump(mode="json"), pretty=True) + b"\n"


def load_configuration(content: str | bytes) -> Configuration:
    """Read a configuration file (JSON text or its UTF-8 bytes, at most 5 MB), of this or an older version.

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
    document = _migrate(document)
    missing = [f"{key} is missing" for key in Configuration.model_fields if key not in document]
    if missing:  # a default would silently replace what the author of the file had chosen
        raise ConfigurationError(f"The configuration is incomplete: {join(missing)}")
    try:
        return Configuration.model_validate_json(strict_json.write(document), strict=True)
    except ValidationError as error:
        raise ConfigurationError(f"The configuration cannot be used: {in_words(error, document)}") from None


def _migrate(document: dict[str, Any]) -> dict[str, Any]:
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise ConfigurationError(f'The configuration must say its version as a number, such as "version": {VERSION}.')
    if version > VERSION:
        raise ConfigurationError(
            f"The configuration was made by a newer version of this program (format {version}, here {VERSION}): "
            "update the program to load it."
        )
    while version < VERSION:
        if version not in MIGRATIONS:
            raise ConfigurationError(
                f"The configuration has format version {version}, which is unknown: the current one is {VERSION}."
            )
        try:
            document = MIGRATIONS[version](document)
        except (LookupError, TypeError, AttributeError):
            raise ConfigurationError(
                f"The configuration says it has format version {version} but does not look like it: export it again."
            ) from None
        version += 1
        document = {**document, "version": version}
    return document
