"""The long work that pages ask for: each kind as a `Task`, and what is started along with it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, estimators, library, mechanisms, optimize, studies, workloads
from ldp_core.designs import choices
from ldp_core.designs.choices import PRICED_TYPES
from ldp_core.run import Budget, Interrupted, Progress
from ldp_core.workloads.axes import axes_of
from pages.ui.session.built import Curve, Fit, weight
from pages.ui.session.figures import Proof
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, jobs
from pages.ui.tasks.later import Later
from pages.ui.tasks.task import DESIGN, Task
from pages.ui.words import case_title

DRAWN_TYPES = 512
"""Up to this many types a strategy at work is drawn along with what it needs: copying and ordering larger ones takes seconds."""
PICTURE_EVERY = 0.4  # seconds between pictures of an optimiser at work
PLAN_SECONDS, SWEEP_SECONDS = 120.0, 600.0
"""Time for all the fits of a plan over epsilon, and of a sweep."""
PRICE_SECONDS = 3.0  # exact errors at `PRICED_TYPES`


def questions(state: Session) -> Task[workloads.Workload]:
    """The structure of the questions of the design, where working it out takes long."""
    recipe, design = state.configuration.workload, state.present
    parts = () if recipe is None else recipe.parts

    def work(job: Job) -> workloads.Workload | None:
        return workloads.work_out(parts, design.domain, job.cancelled)

    about = (DESIGN[1:], "Workload", None, design.price.seconds)
    return Task(state, state.questions_key(), "working out the questions", work, lambda _: design.price.bytes, *about)


def start_questions(state: Session) -> None:
    """Work out the questions of the design; earlier ones are given up."""
    task = questions(state)
    jobs().cancel(state.id, lambda key: key.startswith("questions:") and key != task.key)
    task.start()


@dataclass(frozen=True)
class FitProgress:
    """A fit under way: ``history`` of (seconds, best objective) and the best strategy so far (m, n), where it has them and that
    is quickly drawn. ``ended``: the search is over, and what its result costs is being worked out."""

    round: int
    seconds: float
    history: Curve
    strategy: np.ndarray | None
    ended: bool = False


def search_seconds(state: Session) -> float:
    """How long a fit may take in this design: as set, or by its size."""
    return choices.search_seconds(state.configuration, state.present.working_types)


def fit_options(state: Session, name: str) -> dict[str, Any]:
    """The optimiser settings of the design that this mechanism knows, and whose error it is to make small."""
    return choices.fit_options(state.configuration, state.cases(), name, state.present.working_types)


def fit(state: Session, name: str) -> Task[Fit]:
    """A mechanism fitted to the current design. It ends early once it is proved to be good enough; cancelling keeps the best."""
    name, design = state.named(name), state.complete
    spec, options = library.spec(name), fit_options(state, name)
    proof, chosen = certificate(state, state.aim(name)), state.cases()[state.aim(name)]

    def work(job: Job) -> Fit:
        history: list[tuple[float, float]] = []
        trace, shown, close = design.workload.trace, -PICTURE_EVERY, False

        def follow(progress: Progress) -> None:
            nonlocal shown, close
            if progress.objective is not None:  # some report an error of another kind, not one of users needed
                history.append((progress.seconds, progress.objective))
                bound = proved(proof, trace)[-1][1]
                close = spec.aimed and choices.close(progress.objective, bound, trace)
            if progress.seconds - shown >= PICTURE_EVERY:  # copying the strategy every round would slow the rounds
                shown = progress.seconds
                drawn = progress.strategy if design.working_types <= DRAWN_TYPES else None
                job.progress = FitProgress(progress.round, progress.seconds, tuple(history), drawn)

        def enough() -> bool:  # asked thousands of times a second
            return job.cancelled() or close

        how = {**options, "callback": follow, "cancel": enough}
        began = time.perf_counter()
        mechanism = library.create(name, epsilon=design.epsilon, workload=design.workload, **how)
        searched = time.perf_counter() - began
        if job.progress is not None:
            job.progress = replace(job.progress, strategy=None, ended=True)
        state.loaded.discard(mechanism.digest)
        mechanism.audit()
        with suppress(ValueError, Interrupted):  # the page says so, or works it out
            variance = chosen.variance(_profiled(state, mechanism, design.workload, job))
            if history:  # the last updates are made after the last round: the curve ends where the result stands
                ends = bounds.equivalent_objective(variance, design.workload)
                history.append((max(searched, history[-1][0]), ends))
        return Fit(mechanism, tuple(history))

    title = f"fitting {spec.title} to {design.questions}"
    about = (_features(state, state.aim(name)) if spec.aimed else DESIGN, "Design", options.get("time_limit"))
    return Task(state, state.fitted_key(name), title, work, lambda found: weight(found.mechanism), *about, dear=True)


def _features(state: Session, case: str) -> tuple[str, ...]:
    """What a search depends on that is judged in this case: see `features`."""
    chosen = state.cases()[case]
    return DESIGN if chosen.prior is None or chosen.uniform else (*DESIGN, "people")


def start_fit(state: Session, *names: str) -> None:
    """Fit mechanisms to the current design, one after the other as places become free, and prove beside them what no mechanism
    can beat."""
    for name in names:
        if library.spec(name).aimed:
            start_certificate(state, state.aim(name))
            prove_unasked(state)
        fit(state, name).start()


def certificate(state: Session, case: str) -> Task[Proof]:
    """What no mechanism can beat in this case, with its proof; the better of two is kept."""
    design, key, chosen = state.complete, state.certificate_key(case), state.cases()[case]
    seconds, workload = search_seconds(state), design.workload

    def work(job: Job) -> Proof:
        history: list[tuple[float, float]] = []

        def follow(progress: Progress) -> None:
            history.append((progress.seconds, progress.bound or 0.0))
            job.progress = tuple(history)

        found = choices.prove(workload, design.epsilon, chosen, seconds, follow, job.cancelled)
        proof = Proof(found, tuple(history), job.seconds < seconds and not job.cancelled())
        before: Proof | None = state.results.get(key)
        return proof if before is None or found.variance >= before.certificate.variance else before

    title, of = f"proving what no mechanism can beat, {case_title(case)}", _features(state, case)
    return Task(state, key, title, work, lambda proof: proof.size, of, "Bounds", seconds, dear=True)


def proved(task: Task[Proof], nothing: float) -> Curve:
    """What has been proved so far; ``nothing`` is the bound that says nothing."""
    proof, job = task.result, task.job
    if proof is None:
        return ((0.0, nothing), *(job.progress or () if job is not None else ()))
    least = bounds.equivalent_objective(proof.certificate.variance, proof.certificate.workload)
    return (*proof.history, (proof.history[-1][0] if proof.history else 0.0, least))


def prove_unasked(state: Session, cases: Sequence[str] | None = None) -> None:
    """Certificates for every case (or those given), where they are a matter of seconds and are not being computed already.
    Those that nobody asked for and whose questions have changed since are given up, until somebody comes back to these."""
    design = state.complete
    keys = {state.certificate_key(case) for case in state.cases()}
    jobs().cancel(state.id, lambda key: key in state.unasked - keys)
    for case in cases or state.cases():
        if not choices.proved_unasked(design.workload, state.cases()[case]):
            continue
        task = certificate(state, case)
        if task.given_up or (task.job is None and state.certificate(case) is None):
            state.unasked.add(task.key)
            task.start()


def start_certificate(state: Session, case: str) -> None:
    """Prove what no mechanism can beat in this case, unless that has been done."""
    known, task = state.certificate(case), certificate(state, case)
    state.unasked.discard(task.key)
    if known is None or not known.finished:
        task.start()


def optimum(state: Session, case: str) -> Task[optimize.ExactOptimum] | None:
    """The best of all mechanisms for a case, None where that cannot be had: see `Figures.optimum_prior`."""
    design, prior = state.complete, state.optimum_prior(case)
    if prior is None:
        return None

    def work(job: Job) -> optimize.ExactOptimum:
        return optimize.exact(design.workload, design.epsilon, prior)

    title = f"finding the exact optimum for {design.questions}"
    of = _features(state, case)
    return Task(state, state.optimum_key(prior), title, work, lambda found: found.strategy.nbytes, of, "Bounds")


def find_optima(state: Session) -> None:
    """The exact optima of all cases that have one: a third of a second each, besides the solver's start."""
    for case in state.cases():
        task = optimum(state, case)
        if task is not None and task.result is None and task.job is None:
            task.start()


