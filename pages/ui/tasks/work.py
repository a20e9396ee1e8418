"""The long work that pages ask for: each kind as a `Task`, and what is started along with it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import bounds, library, mechanisms, studies, wording, workloads
from ldp_core.deploy.kit import package
from ldp_core.designs import choices, solving
from ldp_core.designs.fits import Fit
from ldp_core.designs.proofs import Curve, Proof
from ldp_core.designs.results import digest
from ldp_core.designs.setting import Setting
from ldp_core.limits import AT_ONCE_TYPES, MOST_PLAN_SECONDS, MOST_SWEEP_SECONDS
from ldp_core.run import Budget, Cancel, Interrupted, Progress
from pages.ui.later import DESIGN, Task, Work, ask
from pages.ui.session import exchange
from pages.ui.session.state import Session
from pages.ui.words import case_title

PICTURE_EVERY = 0.4  # seconds between pictures of an optimiser at work
UNASKED_SECONDS = 5.0
"""An automatic fit ends after this many seconds, with the best result so far."""
QUICK_KIT_BYTES = 24 * 2**16


def questions(state: Session) -> Task[workloads.Workload]:
    """The structure of the questions of the design, where working it out takes long."""
    design = state.setting
    run, size = lambda work: design.work_out(work.cancelled), lambda _: design.price.bytes
    return Task(state, design.questions_key, "working out the questions", run, size, DESIGN[1:])


@dataclass(frozen=True)
class FitProgress:
    """A fit in progress: ``history`` of (seconds, best objective) and the best strategy so far (m, n), where it has them and that
    is quickly drawn."""

    round: int
    seconds: float
    history: Curve
    strategy: np.ndarray | None


def fit(state: Session, name: str, enough: float = choices.GOOD_ENOUGH) -> Task[Fit]:
    """A mechanism fitted to the current design. It ends early once it is proved to be good ``enough``; cancelling keeps the best."""
    setting, name = state.setting, state.setting.named(name)
    spec, case = library.spec(name), setting.aim(name)
    proof, trace = certificate(state, case), setting.workload.trace

    def run(work: Work) -> Fit:
        shown = -PICTURE_EVERY

        def follow(progress: Progress) -> None:
            nonlocal shown
            if progress.seconds - shown >= PICTURE_EVERY:  # copying the strategy every round would slow the rounds
                shown = progress.seconds
                drawn = progress.strategy if setting.working_types <= AT_ONCE_TYPES else None
                work.progress = FitProgress(progress.round, progress.seconds, tuple(progress.history), drawn)

        by_rounds = state.configuration.optimizer.max_rounds is not None
        cancel = work.cancelled if by_rounds or enough <= choices.GOOD_ENOUGH else _soon(work)
        found = setting.fit(name, follow, cancel, bound=lambda: proved(proof, trace)[-1][1], enough=enough)
        work.progress = work.progress and replace(work.progress, strategy=None)  # its strategy may be large
        return found

    title = f"fitting {spec.title} to {setting.questions}"
    seconds = setting.fit_options(name).get("time_limit")
    size = lambda fit: fit.mechanism.bytes_held  # noqa: E731
    return Task(state, setting.fitted_key(name), title, run, size, DESIGN, seconds, expensive=True)


def start_fit(state: Session, name: str) -> None:
    """Fit a mechanism to the current design, and prove beside it what no mechanism can beat in the case that it is for; proofs of
    other cases wait for the first verdict."""
    if library.spec(name).aimed:
        start_certificate(state, state.setting.aim(name))
    fit(state, name).start()


def fit_unasked(state: Session, *names: str) -> None:
    """Fit those of the named mechanisms that take seconds, and are not fitted, nor stopped by somebody."""
    setting = state.setting
    for name in names:
        if setting.unfit(name) or not choices.optimized_unasked(name, setting.workload, setting.fitted_types):
            continue
        task = fit(state, name, choices.NEAR_ENOUGH)
        # What was given up halfway is fitted, but not as well as it could be.
        if task.unbegun and (setting.fitted(name) is None or task.latest is not None):
            prove_unasked(state, [setting.aim(name)])  # the search ends by what is proved
            task.start()


def known_over_epsilon(state: Session, names: Sequence[str], case: str) -> list[tuple[str, float, float]]:
    """(name, epsilon, users needed) of fitted mechanisms at the other epsilons at which they have been fitted, and of the certificates at
    all epsilons at which there is one."""
    setting, others = state.setting, state.setting.at_other_epsilons
    points = [
        (name, other.epsilon, other.users_needed(fit.mechanism, case))
        for name in names
        for other in others
        if (fit := other.fitted(name)) is not None
    ]
    proved = [other for other in (setting, *others) if other.proof(case) is not None]
    certificates = [("certificate", other.epsilon, other.bounds(case)["certificate"]) for other in proved]
    return points + sorted(certificates)


def points_over_epsilon(state: Session, name: str) -> None:
    """Fit the chosen mechanism at the other epsilons of the trade-off, where each takes seconds, once the design itself is fitted."""
    setting = state.setting
    if not choices.optimized_unasked(name, setting.workload, setting.fitted_types) or setting.fitted(name) is None:
        return
    missing = [other for other in setting.at_other_epsilons if not other.unfit(name) and other.fitted(name) is None]
    for task in [_point_over_epsilon(state, other, name) for other in missing]:
        if task.unbegun:
            task.start()


def _point_over_epsilon(state: Session, other: Setting, name: str) -> Task[bool]:
    """A quick fit of the chosen mechanism at another epsilon, and the proof of what none can beat there."""

    def run(work: Work) -> bool | None:
        case = other.aim(name)
        if other.proof(case) is None:
            other.prove(case, cancel=work.cancelled)
        other.fit(name, None, _soon(work), enough=choices.NEAR_ENOUGH)
        return None if work.cancelled() else True

    title = f"fitting at epsilon {wording.significant(other.epsilon)}, for the trade-off"
    return Task(state, f"trade-off:{other.fitted_key(name)}", title, run, of=DESIGN)


def _soon(work: Work) -> Cancel:
    """True once an automatic fit has used its time, or its work is cancelled."""
    began = time.monotonic()
    return lambda: work.cancelled() or time.monotonic() - began > UNASKED_SECONDS


def certificate(state: Session, case: str) -> Task[Proof]:
    """The proved limit of all mechanisms in this case. The better of two proofs is kept."""
    setting = state.setting

    def run(work: Work) -> Proof | None:
        def follow(progress: Progress) -> None:
            work.progress = tuple(progress.history)

        setting.prove(case, follow, work.cancelled)
        return setting.proof(case)

    key, title = setting.certificate_key(case), f"proving what no mechanism can beat, {case_title(case)}"
    return Task(state, key, title, run, lambda proof: proof.size, DESIGN, setting.search_seconds, expensive=True)


def proved(task: Task[Proof], nothing: float) -> Curve:
    """The bounds proved so far; ``nothing`` is the trivial bound."""
    proof, work = task.result, task.latest
    if proof is None:
        return ((0.0, nothing), *(work.progress or () if work is not None else ()))
    least = bounds.equivalent_objective(proof.certificate.variance, proof.certificate.workload)
    return (*proof.history, (proof.history[-1][0] if proof.history else 0.0, least))


def prove_unasked(state: Session, cases: Sequence[str] | None = None) -> None:
    """Certificates for every case (or those given), where they are a matter of seconds and are not being computed already."""
    setting = state.setting
    for case in cases or setting.cases:
        if not choices.proved_unasked(setting.workload, setting.cases[case]):
            continue
        task = certificate(state, case)
        if task.unbegun and (setting.proof(case) is None or task.latest is not None):
            task.start()


def start_certificate(state: Session, case: str) -> None:
    """Prove what no mechanism can beat in this case, unless that has been done."""
    known = state.setting.proof(case)
    if known is None or not known.finished:
        certificate(state, case).start()


def sweep_options(state: Session, name: str) -> dict[str, Any]:
    """Parameters of the design's mechanism at every point of a sweep or plan, besides those in its
    name. Fits there are cut
    off by rounds."""
    spec, settings, options = library.spec(name), state.configuration.optimizer, state.setting.parameters_for(name)
    if not spec.fitted:
        return options
    if "seed" in spec.parameters:
        options["seed"] = settings.seed
    if settings.max_rounds:
        options["max_rounds"] = settings.max_rounds
    if spec.aimed and state.setting.aim(name) == "worst_case":
        options["target"] = "worst_case"
    return options


def priced(state: Session, mechanism: mechanisms.Mechanism) -> bool:
    """True if the exact errors of a mechanism can be shown now; else they are being computed, and the page follows them."""
    setting = state.setting
    if not setting.profile_takes_seconds(mechanism):
        return True
    key = ("price", setting.workload.digest, setting.epsilon, mechanism.digest)
    title = f"working out what {library.spec(mechanism.name).title} costs"
    run = lambda cancel: setting.profiled(mechanism, setting.workload, Budget(cancel=cancel).check)  # noqa: E731
    return ask(state, key, title, run, size=8 * setting.workload.n) is not None


def sweep(state: Session, over: str) -> Task[studies.sweep.Sweep]:
    """Users needed over "epsilon", or over the "size" of the domain, for the compared mechanisms and all bounds."""
    design, c, names = state.setting, state.configuration, state.setting.side_by_side
    parameters = {name: sweep_options(state, name) for name in names}
    place = None if over == "epsilon" else c.epsilon_value
    inputs = [over, design.workload.digest, place, sorted(names), state.setting.alpha, parameters]
    how: dict[str, Any] = {"alpha": state.setting.alpha, "parameters": parameters, "results": state.results}
    how |= {"scheduler": state.view.get("scheduler") or None, "time_limit": MOST_SWEEP_SECONDS}

    def run(work: Work) -> studies.sweep.Sweep:
        if over == "epsilon":
            return studies.sweep.epsilons(names, design.workload, **how, **work.followed)
        return studies.sweep.sizes(names, design.workload, design.epsilon, **how, **work.followed)

    title = f"sweep over {'epsilon' if over == 'epsilon' else 'the number of types'}"
    of = ("questions", "data") if over == "epsilon" else DESIGN
    key = "sweep:" + digest((json.dumps(inputs, sort_keys=True),))
    return Task(state, key, title, run, of=of, limit=MOST_SWEEP_SECONDS)


def left_out_of_sizes(state: Session) -> pd.DataFrame:
    """The points that a sweep over the domain size will leave out, as far as this is known in
    advance. ValueError with a sentence where
    the questions exist for their own types only."""
    design, names = state.setting, state.setting.side_by_side
    parameters = {name: sweep_options(state, name) for name in names}
    about = (names, design.workload, design.epsilon)
    key = ("without figures", names, design.workload.digest, design.epsilon, parameters)
    return state.results.cached(key, lambda: studies.sweep.without_figures(*about, parameters=parameters))


def least_epsilon(state: Session, k: int | None) -> Task[str]:
    """The least epsilon with which the people of the design are enough for question ``k``, or for all: see `designs.solving.epsilon`."""
    setting = state.setting

    def run(work: Work) -> str | None:
        over = lambda: work.cancelled() or work.seconds > MOST_PLAN_SECONDS  # noqa: E731
        try:
            return solving.epsilon(setting, setting.chosen, k, over)
        except Interrupted:
            if work.cancelled():
                return None
            raise ValueError(
                f"No epsilon was found in {wording.duration(MOST_PLAN_SECONDS)}. Take it on from there, or type one."
            ) from None

    about = (
        setting.fitted_key(setting.chosen),
        setting.parameters_for(setting.chosen),
        setting.answers.norm,
        setting.people.digest,
    )
    return Task(
        state,
        f"least epsilon:{digest((str(about), str(k)))}",
        "searching for the least epsilon",
        run,
        of=DESIGN,
        limit=MOST_PLAN_SECONDS,
    )


def simulation(state: Session, names: Sequence[str]) -> Task[studies.outcomes.Outcomes]:
    """Trials of the given mechanisms on the people of this design."""
    design, simulation = state.setting, state.configuration.simulation
    chosen = {name: mechanism for name in names if (mechanism := design.mechanism(name)) is not None}
    digests, prior = [[name, mechanism.digest] for name, mechanism in chosen.items()], design.posterior_prior()
    inputs = [digests, design.naming, design.people.digest, None if prior is None else np.asarray(prior).tolist()]

    def run(work: Work) -> studies.outcomes.Outcomes:
        return design.simulated(chosen, **work.followed)

    key = "simulation:" + json.dumps([inputs, simulation.model_dump(exclude={"prior"})], sort_keys=True)
    title = f"simulating {wording.plural(len(chosen), 'mechanism')}"
    return Task(state, key, title, run, lambda outcome: outcome.nbytes, DESIGN)


def kit(state: Session, mechanism: mechanisms.Mechanism, figures: bool = False, mixed: bool = False) -> Task[bytes]:
    """The current design as a kit, see `ldp_core.deploy.kit.package`, with ``figures`` and ``mixed`` as there. ValueError with a sentence where nothing can be
    promised; the work itself says why a kit is not available."""
    c, design = state.configuration, state.setting
    outcome = package.outcome_of(design, figures)
    key = "kit:" + digest((c.digest(), mechanism.digest, design.people.digest, outcome, mixed))

    def run(work: Work) -> bytes:
        proof = exchange.certificate(state, at_once=False)
        return package.kit(design, proof, figures, mixed=mixed)

    return Task(state, key, "packing the kit", run, len, DESIGN)


def proof_written(state: Session) -> bool:
    """True if the proof that goes with the design is in its files, or there is none; else it is found, and written, in the background."""
    case = state.setting.case
    proving = [certificate(state, name) for name in package.to_prove(state.setting)]
    if [task for task in proving if (task.unbegun or task.running) and task.get() is None]:  # unless it was stopped
        return False
    proof = state.setting.proof(case)
    if proof is None or exchange.certificate(state) is not None:
        return True

    def write(cancel: Cancel) -> bool:
        with suppress(ValueError):  # it proves nothing
            return exchange.certificate(state, at_once=False) is not None
        return False

    key = ("proof", state.setting.certificate_key(case), proof.certificate.value)
    return ask(state, key, "writing the proof", write) is not None


def quick_kit(state: Session, mechanism: mechanisms.Mechanism) -> bool:
    """True if the kit is packed in a moment."""
    return mechanism.bytes_held <= QUICK_KIT_BYTES and mechanism.cost_dimension(state.setting.workload) <= AT_ONCE_TYPES
