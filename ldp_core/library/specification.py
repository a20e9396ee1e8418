"""The facts of a mechanism before it is built, and the parameters it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from ldp_core.limits import MOST_PARAMETER_DIGITS, MOST_STRATEGY_ENTRIES, MOST_TABLE_CELLS
from ldp_core.mechanisms.base import FLOATING_POINT, Mechanism
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA, check_delta
from ldp_core.mechanisms.surveys.sets import NO_SURVEY
from ldp_core.mechanisms.trees.level_shares import SHARES, weights_of
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.wording import NUMBER, magnitude, meant, significant
from ldp_core.workloads import Workload

ACRONYMS = ("oue", "hrr", "olh")
"""Values that a title writes in capitals."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a mechanism: one of ``values`` where there are any, else what the mechanism checks where it uses it (functions
    and arrays). ``optional`` ones may be None, which leaves the choice to the mechanism."""

    values: tuple[Any, ...] = ()
    offered: tuple[Any, ...] | None = None
    """Values an analyst may choose from, the default first: ``values`` where left out."""
    typed: bool = False
    """True if an analyst may give any value, without being offered some."""
    optional: bool = False

    def __post_init__(self) -> None:
        if self.offered is None:
            object.__setattr__(self, "offered", self.values)

    @property
    def default(self) -> Any:
        """The value it has where none is given; None where that is up to the mechanism."""
        return self.offered[0] if self.offered and not self.optional else None

    def check(self, name: str, value: Any) -> None:
        """ValueError, one sentence, where the mechanism cannot be built with ``value``."""
        if not (value is None and self.optional):
            self._check(name.replace("_", " "), value)

    def _check(self, word: str, value: Any) -> None:
        if self.values and not (isinstance(value, type(self.values[0])) and value in self.values):
            raise ValueError(f"Unknown {word} {value!r}; {meant(value, map(str, self.values))}")

    def read(self, name: str, text: str) -> Any:
        """The value written as ``text``. ValueError, one sentence, where the mechanism cannot be built with it."""
        value = self._read(text.strip())
        self.check(name, value)
        return value

    def _read(self, text: str) -> Any:
        """``text`` itself where it is no value, which `check` then says."""
        return next((value for value in self.values if str(value).casefold() == text.casefold()), text)

    def written(self, value: Any) -> Any:
        """``value`` as the name of a variant has it."""
        return value

    def recorded(self, made: Any) -> Any:
        """The value for a file that stands for that of a mechanism as it was ``made``."""
        return made

    def label(self, name: str, value: Any, short: bool = False) -> str:
        """The part of a title that states ``value``, such as "branching 16"; ``short`` leaves out
        the name where it is plain without."""
        shown = str(value).upper() if value in ACRONYMS else str(value).replace("_", " ")
        return shown if short and self.values else f"{name.replace('_', ' ')} {shown}"


@dataclass(frozen=True)
class Number(Parameter):
    """A number from ``least`` up, by default a ``whole`` one; ``usual`` where none is given. ``further`` checks what else is asked of it."""

    least: float
    whole: bool = True
    usual: float | None = None
    further: Callable[[Any], object] = lambda value: value

    @property
    def default(self) -> Any:
        return super().default if self.usual is None else self.usual

    def _check(self, word: str, value: Any) -> None:
        self.further(value)
        kind, called = (Integral, "whole number") if self.whole else (Real, "number")
        number: Any = value
        if isinstance(value, bool) or not isinstance(value, kind) or not number >= self.least:
            raise ValueError(f"{word.capitalize()} must be a {called} of at least {self.least:g}; got {value!r}.")

    def _read(self, text: str) -> Any:
        if self.whole:
            return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_PARAMETER_DIGITS else text
        return float(text) if NUMBER.fullmatch(text) else text

    def label(self, name: str, value: Any, short: bool = False) -> str:
        return super().label(name, value if self.whole else significant(value), short)


DELTA = Number(0, whole=False, usual=DEFAULT_DELTA, further=check_delta, typed=True)
"""The delta of a guarantee."""


@dataclass(frozen=True, kw_only=True)
class Shares(Parameter):
    """How often each level of a tree is picked: a word, or numbers with blanks between them."""

    offered: tuple[str, ...] = SHARES
    typed: bool = True
    optional: bool = True

    def _check(self, word: str, value: Any) -> None:
        weights_of(value)

    def _read(self, text: str) -> str:
        return text.casefold() if text.casefold() in SHARES else " ".join(text.replace(",", " ").split())

    def recorded(self, made: Any) -> str:
        return "fitted"

    def written(self, value: Any) -> str:
        return value if isinstance(value, str) else " ".join(f"{float(share):.12g}" for share in value)


WITH_NOISE = "Vectors with noise are not offered where the collector knows a column: choose a mechanism with a finite number of reports."


@dataclass(frozen=True)
class Spec:
    """The facts of a mechanism before it is built. Costs and bits are per user, in words or
    formulas."""

    name: str
    title: str
    build: Callable[..., Mechanism]
    made_for: str
    paper: str
    bits: str
    user_cost: str = "one draw"
    collector_cost: str = "one count per report, then a matrix product"
    paper_name: str = ""
    """Its name or the numbers of its algorithms in the papers, where that is not the title."""
    delta: bool = False
    """True if the guarantee is (epsilon, delta) rather than pure."""
    continuous: bool = False
    """True if reports carry continuous noise, whose guarantee is one of mathematics only: see ``caveat``."""
    needs_workload: bool = False
    may_use_workload: bool = False
    """True if it can be built without a workload but takes one where `create` has it, as its builder's ``workload``."""
    closed_form: bool = False
    """True if its exact variances are known without a matrix over the types, and so for any number of them."""
    any_size: bool = False
    """True if it works on surveys of more types than there can be a vector over."""
    from_file: bool = False
    """True if it is what a file says, whose text is its parameter: too long for the name of a variant. Its reports are about every type,
    also those that no question distinguishes."""
    surveys_only: bool = False
    """True if it answers nothing but surveys; these may then have any number of types."""
    secret_only: bool = False
    """True if it is for people of whom only some values are secret."""
    epsilon_range: tuple[float, float] = (MIN_EPSILON, MAX_EPSILON)
    out_of_range: str = "It works for epsilon from {low:.3g} to {high:.3g}."
    """The sentence for an ``epsilon`` outside ``epsilon_range``, from ``low`` to ``high``."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """What `create` takes besides n, epsilon and workload."""
    sweep_rounds: Mapping[int, int] = field(default_factory=dict)
    """Rounds of a fit in a sweep, by the largest number of types they are for: at most a few seconds per point up to 256 types.
    Empty for mechanisms that are not fitted."""
    aims: tuple[str, ...] = ("worst_case",)
    """Cases whose error it can make small; it is judged by the first where none is chosen."""
    style: tuple[str, str] = ("#7F7F7F", "x")
    """Colour and marker in every chart."""
    dash: str = "solid"
    """Dash of its lines in every chart."""
    legend: str = ""
    """The title where there is little room, if it is another."""
    domain_rule: Callable[[int, float, Workload | None], str | None] = lambda n, epsilon, workload: None
    """Why the mechanism cannot run on n types with this workload, None when it can."""
    variant_of: str = ""
    """The mechanism that this is a variant of; empty for a mechanism itself. See `ldp_core.library.variants`."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """The parameters that a variant has for good: `create` does not take them."""

    @property
    def full_title(self) -> str:
        """The title, and the name in the papers."""
        return " · ".join(filter(None, (self.title, self.paper_name)))

    @property
    def mechanism(self) -> str:
        """The name of the mechanism, whatever its parameters."""
        return self.variant_of or self.name

    @property
    def uses_workload(self) -> bool:
        """True if another workload makes it another mechanism."""
        return self.needs_workload or self.may_use_workload

    @property
    def fitted(self) -> bool:
        """True if building it is a numerical optimisation that may take long."""
        return bool(self.sweep_rounds)

    def rounds_in_sweeps(self, types: int) -> int | None:
        """The rounds of a fit to so many types in a sweep or a stored figure; None where there is no such fit."""
        return max((rounds for most, rounds in self.sweep_rounds.items() if types <= most), default=None)

    @property
    def aimed(self) -> bool:
        """True if it is fitted to a case that can be chosen."""
        return len(self.aims) > 1

    @property
    def strategy_fitted(self) -> bool:
        """True if its fit is a strategy, which a file can hold."""
        return self.fitted and not self.continuous

    @property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """Parameters an analyst may choose, with their values; the first is the default."""
        return {name: offered for name, parameter in self.parameters.items() if (offered := parameter.offered)}

    @property
    def settings(self) -> dict[str, Parameter]:
        """Parameters an analyst may choose or type."""
        return {name: parameter for name, parameter in self.parameters.items() if parameter.offered or parameter.typed}

    @property
    def recorded(self) -> Mapping[str, Parameter]:
        """Parameters that a design records: those an analyst may choose or type, or the text of a file."""
        return self.parameters if self.from_file else self.settings

    def chosen(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Those of ``parameters`` that an analyst may set and that differ from the defaults."""
        known = {name: value for name, value in parameters.items() if name in self.settings}
        return {name: value for name, value in known.items() if value != self.settings[name].default}

    def own_choices(self, made: Mapping[str, Any]) -> dict[str, Any]:
        """What the mechanism chooses among what an analyst may, of the parameters it was ``made`` with."""
        left = {name: kind for name, kind in self.settings.items() if kind.optional and kind.offered}
        return {name: kind.recorded(made[name]) for name, kind in left.items() if name in made}

    @property
    def privacy(self) -> str:
        kind = "(epsilon, delta)" if self.delta else "pure epsilon"
        return f"{kind}, in real numbers only" if self.continuous else kind

    @property
    def caveat(self) -> str:
        """The caveat that belongs to the guarantee; empty where it holds for the numbers drawn."""
        return FLOATING_POINT if self.continuous else ""

    def unsuitable(self, n: int, epsilon: float, workload: Workload | None = None) -> str | None:
        """Why this mechanism is not for ``n`` types at this epsilon, said before anything is built; None when it is."""
        if workload is not None and workload.strata is not None:
            if self.continuous:
                return WITH_NOISE
            if self.from_file:
                return (
                    "A strategy matrix keeps every column secret: say on the Data page that the collector knows none."
                )
            designs = workload.strata.designs  # each has a mechanism of its own
            return next(filter(None, (self.unsuitable(design.n, epsilon, design) for design in designs)), None)
        low, high = self.epsilon_range
        if not low <= epsilon <= high:
            return self.out_of_range.format(low=low, high=high, epsilon=epsilon)
        if self.surveys_only and workload is not None and workload.survey is None:
            return NO_SURVEY
        if (
            workload is not None
            and workload.survey is not None
            and n > MOST_TABLE_CELLS
            and not (self.any_size or self.surveys_only)
        ):
            return (
                f"It needs numbers for each of the {magnitude(n)} possible combinations of values, and at most {MOST_TABLE_CELLS:,} are held: use a "
                "mechanism for surveys."
            )
        return self.domain_rule(n, epsilon, workload)


def needs_entries(outputs: Callable[[int, float], float]) -> Callable[[int, float, Workload | None], str | None]:
    """The domain rule of mechanisms that write out an (outputs x n) strategy."""

    def rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
        rows = outputs(n, epsilon)
        if rows * n <= MOST_STRATEGY_ENTRIES:
            return None
        return f"It needs a strategy matrix of about {rows:,.0f} x {n:,} entries, too large to write out. Use coarser bins."

    return rule