def sweep_options(state: Session, name: str) -> dict[str, Any]:
    """What a mechanism of the design is built with at every point of a sweep or plan, besides what its name says. Fits there are cut
    off by rounds."""
    spec, settings, options = library.spec(name), state.configuration.optimizer, state.parameters_for(name)
    if not spec.fitted:
        return options
    if "seed" in spec.parameters:
        options["seed"] = settings.seed
    if settings.max_rounds:
        options["max_rounds"] = settings.max_rounds
    if spec.aimed and state.aim(name) == "worst_case":
        options["target"] = "worst_case"
    return options


def price(state: Session, mechanism: mechanisms.Mechanism) -> Task[np.ndarray]:
    """The exact errors of a mechanism, type by type, where they take seconds; those of earlier designs are given up."""
    workload = state.complete.workload
    here = f"price:{workload.digest}:{state.complete.epsilon}:"
    jobs().cancel(state.id, lambda key: key.startswith("price:") and not key.startswith(here))
    seconds = PRICE_SECONDS * (workload.n / PRICED_TYPES) ** 3
    title = f"working out what {library.spec(mechanism.name).title} costs"
    work = partial(_price, state, mechanism, workload)
    return Task(state, here + mechanism.digest, title, work, lambda found: found.nbytes, DESIGN, expected=seconds)


