"""One theorem as a page shows it: in words, in mathematics, with what it assumes in words, its number, or why it has none here.

Numbers are all on one scale, the **total squared error per user**: the variance that one user adds
to the answers, summed over the (weighted) queries, in squared users. A theorem about an error of
shares enters as N times its square.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from ldp_core.arguments import check_positive, check_whole
from ldp_core.bounds.promise import check_every_value_is_secret
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

Kind = Literal["impossible", "large_sample", "prediction", "few_users"]
KINDS: dict[Kind, str] = {
    "impossible": "No unbiased mechanism has a smaller error, with any number of people.",
    "large_sample": "No estimator at all has a smaller error once there are enough people; with fewer, some have.",
    "prediction": "A paper's formula for a mechanism, for comparison with its exact error.",
    "few_users": "A proven error of algorithms for few people and many questions.",
}
"""The kinds of statement, and what their numbers mean."""


class Design(Protocol):
    """A mechanism, as far as statements ask."""

    @property
    def name(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    def variance_profile(self, workload: Workload, /) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Setting:
    """The situation that a statement is applied to. ``concentration`` is that of a Dirichlet prior, None for the even population;
    ``branching`` is that of the tree whose error is predicted where the mechanism is none."""

    workload: Workload
    epsilon: float
    users: int
    mechanism: Design | None = None
    concentration: float | None = None
    branching: int = 4

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_whole("number of users", self.users, 1)
        if self.concentration is not None:
            check_positive("concentration", self.concentration)
        if self.mechanism is not None and self.mechanism.n != self.workload.n:
            raise ValueError(f"The mechanism has {self.mechanism.n} types, the workload {self.workload.n}.")


@dataclass(frozen=True)
class Statement:
    """A bound or a prediction. ``latex`` is its formula, ``source`` where it is from, and ``assumptions`` are what it takes to be true, each in
    a sentence (formulas between dollars). ``costly`` ones take seconds or minutes to work out. Where it says nothing, ``check`` or ``compute``
    raises a ValueError of one sentence; of costly ones ``check`` does. ``name`` never changes."""

    name: str
    title: str
    kind: Kind
    words: str
    latex: str
    source: str
    compute: Callable[[Setting], float]
    assumptions: tuple[str, ...]
    check: Callable[[Setting], None] = lambda setting: None
    costly: bool = False
    of_population: bool = False
    """True if its error is that of answers about the population that people are drawn from, not
    about the people."""
    order_only: bool = False
    """True if its number lacks an unknown constant."""

    def refuse(self, setting: Setting) -> None:
        """ValueError, one sentence, where this says nothing in a setting, as far as is known before it is worked out."""
        if setting.workload.strata is not None and self.kind != "impossible":
            raise ValueError("It is about mechanisms that keep every column secret, and here the collector knows one.")
        if not (self.costly and self.kind == "impossible"):  # a certificate is of the promise that the design makes
            check_every_value_is_secret(setting.workload)
        self.check(setting)

    def number(self, setting: Setting) -> float:
        """Its total squared error per user (see the module). ValueError with a sentence where it says nothing."""
        self.refuse(setting)
        return self.compute(setting)

    def reason(self, setting: Setting) -> str:
        """Why this says nothing in a setting; empty where it does, as far as is known of a costly one."""
        try:
            self.refuse(setting) if self.costly else self.number(setting)
        except ValueError as error:
            return str(error)
        return ""
