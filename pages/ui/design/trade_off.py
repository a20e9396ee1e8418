"""The main picture of a design: users needed over epsilon, with the impossible region, the best classical mechanism and the
design's own, at more epsilons as they are computed."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ldp_core import charts, library, wording
from ldp_core.designs import Setting
from ldp_core.mechanisms import Mechanism
from ldp_core.studies import privacy_accuracy
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.tasks.later import Later
from pages.ui.words import case_meaning

AT_ONCE_TYPES = 64
CURVE_POINTS = 24


def draw(state: Session, mechanism: Mechanism | None) -> None:
    """The picture, and what it says. ``mechanism`` is the design's own, None while it has yet to be fitted."""
    case = state.present.aim(state.configuration.mechanism.name)
    later = Later(state, "trade-off")
    bound = _bound(state, case, later)
    classical = _best_classical(state, case)
    if bound is None and classical is None and mechanism is None:
        later.finish()
        st.info("The trade-off is being computed.")
        return
    lines = [] if bound is None else [bound]
    for name in dict.fromkeys(filter(None, (classical, state.chosen if _closed(state, mechanism) else None))):
        if (line := _line(state, name, case, later)) is not None:
            lines.append(line)
    later.finish()
    job = work.points_over_epsilon(state, state.chosen)
    if job is not None:
        layout.live(job, lambda progress, job: _picture(state, case, lines, mechanism, classical))
    else:
        _picture(state, case, lines, mechanism, classical)


def _closed(state: Session, mechanism: Mechanism | None) -> bool:
    return mechanism is not None and privacy_accuracy.quick(mechanism)


def _bound(state: Session, case: str, later: Later) -> pd.DataFrame | None:
    setting = state.setting
    workload, chosen, alpha = setting.workload, setting.cases[case], setting.alpha
    people = None if chosen.prior is None else chosen.prior.tobytes()
    at = privacy_accuracy.epsilons(setting.epsilon)
    try:
        return later.value(
            ("users bound", workload.digest, alpha, people, at.tobytes()),
            "computing the bound over epsilon",
            setting.working_types <= AT_ONCE_TYPES,
            lambda cancel: privacy_accuracy.users_bound(workload, at, chosen, alpha),
        )
    except ValueError:  # too many types: the picture does without
        return None


def _best_classical(state: Session, case: str) -> str | None:
    """The compared mechanism without a fit that needs the fewest users."""
    names = [name for name in state.setting.side_by_side if not library.spec(name).fitted]
    needed = {}
    for name in names:
        mechanism = state.setting.costed(name)
        if mechanism is not None and mechanism.delta == 0:
            needed[name] = state.setting.users_needed(mechanism, case)
    return min(needed, key=lambda name: needed[name]) if needed else None


def _line(state: Session, name: str, case: str, later: Later) -> pd.DataFrame | None:
    """Users that a mechanism without a fit needs over epsilon; a single point while that is computed, or takes long."""
    setting = state.setting
    try:
        mechanism = setting.priced(name)
    except ValueError:
        return None
    if mechanism is None:
        return None
    point = _point(setting, name, mechanism, case)
    if not privacy_accuracy.quick(mechanism):
        return point
    workload, chosen, alpha, parameters = (
        setting.workload,
        setting.cases[case],
        setting.alpha,
        setting.parameters_for(name),
    )
    people = None if chosen.prior is None else chosen.prior.tobytes()
    at = privacy_accuracy.epsilons(setting.epsilon, CURVE_POINTS)
    about = (name, sorted(parameters.items()), workload.digest, alpha, people, at.tobytes())
    try:
        curve = later.value(
            ("users over epsilon", *about),
            "computing users needed over epsilon",
            setting.working_types <= AT_ONCE_TYPES // 2,
            lambda cancel: privacy_accuracy.users_needed(
                library.spec(name).mechanism,
                workload,
                at,
                chosen,
                alpha,
                {**parameters, **library.spec(name).fixed},
                cancel,
            ),
        )
    except ValueError:
        curve = None
    if curve is None:
        return point
    return pd.concat([curve.assign(name=name)[curve["epsilon"] != setting.epsilon], point], ignore_index=True)


def _point(setting: Setting, name: str, mechanism: Mechanism, case: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"name": [name], "epsilon": [setting.epsilon], "users_needed": [setting.users_needed(mechanism, case)]}
    )


def _picture(
    state: Session,
    case: str,
    lines: list[pd.DataFrame],
    mechanism: Mechanism | None,
    classical: str | None,
) -> None:
    setting, own, frames = state.setting, state.chosen, list(lines)
    if mechanism is not None and not any((line["name"] == own).any() for line in lines):
        frames.append(_point(setting, own, mechanism, case))
        frames += work.known_over_epsilon(state, own, case)
    frame = pd.concat(frames, ignore_index=True)
    proof = setting.proof(case)
    proved = (
        max(setting.bounds(case).values()) if proof is not None and (mechanism is None or not mechanism.delta) else None
    )
    fitted = (own,) if library.spec(own).fitted else ()
    layout.chart(
        lambda look: charts.users_over_epsilon(frame, setting.epsilon, setting.users, fitted, proved, look),
        _sentence(state, case, mechanism, classical),
        "trade-off",
        frame,
        title="Users needed over epsilon",
    )


def _sentence(state: Session, case: str, mechanism: Mechanism | None, classical: str | None) -> str:
    """The message of the picture at the epsilon of the design."""
    setting, words = state.setting, []
    target = wording.error(setting.alpha**0.5)
    if mechanism is not None:
        words.append(
            f"For {target}, {case_meaning(case)}, {library.spec(state.chosen).title} needs "
            f"**{wording.users(setting.users_needed(mechanism, case))}**"
        )
    if classical is not None and classical != state.chosen:
        other = setting.costed(classical)
        if other is not None:
            needed = wording.users(setting.users_needed(other, case))
            words.append(
                f"{library.spec(classical).title}, the best classical mechanism compared, needs {needed}"
                + ("" if words else f" for {target}, {case_meaning(case)}")
            )
    limit = max(setting.bounds(case).values())
    if limit > 0 and (mechanism is None or not mechanism.delta):
        words.append(f"no unbiased mechanism can need fewer than {wording.at_least(limit)}")
    return plain_joined(words)


def plain_joined(words: list[str]) -> str:
    """Clauses as one sentence."""
    return f"{wording.capital('; '.join(words))}." if words else ""