def _price(
    state: Session, mechanism: mechanisms.Mechanism, workload: workloads.Workload, job: Job
) -> np.ndarray | None:
    with suppress(Interrupted):
        return _profiled(state, mechanism, workload, job)
    return None


def _profiled(state: Session, mechanism: mechanisms.Mechanism, workload: workloads.Workload, job: Job) -> np.ndarray:
    return state.profiled(mechanism, workload, Budget(cancel=job.cancelled).check)


def priced(state: Session, mechanism: mechanisms.Mechanism, later: Later) -> bool:
    """Whether the exact errors of a mechanism can be shown now; else they are being worked out, and the page follows them."""
    return not state.price_takes_seconds(mechanism) or later.wait(price(state, mechanism)) is not None


def sweep(state: Session, over: str) -> Task[studies.sweep.Sweep]:
    """Users needed over "epsilon", or over the "size" of the domain, for the compared mechanisms and all bounds."""
    design, c, names = state.complete, state.configuration, state.side_by_side
    parameters = {name: sweep_options(state, name) for name in names}
    place = None if over == "epsilon" else c.epsilon_value
    inputs = [over, design.workload.digest, place, sorted(names), state.alpha, parameters]
    how: dict[str, Any] = {"alpha": state.alpha, "parameters": parameters, "results": state.results, "jobs": -1}
    how |= {"scheduler": state.view.get("scheduler") or None, "time_limit": SWEEP_SECONDS}

    def work(job: Job) -> studies.sweep.Sweep:
        if over == "epsilon":
            return studies.sweep.epsilons(names, design.workload, **how, **job.followed)
        return studies.sweep.sizes(names, design.workload, design.epsilon, **how, **job.followed)

    title = f"sweep over {'epsilon' if over == 'epsilon' else 'the number of types'}"
    of = ("questions", "data") if over == "epsilon" else DESIGN
    key = "sweep:" + json.dumps(inputs, sort_keys=True)
    return Task(state, key, title, work, of=of, page="Compare", limit=SWEEP_SECONDS)


def left_out_of_sizes(state: Session) -> pd.DataFrame:
    """What a sweep over the size of the domain will leave out, as far as that is known before. ValueError with a sentence where
    the questions exist for their own types only."""
    design, names = state.complete, state.side_by_side
    parameters = {name: sweep_options(state, name) for name in names}
    about = (names, design.workload, design.epsilon)
    key = ("without figures", names, design.workload.digest, design.epsilon, parameters)
    return state.cached(key, lambda: studies.sweep.without_figures(*about, parameters=parameters))


@dataclass(frozen=True)
class Question:
    """Two of epsilon, users and alpha are given, the third is asked for, for these mechanisms in this case."""

    epsilon: float | None
    users: float | None
    alpha: float | None
    case: str
    names: tuple[str, ...]


def plan(state: Session, question: Question) -> Task[pd.DataFrame]:
    """What is asked, mechanism by mechanism."""
    workload, asked, fitted = state.complete.workload, asdict(question), _fitted(state, question.names)
    parameters = {name: sweep_options(state, name) for name in question.names}
    # At the epsilon of the design the bound is the one that every page shows.
    bound, floor = (question.epsilon and state.floor(question.case)) or (None, None)
    inputs = [asked, workload.digest, parameters, [mechanism.digest for mechanism in fitted.values()], bound, floor]
    how: dict[str, Any] = {"parameters": parameters, "fitted": fitted, "results": state.results}
    how |= {"bound": bound, "floor": floor, "time_limit": PLAN_SECONDS}

    def work(job: Job) -> pd.DataFrame:
        return studies.planning.plan(workload, **asked, **how, **job.followed)

    key = "plan:" + json.dumps(inputs, default=str)
    return Task(state, key, "working out the plan", work, of=DESIGN[1:], page="Plan", limit=PLAN_SECONDS)


