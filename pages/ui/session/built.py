"""The mechanisms of a design: what they are called, which were fitted, and building the others. Kept with the results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ldp_core import analysis, library, mechanisms
from ldp_core.designs import choices
from ldp_core.mechanisms.noise.additive import VectorMechanism
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA
from ldp_core.optimize import sizes
from pages.ui.session import results
from pages.ui.session.derived import Derived

NO_ROOM = (
    "Results of this size do not all fit beside each other: of what was fitted and proved before, what you used longest ago is let "
    "go of when the new result is there."
)

Curve = tuple[tuple[float, float], ...]
"""How a search went: (seconds, objective or bound on the scale of L)."""


class Fit(NamedTuple):
    """A fitted mechanism; ``history`` is empty where it is not known."""

    mechanism: mechanisms.Mechanism
    history: Curve


@dataclass
class Built(Derived):
    """Mechanisms are named as they stand in the design, each with its parameters."""

    loaded: set[str] = field(default_factory=set)
    """Digests of the fitted mechanisms that came from a file and were not computed here."""

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design: the chosen ones if it is the chosen one, else the defaults. Those of a variant
        are in its name."""
        return choices.parameters_for(self.configuration, name)

    def named(self, name: str) -> str:
        """What a mechanism or variant is called in this design: by the name of a mechanism alone, the chosen one is meant as it was
        chosen. Two that are the same have the same name."""
        return choices.named(self.configuration, name)

    @property
    def chosen(self) -> str:
        """The name of the chosen mechanism with its parameters."""
        return self.named(self.configuration.mechanism.name)

    @property
    def side_by_side(self) -> tuple[str, ...]:
        """The mechanisms compared, each with its parameters and once."""
        return tuple(dict.fromkeys(map(self.named, self.in_comparison)))

    @property
    def in_comparison(self) -> tuple[str, ...]:
        """The same as they are written: those chosen, or where these are for other questions the usual ones for these."""
        chosen, design = self.configuration.compared, self.design()
        if design is None or design.workload is None:
            return chosen
        return library.compared(chosen, design.epsilon, design.workload)

    def cases(self) -> dict[str, analysis.Case]:
        """Whose error can count in the current design; costs and bounds are only ever compared within one case."""
        return choices.cases(self.configuration, self.present.people, self.present.workload)

    def aim(self, name: str) -> str:
        """The case in which a mechanism is judged: the one it is fitted for, or else the worst case."""
        return choices.aim(self.configuration, self.cases(), name)

    def fitted_key(self, name: str) -> str:
        """Identifies the fit of a mechanism by everything it depends on."""
        c, design, name = self.configuration, self.design(), self.named(name)
        inputs = [name, design and design.workload and design.workload.digest, c.epsilon_value]
        settings = c.optimizer.model_dump(include={"seed", "max_rounds", "rows", "time_limit"})
        if library.spec(name).aimed and design is not None:
            prior = self.cases()[self.aim(name)].prior
            if prior is not None:
                settings["aim"] = [self.aim(name), hashlib.sha256(prior.tobytes()).hexdigest()]
        return "fitted:" + json.dumps([inputs, settings], default=str)

    def fitted(self, name: str) -> Fit | None:
        """A fitted mechanism of the current design and its history, once it has been computed."""
        return self.results.get(self.fitted_key(name))

    def from_file(self, name: str) -> bool:
        """Whether the mechanism in use was loaded from a file, so that nobody here knows how it was made."""
        found = self.fitted(name) if library.spec(name).fitted else None
        return found is not None and found.mechanism.digest in self.loaded

    def unfit(self, name: str) -> str | None:
        """Why a mechanism cannot be fitted to the current design, in a sentence; None where it can, or needs no fit."""
        if reason := choices.unfit(self.configuration, self.cases(), name, self.complete.workload):
            return reason
        if not library.spec(name).fitted:
            return None
        if self.fit_bytes(name) > results.KEPT_BYTES:
            return "So many rows are too large to keep: choose fewer, or leave their number empty."
        return None

    @property
    def offered(self) -> list[str]:
        """All mechanisms there are to choose from: those known, and the matrices brought along."""
        return [*library.names(), *(one.mechanism for one in self.configuration.own)]

    @property
    def unsuitable(self) -> dict[str, str]:
        """Why mechanisms cannot run on the current design, by name, for those that cannot."""
        design = self.complete
        n, epsilon, workload, offered = design.domain.size, design.epsilon, design.workload, self.offered

        def reasons() -> dict[str, str]:
            found = {name: library.spec(name).unsuitable(n, epsilon, workload) for name in offered}
            return {name: reason for name, reason in found.items() if reason}

        return self.cached(("unsuitable", n, epsilon, workload.digest, offered), reasons)

    def fit_bytes(self, name: str) -> int:
        """About how much the fit of a mechanism will take (see `weight`)."""
        n, name = self.present.domain.size, self.named(name)
        spec = library.spec(name)
        if spec.continuous:
            return 16 * n * (n + n // 16)
        asked = {**self.parameters_for(name), **spec.fixed}.get("rows")
        return 24 * n * (asked or sizes.rows(n)) if asked or n <= sizes.MOST_TYPES else 0

    def crowded(self, names: Iterable[str]) -> str:
        """What to say before these mechanisms are fitted where their fits cannot all be kept beside what there is; else nothing."""
        return "" if self.results.room(sum(map(self.fit_bytes, names))) else NO_ROOM

    def unfitted(self, names: Iterable[str]) -> list[str]:
        """Those of the named mechanisms that await their fit to the current design and can have one."""
        waiting = (name for name in names if library.spec(name).fitted and self.fitted(name) is None)
        return [name for name in waiting if self.unfit(name) is None]

    def mechanism(self, name: str) -> mechanisms.Mechanism | None:
        """The named mechanism for the current design; None for an optimised one that was not computed yet.
        ValueError when it cannot be built for this design."""
        design = self.design()
        if design is None or design.workload is None:
            return None
        name = self.named(name)
        spec, n, epsilon, parameters = library.spec(name), design.domain.size, design.epsilon, self.parameters_for(name)
        if reason := spec.unsuitable(n, epsilon, design.workload):
            raise ValueError(reason)
        if spec.fitted:
            found = self.fitted(name)
            return found.mechanism if found else None
        workload = design.workload if spec.uses_workload else None
        key = ("mechanism", name, n, epsilon, workload and workload.digest, sorted(parameters.items()))
        return self.cached(
            key, lambda: library.create(name, n=n, epsilon=epsilon, workload=workload, **parameters), weight
        )

    @property
    def delta(self) -> float:
        """Delta of one report of the chosen mechanism, by its audit; until it is there, what it will be built for. 0 if pure."""
        name, spec = self.chosen, library.spec(self.chosen)
        if not spec.delta:
            return 0.0
        try:
            mechanism = self.mechanism(name)
        except ValueError:
            mechanism = None
        if mechanism is None:
            return spec.fixed.get("delta", DEFAULT_DELTA)
        return self.cached(("delta", mechanism.digest), mechanism.audit).delta


def weight(mechanism: mechanisms.Mechanism) -> int:
    """Bytes that a mechanism holds, roughly."""
    if isinstance(mechanism, mechanisms.ExplicitMechanism):
        return 3 * mechanism.strategy.nbytes  # strategy, reconstruction, distribution functions
    if isinstance(mechanism, mechanisms.RingMechanism):
        return 8 * mechanism.n**2  # the inverse of M
    if isinstance(mechanism, VectorMechanism):
        return 2 * mechanism.vectors.nbytes  # the vectors and their inverse
    if isinstance(mechanism, mechanisms.ScrambledPatterns):
        return 16 * sum(one.cells.size for one in mechanism.patterns)  # and what estimates need of them
    if isinstance(mechanism, mechanisms.SplitSurvey):
        return sum(map(weight, mechanism.designs))
    return 0
