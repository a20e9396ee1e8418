"""The heavy work pages start: what runs in the background, and where its result goes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import frames, mechanisms, simulate, sweep
from pages.ui.jobs import Job, jobs
from pages.ui.state import Session

PICTURE_EVERY = 0.4  # seconds between pictures of an optimiser at work


@dataclass(frozen=True)
class FitProgress:
    """A fit under way: ``history`` of (seconds, best objective) and the best strategy so far (m, n), where it has them."""

    round: int
    max_rounds: int
    seconds: float
    history: tuple[tuple[float, float], ...] = ()
    strategy: np.ndarray | None = None


def fit_options(state: Session, name: str) -> dict[str, Any]:
    """The optimiser settings of the design that this mechanism knows."""
    known = inspect.signature(mechanisms.spec(name).build).parameters
    settings = {k: v for k, v in state.configuration.optimizer.model_dump().items() if k in known}
    return {**settings, **state.parameters_for(name)}


def start_fit(state: Session, name: str) -> None:
    """Fit a mechanism to the current design. Cancelling keeps the best so far."""
    design, spec, key = state.design(), mechanisms.spec(name), state.fitted_key(name)
    options = fit_options(state, name)

    def work(job: Job) -> None:
        history: list[tuple[float, float]] = []
        shown = -PICTURE_EVERY

        def follow(progress) -> None:
            nonlocal shown
            # Only optimisers of strategies speak of users needed; others report an error of their own kind.
            drawn = hasattr(progress, "objective")
            if drawn:
                history.append((progress.seconds, progress.objective))
            if progress.seconds - shown >= PICTURE_EVERY:  # copying the strategy every round would slow the rounds
                shown = progress.seconds
                job.progress = FitProgress(
                    progress.round,
                    progress.max_rounds,
                    progress.seconds,
                    tuple(history),
                    progress.strategy if drawn else None,
                )

        mechanism = spec.build(design.workload, design.epsilon, callback=follow, cancel=job.cancelled, **options)
        state.keep_fitted(key, mechanism, tuple(history))

    jobs().submit(state.id, key, f"fitting {spec.title} to {design.workload.title}", work)


def start_fits(state: Session, names: Sequence[str]) -> None:
    """Fit several mechanisms, one after the other as places become free."""
    for name in names:
        start_fit(state, name)


def sweep_key(state: Session) -> str:
    """Identifies a sweep over epsilon by its inputs."""
    c = state.configuration
    parameters = {name: state.parameters_for(name) for name in c.compared}
    inputs = [
        c.workload.model_dump(),
        c.domain.size,
        sorted(c.compared),
        c.target_alpha,
        parameters,
        c.optimizer.model_dump(),
    ]
    return "sweep:" + json.dumps(inputs, sort_keys=True)


def sweep_options(state: Session, name: str) -> dict[str, Any]:
    """What a mechanism of the design is built with at every point of a sweep."""
    return fit_options(state, name) if mechanisms.spec(name).fitted else state.parameters_for(name)


def start_sweep(state: Session) -> None:
    """Users needed over a range of epsilon for the compared mechanisms."""
    design, c, key = state.design(), state.configuration, sweep_key(state)
    parameters = {name: sweep_options(state, name) for name in c.compared}

    def work(job: Job) -> None:
        def follow(frame: pd.DataFrame, done: int, total: int) -> None:
            job.progress = (frame, done, total)

        frame = sweep.over_epsilon(
            c.compared,
            design.workload,
            alpha=c.target_alpha,
            parameters=parameters,
            callback=follow,
            cancelled=job.cancelled,
        )
        state.results.put(key, frame)

    jobs().submit(state.id, key, "sweep over epsilon", work)


def simulation_key(state: Session, names: Sequence[str]) -> str:
    """Identifies a simulation of mechanisms that can run by its inputs, their actual probabilities included."""
    c, design = state.configuration, state.design()
    digests = [state.mechanism(name).digest for name in names]
    users = hash(design.counts.tobytes())
    return "simulation:" + json.dumps([digests, design.workload.spec, users, c.simulation.model_dump()], sort_keys=True)


def start_simulation(state: Session, names: Sequence[str]) -> None:
    """Trials of the given mechanisms on the people of this design."""
    design, c, key = state.design(), state.configuration.simulation, simulation_key(state, names)
    chosen = {name: state.mechanism(name) for name in names}

    def work(job: Job) -> None:
        runs = {}
        for name, mechanism in chosen.items():
            if job.cancelled() and runs:
                break
            earlier = len(runs)

            def follow(trial: int, total: int, name: str = name, earlier: int = earlier) -> None:
                job.progress = (name, trial, total, (earlier * total + trial) / (len(chosen) * total))

            runs[name] = simulate.collect(
                mechanism, design.workload, design.counts, c.trials, c.seed, c.estimators, follow, job.cancelled
            )
        answers = frames.simulated_answers(runs, design.workload, design.labels)
        errors = frames.simulated_errors(runs, chosen, design.workload)
        state.results.put(key, (answers, errors))

    jobs().submit(state.id, key, f"simulating {len(chosen)} mechanisms", work)