def _fitted(state: Session, names: Sequence[str]) -> dict[str, mechanisms.Mechanism]:
    """Those of the named mechanisms that have been fitted to the current design."""
    found = {name: state.fitted(name) for name in names if library.spec(name).fitted}
    return {name: fit.mechanism for name, fit in found.items() if fit is not None}


def recommendation(state: Session, users: float) -> Task[studies.planning.Recommendation]:
    """The mechanism to take for the current design, among all that need no fit or have been fitted, and the variants compared."""
    design, alpha = state.complete, state.alpha
    names = list(dict.fromkeys([*map(state.named, state.offered), *state.side_by_side]))
    fitted, parameters = _fitted(state, names), {name: state.parameters_for(name) for name in names}
    about = (design.workload, design.epsilon, users, alpha)
    _, floor = state.floor(analysis.WORST_CASE.name) or ("", None)
    digests = [mechanism.digest for mechanism in fitted.values()]
    inputs = [design.workload.digest, *about[1:], design.people_digest, digests, floor]
    how: dict[str, Any] = {"candidates": names, "parameters": parameters, "fitted": fitted, "results": state.results}
    how |= {"counts": design.counts, "floor": floor}

    def work(job: Job) -> studies.planning.Recommendation:
        return studies.planning.recommend(*about, **how, cancel=job.cancelled)

    key = "recommendation:" + json.dumps([inputs, parameters], default=str)
    return Task(state, key, "comparing all mechanisms", work, of=(*DESIGN, "people"), page="Plan")


def estimates(state: Session) -> tuple[str, ...]:
    """The estimates to simulate: those chosen, without any that need public facts while those stated cannot be used."""
    try:
        state.facts()
    except ValueError:
        return choices.estimates(state.configuration, False)
    return choices.estimates(state.configuration, True)


@dataclass(frozen=True)
class _Simulated:
    """Mechanisms that can run, estimates, and the facts that these agree with."""

    chosen: dict[str, mechanisms.Mechanism]
    estimates: tuple[str, ...]
    facts: tuple[workloads.Fact, ...]
    inputs: list[Any]
    """What trials depend on besides: actual probabilities, the people, and facts where there are any."""

    @classmethod
    def of(cls, state: Session, names: Sequence[str]) -> _Simulated:
        design, asked = state.complete, estimates(state)
        chosen = {name: mechanism for name in names if (mechanism := state.mechanism(name)) is not None}
        facts = state.facts() if any(estimators.spec(name).needs_facts for name in asked) else ()
        digests = [[name, mechanism.digest] for name, mechanism in chosen.items()]
        inputs = [digests, design.naming, design.people_digest]
        return cls(chosen, asked, facts, [*inputs, [fact.text for fact in facts]] if facts else inputs)


def timing(state: Session, names: Sequence[str]) -> Task[float]:
    """How many seconds one trial takes."""
    design, about = state.complete, _Simulated.of(state, names)

    def work(job: Job) -> float:
        people = (design.workload, design.counts)
        return studies.outcomes.seconds_a_trial(about.chosen, *people, about.estimates, about.facts)

    key = "timing:" + json.dumps([about.inputs, about.estimates], sort_keys=True)
    return Task(state, key, "timing one trial", work)


def simulation(state: Session, names: Sequence[str]) -> Task[studies.outcomes.Outcomes]:
    """Trials of the given mechanisms on the people of this design."""
    design, recipe, about = state.complete, state.configuration.workload, _Simulated.of(state, names)
    settings = state.configuration.simulation.model_dump(exclude={"facts"}) | {"estimators": about.estimates}
    titles = [part.summary for part in recipe.parts] if recipe is not None and len(recipe.parts) > 1 else None

    def work(job: Job) -> studies.outcomes.Outcomes:
        w, scales = design.workload, studies.outcomes.scales_of(design.workload, axes_of(design.domain))
        how = {**settings, "facts": about.facts, "scales": scales, "parts": titles, **job.followed}
        return studies.outcomes.compare(about.chosen, w, design.counts, design.labels, **how)

    key = "simulation:" + json.dumps([about.inputs, settings], sort_keys=True)
    many = len(about.chosen)
    title, of = f"simulating {many} mechanism{'' if many == 1 else 's'}", (*DESIGN, "people")
    return Task(state, key, title, work, lambda found: found.nbytes, of, "Simulate")


def start_simulation(state: Session, names: Sequence[str]) -> None:
    """Run the trials; nobody needs to know any more how long one would take."""
    measuring = timing(state, names).running
    if measuring is not None:
        measuring.cancel()
    simulation(state, names).start()
