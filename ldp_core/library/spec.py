"""What is known of a mechanism before it is built: its facts, and the parameters it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from ldp_core.mechanisms.base import FLOATING_POINT, Mechanism
from ldp_core.mechanisms.noise.gaussian_privacy import check_delta
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.wording import meant
from ldp_core.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a mechanism; ``optional`` ones may be None, which leaves the choice to the mechanism."""

    offered: tuple[Any, ...] = ()
    """Values an analyst may choose from, the default first."""
    optional: bool = False

    def check(self, name: str, value: Any) -> None:
        """ValueError, one sentence, where the mechanism cannot be built with ``value``."""
        if not (value is None and self.optional):
            self._check(name.replace("_", " "), value)

    def _check(self, word: str, value: Any) -> None:
        raise NotImplementedError


class Anything(Parameter):
    """Checked where it is used: functions and arrays."""

    def _check(self, word: str, value: Any) -> None:
        pass


class Delta(Parameter):
    """The delta of a guarantee."""

    def _check(self, word: str, value: Any) -> None:
        check_delta(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of ``values``, all of which are ``offered`` where nothing else is said."""

    values: tuple[Any, ...]
    offered: tuple[Any, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self):
        if self.offered is None:
            object.__setattr__(self, "offered", self.values)

    def _check(self, word: str, value: Any) -> None:
        if not isinstance(value, type(self.values[0])) or value not in self.values:
            raise ValueError(f"Unknown {word} {value!r}; {meant(value, map(str, self.values))}")


@dataclass(frozen=True)
class Whole(Parameter):
    """A whole number from ``least`` up."""

    least: int

    def _check(self, word: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.least:
            raise ValueError(f"{word.capitalize()} must be a whole number of at least {self.least}; got {value!r}.")


@dataclass(frozen=True)
class Number(Parameter):
    """A number from ``least`` up."""

    least: float

    def _check(self, word: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, Real) or not value >= self.least:
            raise ValueError(f"{word.capitalize()} must be a number of at least {self.least:g}; got {value!r}.")


@dataclass(frozen=True)
class Spec:
    """What the library knows of a mechanism before building it. Costs and bits are per user, in words or formulas."""

    name: str
    title: str
    build: Callable[..., Mechanism]
    made_for: str
    paper: str
    bits: str
    user_cost: str
    collector_cost: str
    delta: bool = False
    """Whether the guarantee is (epsilon, delta) rather than pure."""
    continuous: bool = False
    """Whether reports carry continuous noise, whose guarantee is one of mathematics only: see ``caveat``."""
    needs_workload: bool = False
    may_use_workload: bool = False
    """Whether it can be built without a workload but takes one where `create` has it, as its builder's ``workload``."""
    closed_form: bool = False
    """Whether its exact variances are known without a matrix over the types, and so for any number of them."""
    epsilon_range: tuple[float, float] = (MIN_EPSILON, MAX_EPSILON)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """What `create` takes besides n, epsilon and workload."""
    sweep_rounds: Mapping[int, int] = field(default_factory=dict)
    """Rounds of a fit in a sweep, by the largest number of types they are for: a few seconds a point at most up to 256 types.
    Empty for mechanisms that are not fitted."""
    aims: tuple[str, ...] = ("worst_case",)
    """Cases whose error it can make small; it is judged in the first where none is chosen."""
    style: tuple[str, str] = ("#7F7F7F", "x")
    """Colour and marker in every chart."""
    legend: str = ""
    """The title where there is little room, if it is another."""
    domain_rule: Callable[[int, float, Workload | None], str | None] = lambda n, epsilon, workload: None
    """Why the mechanism cannot run on n types with this workload, None when it can."""

    @property
    def uses_workload(self) -> bool:
        """Whether another workload makes it another mechanism."""
        return self.needs_workload or self.may_use_workload

    @property
    def fitted(self) -> bool:
        """Whether building it is a numerical optimisation that may take long."""
        return bool(self.sweep_rounds)

    @property
    def aimed(self) -> bool:
        """Whether it is fitted to a case that can be chosen."""
        return len(self.aims) > 1

    @property
    def strategy_fitted(self) -> bool:
        """Whether its fit is a strategy, which a file can hold."""
        return self.fitted and not self.continuous

    @property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """Parameters an analyst may choose, with their values; the first is the default."""
        return {name: parameter.offered for name, parameter in self.parameters.items() if parameter.offered}

    @property
    def privacy(self) -> str:
        kind = "(epsilon, delta)" if self.delta else "pure epsilon"
        return f"{kind}, in real numbers only" if self.continuous else kind

    @property
    def caveat(self) -> str:
        """What has to be said beside the guarantee; empty where it holds for what is drawn."""
        return FLOATING_POINT if self.continuous else ""

    def unsuitable(self, n: int, epsilon: float, workload: Workload | None = None) -> str | None:
        """Why this mechanism is not for ``n`` types at this epsilon, said before anything is built; None when it is."""
        low, high = self.epsilon_range
        if not low <= epsilon <= high:
            return f"It works for epsilon from {low:.3g} to {high:.3g}."
        return self.domain_rule(n, epsilon, workload)
