"""The heavy work pages start: what runs in the background, and where its result goes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ldp_core import bounds, library, mechanisms, workloads
from ldp_core.run import Progress
from ldp_core.studies import outcomes, planning, sweep
from ldp_core.workloads.axes import axes_of
from pages.ui.session.figures import Proof
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.tasks.jobs import Job, jobs

PICTURE_EVERY = 0.4  # seconds between pictures of an optimiser at work
SEARCH_SECONDS = {64: 10.0, 128: 30.0, 256: 60.0, 512: 120.0}
"""How long to search for the best mechanism, and to prove a bound, for at most this many types."""
LONGEST_SEARCH = 300.0
PROVED_UNASKED = 128
"""Types up to which a certificate takes about a second and is computed without asking."""
GOOD_ENOUGH = 1e-3
"""The search ends when it is proved to be this close to the best possible."""


@dataclass(frozen=True)
class FitProgress:
    """A fit under way: ``history`` of (seconds, best objective) and the best strategy so far (m, n), where it has them."""

    round: int
    seconds: float
    history: tuple[tuple[float, float], ...]
    strategy: np.ndarray | None


def start_questions(state: Session) -> None:
    """Work out the structure of the questions of the design, which takes long; earlier ones are given up."""
    c, key, size = state.configuration, state.questions_key(), state.design().price.bytes
    for job in jobs().active(state.id):
        if job.key.startswith("questions:") and job.key != key:
            job.cancel()

    def work(job: Job) -> None:
        found = workloads.work_out(c.workload.parts, c.domain, job.cancelled)
        if found is not None:
            state.results.put(key, found, size)

    jobs().submit(state.id, key, "working out the questions", work)


def search_seconds(state: Session) -> float:
    """How long a fit may take in this design: as set, or by its size."""
    limits = (seconds for size, seconds in SEARCH_SECONDS.items() if state.configuration.domain.size <= size)
    return state.configuration.optimizer.time_limit or next(limits, LONGEST_SEARCH)


def fit_options(state: Session, name: str) -> dict[str, Any]:
    """The optimiser settings of the design that this mechanism knows, and whose error it is to make small."""
    spec, chosen = library.spec(name), state.configuration.optimizer.model_dump()
    settings = {k: v for k, v in chosen.items() if k in spec.parameters and v is not None}
    if spec.aimed:
        case = state.cases()[state.aim(name)]
        settings["time_limit"] = search_seconds(state)
        if case.prior is None:
            settings["target"] = "worst_case"
        elif not case.uniform:
            settings["prior"] = case.prior
    return {**settings, **state.parameters_for(name)}


def start_fit(state: Session, name: str) -> None:
    """Fit a mechanism to the current design, and prove what no mechanism can beat beside it. Cancelling keeps the best."""
    design, spec, key = state.design(), library.spec(name), state.fitted_key(name)
    options = fit_options(state, name)
    aim, trace = state.aim(name), design.workload.trace
    if spec.aimed:
        start_certificate(state, aim)
        prove_unasked(state)
    proof_key, proof = state.certificate_key(aim), jobs().find(state.id, state.certificate_key(aim))

    def work(job: Job) -> None:
        history: list[tuple[float, float]] = []
        shown = -PICTURE_EVERY

        def follow(progress: Progress) -> None:
            nonlocal shown
            if (
                progress.objective is not None
            ):  # others report an error of their own kind, which is not one of users needed
                history.append((progress.seconds, progress.objective))
            if progress.seconds - shown >= PICTURE_EVERY:  # copying the strategy every round would slow the rounds
                shown = progress.seconds
                job.progress = FitProgress(progress.round, progress.seconds, tuple(history), progress.strategy)

        def enough() -> bool:
            bound = proved(state.results.get(proof_key), proof, trace)[-1][1]
            close = history and spec.aimed and history[-1][1] - trace <= (1 + GOOD_ENOUGH) * (bound - trace)
            return job.cancelled() or bool(close)

        mechanism = spec.build(design.workload, design.epsilon, callback=follow, cancel=enough, **options)
        state.keep_fitted(key, mechanism, tuple(history))

    jobs().submit(state.id, key, f"fitting {spec.title} to {design.questions}", work)


def proved(proof: Proof | None, job: Job | None, nothing: float) -> list[tuple[float, float]]:
    """(seconds, bound on the scale of L) as proved so far; ``nothing`` is the bound that says nothing."""
    if proof is not None:
        least = bounds.equivalent_objective(proof.certificate.variance, proof.certificate.workload)
        return [*proof.history, (0.0 if not proof.history else proof.history[-1][0], least)]
    return [(0.0, nothing), *(job.progress or () if job is not None else ())]


def prove_unasked(state: Session, cases: Sequence[str] | None = None) -> None:
    """Certificates for every case (or those given), where they are a matter of seconds and are not being computed already.
    Those that nobody asked for and whose questions have changed since are given up."""
    small = state.configuration.domain.size <= PROVED_UNASKED
    alike = state.design().workload.symmetry == "hamming"
    wanted = [case for case in cases or state.cases() if small or (alike and state.even(case))]
    keys = {state.certificate_key(case) for case in state.cases()}
    for job in jobs().active(state.id):
        if job.key in state.unasked - keys:  # the questions have changed since
            job.cancel()
    for case in wanted:
        key = state.certificate_key(case)
        if state.certificate(case) is None and jobs().find(state.id, key) is None:
            state.unasked.add(key)
            start_certificate(state, case)


def start_certificate(state: Session, case: str) -> None:
    """Prove what no mechanism can beat in this case, unless that has been done."""
    design, key, chosen = state.design(), state.certificate_key(case), state.cases()[case]
    known = state.certificate(case)
    if known is not None and known.finished:
        return
    seconds = search_seconds(state)

    def work(job: Job) -> None:
        history: list[tuple[float, float]] = []

        def follow(progress: Progress) -> None:
            value = progress.bound
            if chosen.prior is not None:  # the worst case is reported on the scale of L already
                variance = bounds.average_variance(value, design.workload, chosen.prior)
                value = bounds.equivalent_objective(variance, design.workload)
            history.append((progress.seconds, value))
            job.progress = tuple(history)

        options = {"time_limit": seconds, "callback": follow, "cancel": job.cancelled}
        if chosen.prior is None:
            found = bounds.worst_case(design.workload, design.epsilon, **options)
        else:
            prior = None if chosen.uniform else chosen.prior
            found = bounds.certificate(design.workload, design.epsilon, prior=prior, **options)
        state.keep_proof(key, Proof(found, tuple(history), job.seconds < seconds and not job.cancelled()))

    jobs().submit(state.id, key, f"proving what no mechanism for {design.questions} can beat", work)


def start_fits(state: Session, names: Sequence[str]) -> None:
    """Fit several mechanisms, one after the other as places become free."""
    for name in names:
        start_fit(state, name)


def sweep_options(state: Session, name: str) -> dict[str, Any]:
    """What a mechanism of the design is built with at every point of a sweep or plan. Fits there are cut off by rounds."""
    spec, settings = library.spec(name), state.configuration.optimizer
    if not spec.fitted:
        return state.parameters_for(name)
    options: dict[str, Any] = {"seed": settings.seed} if "seed" in spec.parameters else {}
    if settings.max_rounds:
        options["max_rounds"] = settings.max_rounds
    if spec.aimed and state.aim(name) == "worst_case":
        options["target"] = "worst_case"
    return options


def grid_key(state: Session, over: str) -> str:
    """Identifies a sweep over "epsilon" or "size" by its inputs."""
    c = state.configuration
    parameters = {name: sweep_options(state, name) for name in c.compared}
    place = None if over == "epsilon" else c.epsilon_value
    inputs = [over, state.design().workload.digest, place, sorted(c.compared), c.target_alpha, parameters]
    return "sweep:" + json.dumps(inputs, sort_keys=True)


def start_sweep(state: Session, over: str) -> None:
    """Users needed over a range of epsilon, or of the number of types, for the compared mechanisms and all bounds."""
    design, c, key = state.design(), state.configuration, grid_key(state, over)
    parameters = {name: sweep_options(state, name) for name in c.compared}
    scheduler = state.view.get("scheduler") or None

    def work(job: Job) -> None:
        how = {
            "alpha": c.target_alpha,
            "parameters": parameters,
            "callback": job.follow,
            "cancel": job.cancelled,
            "results": state.results,
            "jobs": -1,
            "scheduler": scheduler,
        }
        if over == "epsilon":
            found = sweep.epsilons(c.compared, design.workload, **how)
        else:
            found = sweep.sizes(c.compared, design.workload, design.epsilon, **how)
        state.results.put(key, found)

    jobs().submit(state.id, key, f"sweep over {'epsilon' if over == 'epsilon' else 'the number of types'}", work)


@dataclass(frozen=True)
class Question:
    """Two of epsilon, users and alpha are given, the third is asked for, for these mechanisms in this case."""

    epsilon: float | None
    users: float | None
    alpha: float | None
    case: str
    names: tuple[str, ...]


def plan_key(state: Session, question: Question) -> str:
    """Identifies a plan by its inputs."""
    fitted = [mechanism.digest for mechanism in _fitted(state, question.names).values()]
    options = {name: sweep_options(state, name) for name in question.names}
    return "plan:" + json.dumps([asdict(question), state.design().workload.digest, options, fitted], default=str)


def start_plan(state: Session, question: Question) -> None:
    """Solve for what is asked, mechanism by mechanism."""
    workload, key = state.design().workload, plan_key(state, question)
    fitted = _fitted(state, question.names)
    parameters = {name: sweep_options(state, name) for name in question.names}

    def work(job: Job) -> None:
        found = planning.plan(
            workload,
            question.names,
            epsilon=question.epsilon,
            users=question.users,
            alpha=question.alpha,
            case=question.case,
            parameters=parameters,
            fitted=fitted,
            results=state.results,
            callback=job.follow,
            cancel=job.cancelled,
        )
        state.results.put(key, found)

    jobs().submit(state.id, key, "working out the plan", work)


def _fitted(state: Session, names: Sequence[str]) -> dict[str, mechanisms.Mechanism]:
    """Those of the named mechanisms that have been fitted to the current design."""
    found = {name: state.fitted(name) for name in names if library.spec(name).fitted}
    return {name: fit[0] for name, fit in found.items() if fit is not None}


def recommendation_key(state: Session, users: float) -> str:
    """Identifies a recommendation by its inputs."""
    design, names = state.design(), library.names()
    digests = [mechanism.digest for mechanism in _fitted(state, names).values()]
    inputs = [design.workload.digest, design.epsilon, users, state.configuration.target_alpha, digests]
    return "recommendation:" + json.dumps([inputs, {name: state.parameters_for(name) for name in names}], default=str)


def start_recommendation(state: Session, users: float) -> None:
    """The mechanism to take for the current design, among all that need no fit or have been fitted."""
    design, alpha, key = state.design(), state.configuration.target_alpha, recommendation_key(state, users)
    names = library.names()
    fitted, parameters = _fitted(state, names), {name: state.parameters_for(name) for name in names}

    def work(job: Job) -> None:
        found = planning.recommend(
            design.workload,
            design.epsilon,
            users,
            alpha,
            fitted=fitted,
            parameters=parameters,
            results=state.results,
            cancel=job.cancelled,
        )
        state.results.put(key, found)

    jobs().submit(state.id, key, "comparing all mechanisms", work)


def choose(state: Session, name: str) -> None:
    """Make a mechanism the one of the design."""
    state.change(mechanism=choose_mechanism(name, **state.parameters_for(name)))


def simulation_key(state: Session, names: Sequence[str]) -> str:
    """Identifies a simulation of mechanisms that can run by its inputs, their actual probabilities included."""
    settings = state.configuration.simulation.model_dump()
    return "simulation:" + json.dumps([_simulated(state, names), settings], sort_keys=True)


def timing_key(state: Session, names: Sequence[str]) -> str:
    """Identifies how long one trial takes."""
    return "timing:" + json.dumps([_simulated(state, names), state.configuration.simulation.estimators], sort_keys=True)


def _simulated(state: Session, names: Sequence[str]) -> list[Any]:
    design = state.design()
    digests = [state.mechanism(name).digest for name in names]
    return [digests, design.naming, hash(design.counts.tobytes())]


def start_timing(state: Session, names: Sequence[str]) -> Job:
    """Measure how long one trial takes, once."""
    design, chosen = state.design(), {name: state.mechanism(name) for name in names}
    key, asked = timing_key(state, names), state.configuration.simulation.estimators

    def work(job: Job) -> None:
        state.results.put(key, outcomes.seconds_a_trial(chosen, design.workload, design.counts, asked))

    return jobs().find(state.id, key) or jobs().submit(state.id, key, "timing one trial", work)


def start_simulation(state: Session, names: Sequence[str]) -> None:
    """Trials of the given mechanisms on the people of this design."""
    design, c, key = state.design(), state.configuration.simulation, simulation_key(state, names)
    chosen = {name: state.mechanism(name) for name in names}
    scale = outcomes.scale_of(design.workload, axes_of(design.domain))
    groups = state.configuration.workload.parts
    titles = [group.summary for group in groups] if len(groups) > 1 else None

    def work(job: Job) -> None:
        found = outcomes.compare(
            chosen,
            design.workload,
            design.counts,
            design.labels,
            c.trials,
            c.seed,
            c.estimators,
            scale,
            callback=job.follow,
            cancel=job.cancelled,
            parts=titles,
        )
        state.results.put(key, found, found.nbytes)

    jobs().submit(state.id, key, f"simulating {len(chosen)} mechanisms", work)
