"""The mechanisms of a design, chosen and compared, with their fits, and the proofs of what none of them can beat."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from ldp_core import bounds, frames, library, workloads
from ldp_core.designs import fits, proofs
from ldp_core.designs.basis import Basis
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.fits import Fit, NotFitted
from ldp_core.designs.once import once
from ldp_core.designs.proofs import Proof
from ldp_core.designs.results import digest
from ldp_core.limits import (
    MOST_DEVICE_ENTRIES,
    MOST_FITTED_TYPES,
    MOST_SEARCH_SECONDS,
)
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA
from ldp_core.optimize.base import too_large
from ldp_core.optimize.columns.generation import rows_held
from ldp_core.run import Callback, Cancel, Check, unchecked

SEARCH_SECONDS = {64: 10.0, 128: 30.0, 256: 60.0, 512: 120.0}
"""How long to search for the best mechanism, and to prove a bound, for at most this many types."""
TRADE_OFF = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
"""The epsilons at which a design is fitted and proved for its main picture, besides its own."""


@dataclass(frozen=True, eq=False)
class Rivals(Basis):
    """The mechanisms of a design, by their names in it, each with its parameters."""

    # --- mechanisms by name ---------------------------------------------------------------------

    @once
    def named(self, name: str) -> str:
        """The name of a mechanism or variant in this design: the name of a mechanism alone means the chosen one as it was chosen. Two that
        are the same have the same name."""
        spec, chosen = library.spec(name), ""
        if spec.mechanism == self.configuration.mechanism.name:
            with suppress(ValueError):  # a value from a file that it cannot have: building it says so
                plain = library.spec(spec.mechanism)
                if fixed := plain.chosen(self.parameters_for(plain.name)):
                    chosen = library.variants.variant(plain, fixed).name
        if spec.fixed or (chosen and spec.variant_of):
            return spec.name
        return chosen or spec.mechanism

    @cached_property
    def chosen(self) -> str:
        """The name of the chosen mechanism with its parameters."""
        return self.named(self.configuration.mechanism.name)

    @cached_property
    def in_comparison(self) -> tuple[str, ...]:
        """The mechanisms compared as they are written: those chosen, or the usual ones for these questions."""
        chosen = self.configuration.compared
        return chosen if self._workload is None else library.compared(chosen, self.epsilon, self._workload)

    @cached_property
    def side_by_side(self) -> tuple[str, ...]:
        """The mechanisms compared, each with its parameters and once; the chosen one is always among them."""
        return tuple(dict.fromkeys((*map(self.named, self.in_comparison), self.chosen)))

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design, as `library.create` takes them: the chosen ones if it is the chosen one, else the
        defaults. Those of a variant are in its name. ``types`` is among them where the design keeps all types."""
        kept, chosen = {"types": "all"} if self.configuration.types == "all" else {}, self.configuration.mechanism
        return kept | (chosen.parameters if chosen.name == name else {})

    @cached_property
    def search_seconds(self) -> float:
        """How long a fit or a proof may take: as set, or by its size."""
        by_size = (seconds for size, seconds in SEARCH_SECONDS.items() if self.fitted_types <= size)
        return self.configuration.optimizer.time_limit or next(by_size, MOST_SEARCH_SECONDS)

    @cached_property
    def at_other_epsilons(self) -> tuple[Self, ...]:
        """The same design at the epsilons of `TRADE_OFF` but for its own, with results in the same place."""
        others = [f"{epsilon:g}" for epsilon in TRADE_OFF if not math.isclose(epsilon, self.epsilon)]
        return tuple(replace(self, configuration=self.configuration.with_(epsilon=epsilon)) for epsilon in others)

    @cached_property
    def unsuitable(self) -> dict[str, str]:
        """Why mechanisms cannot run on the design, by name, for those that cannot."""
        return {name: reason for name in library.REGISTRY if (reason := self._unsuitable(name))}

    @once
    def _unsuitable(self, name: str) -> str | None:
        return library.spec(name).unsuitable(self.domain.size, self.epsilon, self.workload)

    # --- mechanisms -----------------------------------------------------------------------------

    def mechanism(self, name: str) -> Mechanism | None:
        """The named mechanism; None for one that has yet to be fitted. ValueError when it cannot be built."""
        name = self.named(name)
        if reason := self._unsuitable(name):
            raise ValueError(reason)
        if library.spec(name).fitted:
            fit = self.fitted(name)
            return fit.mechanism if fit else None
        key, workload = self._built_for(name)
        about = {"n": self.domain.size, "epsilon": self.epsilon, "workload": workload, **self.parameters_for(name)}
        return self.results.cached(key, partial(library.create, name, **about), lambda made: made.bytes_held)

    @once
    def _built_for(self, name: str) -> tuple[str, workloads.Workload | None]:
        """The key of a mechanism that is not fitted, and the questions where it is another one for other questions."""
        spec, parameters = library.spec(name), self.parameters_for(name)
        merged = self.configuration.types != "all" and self._classes(name) is not None
        merged |= self.workload.strata is not None
        workload = self.workload if spec.uses_workload or merged else None
        # The text of a file is long.
        given = sorted((key, hash(value) if isinstance(value, str) else value) for key, value in parameters.items())
        about = (name, self.domain.size, self.epsilon, workload and workload.digest, given)
        return digest(("mechanism", *about)), workload

    def _classes(self, name: str) -> workloads.Quotient | None:
        return library.classes_for(library.spec(name), self.workload, self.epsilon)

    @cached_property
    def about_types(self) -> str:
        """A sentence on the types that reports of the chosen mechanism are about. It is empty if the questions distinguish all
        types, or if the mechanism goes by attributes."""
        if (classes := self._classes(self.chosen)) is None:
            return ""
        these = "all types" if self.configuration.types == "all" else "these"
        return f"Your questions distinguish {classes.workload.n:,} of {self.domain.size:,} types; reports are about {these}."

    @property
    def chosen_mechanism(self) -> Mechanism:
        """The mechanism of the design. `NotFitted` while it has not been fitted."""
        mechanism = self.mechanism(self.chosen)
        if mechanism is None:
            raise NotFitted(f"{library.spec(self.chosen).title} has not been optimised for this design yet.")
        return mechanism

    def titled(self, name: str) -> str:
        """The title of a mechanism, with the closed form that it is in this design: see `library.titled`."""
        fit = self.fitted(name) if library.spec(name).strategy_fitted else None
        return library.titled(name, fit and fit.mechanism)

    def build(self, name: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Mechanism:
        """The named mechanism, fitted now where it has yet to be. ValueError, one sentence, where it is not available."""
        if reason := self._unsuited(self.named(name)):
            raise ValueError(reason)
        mechanism = self.mechanism(name)
        return self.fit(name, callback, cancel).mechanism if mechanism is None else mechanism

    @property
    def delta(self) -> float:
        """Delta of one report of the chosen mechanism, by its audit; until it is fitted, what it will have. 0 if pure."""
        spec, mechanism = library.spec(self.chosen), None
        expected = spec.fixed.get("delta", DEFAULT_DELTA) if spec.delta else 0.0
        if expected and self.has_questions:
            with suppress(ValueError):
                mechanism = self.mechanism(self.chosen)
        if mechanism is None:
            return expected
        return self.results.cached(("delta", mechanism.digest), mechanism.audit).delta

    @property
    def recorded(self) -> Configuration:
        """The configuration as files hold it: `settled`, with what its mechanism chose itself, where that is the same in all groups."""
        settled, recipe = self.settled, self.configuration.mechanism
        with suppress(ValueError):
            made = None if (spec := library.spec(recipe.name)).fitted else self.mechanism(recipe.name)
            each = [spec.own_choices(one.parameters) for one in getattr(made, "strata", [made]) if one is not None]
            if each and all(choices_made == each[0] for choices_made in each):
                stated = {**each[0], **recipe.parameters}
                return settled.model_copy(update={"mechanism": recipe.model_copy(update={"parameters": stated})})
        return settled

    # --- fits -----------------------------------------------------------------------------------

    @once
    def fitted_key(self, name: str) -> str:
        """Identifies the fit of a mechanism by everything it depends on."""
        name = self.named(name)
        settings = self.configuration.optimizer.model_dump(include={"seed", "max_rounds", "rows", "time_limit"})
        if self.configuration.types == "all":
            settings["types"] = "all"
        if library.spec(name).aimed:
            prior = self.cases[self.aim(name)].prior
            if prior is not None:
                settings["aim"] = [self.aim(name), hashlib.sha256(prior.tobytes()).hexdigest()]
        return "fitted:" + json.dumps([[name, self.workload.digest, self.epsilon], settings], default=str)

    def fitted(self, name: str) -> Fit | None:
        """A fitted mechanism and its history, once it has been computed or loaded, or at once where that takes no search."""
        return self.results.get(self.fitted_key(name)) or self.unsearched(name)

    def unsearched(self, name: str, recorded: object = None) -> Fit | None:
        """The fit of a mechanism that takes no search, kept: see `library.unsearched`, also for what a file has ``recorded``."""
        about = (self.named(name), self.epsilon, self.workload)
        made = library.unsearched(*about, recorded=recorded, **self.fit_options(name))
        return None if made is None else self._keep(name, Fit(made, ()))

    def from_file(self, name: str) -> bool:
        """True if the mechanism in use was loaded from a file, so that no one here knows how it was made."""
        fit = self.fitted(name) if library.spec(name).fitted else None
        return "matrix" in self.parameters_for(name) or (fit is not None and fit.loaded)

    def use(self, mechanism: Mechanism) -> None:
        """Use a fitted mechanism from a file. One that was computed here stays known as such."""
        before = self.fitted(mechanism.name)
        if before is None or before.mechanism.digest != mechanism.digest:
            self._keep(mechanism.name, Fit(mechanism, (), loaded=True))

    def _keep(self, name: str, fit: Fit) -> Fit:
        self.results.put(self.fitted_key(name), fit, fit.mechanism.bytes_held, expensive=True)
        return fit

    def unfit(self, name: str) -> str | None:
        """Why a mechanism cannot be fitted to the design, in a sentence; None where it can, or needs no fit."""
        if reason := self._unsuited(self.named(name)):
            return reason
        if not library.spec(name).fitted or self.fitted(name) is not None:
            return None
        return self.results.refused(self.fit_bytes(name)) or None

    @once
    def _unsuited(self, name: str) -> str | None:
        spec = library.spec(name)
        if not spec.fitted or (reason := self._unsuitable(name)):
            return reason if spec.fitted else None
        case = self.cases[self.aim(name)]
        if spec.aimed and case.prior is not None and not case.uniform and self.workload.survey is None:
            reason = too_large(self.workload.n)
            return reason and f"{reason} More can be had where the worst case counts, or an even spread."
        return None

    def unfitted(self, names: Iterable[str]) -> list[str]:
        """Those of the named mechanisms that have yet to be fitted, and can be."""
        waiting = (name for name in names if library.spec(name).fitted and self.fitted(name) is None)
        return [name for name in waiting if self.unfit(name) is None]

    def fit_bytes(self, name: str) -> int:
        """About how many bytes the fit of a mechanism will hold."""
        n, name = self.domain.size if self.workload.survey is not None else self.fitted_types, self.named(name)
        if library.spec(name).continuous:
            return 16 * n * (n + n // 16)
        rows = self._rows(name)
        return 24 * n * (rows or rows_held(n)) if rows or n <= MOST_FITTED_TYPES else 0

    def _rows(self, name: str) -> int | None:
        return {**self.parameters_for(name), **library.spec(name).fixed}.get("rows")

    def outgrows_a_kit(self, name: str) -> str:
        """Why a fit will have too large a table for the devices of a kit, in a sentence said before the search; empty where it has not."""
        n, spec, rows = self.fitted_types, library.spec(name), self._rows(name) or 4 * self.fitted_types
        searched = spec.strategy_fitted and not spec.aimed and self.workload.survey is None
        if self.fitted(name) is not None or not searched or n > MOST_FITTED_TYPES or rows * n <= MOST_DEVICE_ENTRIES:
            return ""
        return (
            f"The table will have {rows:,} x {n:,} chances, more than the {MOST_DEVICE_ENTRIES:,} that fit into the devices of a kit: to "
            f"collect, use coarser bins or another mechanism, such as {library.spec('optimized').title}."
        )

    @once
    def fit_options(self, name: str) -> dict[str, Any]:
        """The optimiser settings of the design that a mechanism knows, and whose error it is to make small."""
        spec, chosen = library.spec(self.named(name)), self.configuration.optimizer.model_dump()
        settings = {k: v for k, v in chosen.items() if k in spec.parameters and v is not None}
        if spec.aimed:
            case = self.cases[self.aim(spec.name)]
            settings["time_limit"] = None if "max_rounds" in settings else self.search_seconds
            if case.prior is None:
                settings["target"] = "worst_case"
            elif not case.uniform:
                settings["prior"] = case.prior
        return settings | self.parameters_for(spec.name)

    def fit(
        self,
        name: str,
        callback: Callback | None = None,
        cancel: Cancel | None = None,
        bound: Callable[[], float | None] | None = None,
        **search: Any,
    ) -> Fit:
        """Fit a mechanism and keep the fit, or an earlier one that was computed here and is better: see `fits.search`. By default the
        ``bound`` is the proof kept for the case."""
        name, questions = self.named(name), self.answers.workload
        case = self.aim(name)

        def proved() -> float | None:
            proof: Proof | None = self.results.get(self.certificate_key(case))
            if proof is None or questions != self.workload:  # then it is on other rows than those fitted to
                return None
            return bounds.equivalent_objective(proof.certificate.variance, questions)

        def objective(mechanism: Mechanism, check: Check) -> float:
            variance = self.cases[case].variance(self.profiled(mechanism, self.workload, check))
            return bounds.equivalent_objective(variance, self.workload)

        about = (name, self.epsilon, self.workload, self.fit_options(name), bound or proved, objective)
        fit, before = fits.search(*about, callback, cancel, **search), self.fitted(name)
        better = before is not None and before.history and fit.history and before.history[-1][1] < fit.history[-1][1]
        return self._keep(name, before if before is not None and better else fit)

    def profiled(self, mechanism: Mechanism, workload: workloads.Workload, check: Check = unchecked) -> np.ndarray:
        """(n,) variance per user of each type for a workload, however long it takes; ``check`` may stop it."""
        return self.results.cached(
            profile_key(mechanism, workload), lambda: mechanism.variance_profile(workload, check)
        )

    # --- what no mechanism can beat -------------------------------------------------------------

    @once
    def certificate_key(self, case: str) -> str:
        """Identifies a certificate by what it is about."""
        prior = self.cases[case].prior
        shares = prior is not None and hashlib.sha256(prior.tobytes()).hexdigest()
        return "certificate:" + json.dumps([self.answers.workload.digest, self.epsilon, shares])

    def proof(self, case: str) -> Proof | None:
        """The best proof of a case so far. It takes no time where the workload treats all types alike."""
        kept: Proof | None = self.results.get(self.certificate_key(case))
        questions, chosen = self.answers.workload, self.cases[case]
        if kept is not None or questions.symmetry != "exchangeable" or not (chosen.prior is None or chosen.uniform):
            return kept
        return self.keep_proof(case, Proof(bounds.certificate(questions, self.epsilon, None), (), True))

    def keep_proof(self, case: str, proof: Proof) -> Proof:
        """Keep the better of a proof and the last one of this case, and return it."""
        key = self.certificate_key(case)
        before: Proof | None = self.results.get(key)
        if before is not None and before.certificate.variance > proof.certificate.variance:
            proof = before
        if proof.finished or proof.certificate.value > proof.certificate.trivial:  # else it was cancelled early
            self.results.put(key, proof, proof.size, expensive=True)
        return proof

    def prove(self, case: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Proof:
        """Search for a certificate of what no mechanism can beat in a case, and keep the better of this and the last."""
        about = (self.answers.workload, self.epsilon, self.cases[case], self.search_seconds)
        return self.keep_proof(case, proofs.search(*about, callback, cancel))

    @once
    def closed_bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed that are known at once, in closed form, by name."""
        key = ("bounds", self.certificate_key(case), self.answers.norm)
        about = (self.answers.workload, self.epsilon, self.answers.norm, self.cases[case])
        return self.results.cached(key, partial(frames.users_bounds, *about))

    def bounds(self, case: str = "worst_case") -> dict[str, float]:
        """Lower bounds on users needed in a case, by name."""
        closed, proof = self.closed_bounds(case), self.proof(case)
        if proof is None:
            return closed
        return {**closed, "certificate": frames.users_certified(proof.certificate, self.answers.norm)}


def profile_key(mechanism: Mechanism, workload: workloads.Workload) -> tuple[str, str, str]:
    """Identifies the exact variances of a mechanism for a workload."""
    return "profile", mechanism.digest, workload.digest
