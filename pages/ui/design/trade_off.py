"""The main picture of a design: people needed over epsilon, with the impossible region, the best classical mechanism and the
design's own, at more epsilons as they are computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ldp_core import charts, library, wording
from ldp_core.mechanisms import Mechanism
from ldp_core.run import Cancel
from ldp_core.studies import curves, theorems
from pages.ui import later, layout, say
from pages.ui.patterns import PICTURE_BYTES
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import case_meaning, case_title

AT_ONCE_TYPES = 64
CURVE_POINTS = 24
Point = tuple[str, float, float]
"""A name, an epsilon, and the people needed there."""
BROKEN = "Broken lines are theorems of the papers, in full on Bounds."


def draw(state: Session, mechanism: Mechanism | None) -> None:
    """The picture of a design, and what it says. ``mechanism`` is the design's own, None while it has yet to be fitted."""
    case = state.setting.case
    classical = _best_classical(state, case)
    lines = _lines(state, case, filter(None, dict.fromkeys((classical, state.setting.chosen))))
    if not lines:
        st.info("The trade-off is being computed.")
        return
    sentence = _sentence(state, case, mechanism, classical)
    work.points_over_epsilon(state, state.setting.chosen)
    _picture(state, case, lines, [state.setting.chosen], sentence)


def compared(state: Session, case: str) -> None:
    """All mechanisms compared, over epsilon: closed forms as lines, and fitted mechanisms where they have been fitted."""
    names = state.setting.side_by_side
    lines = _lines(state, case, names)
    even = _line(state, state.setting.chosen, state.setting.even_case)
    if not lines:
        st.info("People needed over epsilon are being computed.")
        return
    words = say.text("Lines hold at every epsilon; marks are epsilons at which a mechanism has been fitted.")
    if missing := [library.spec(name).title for name in names if state.setting.costed(name) is None]:
        words += say.text(
            " **{missing} not computed yet.**",
            missing=f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}",
        )
    norm = state.setting.answers.norm
    averages = {epsilon: norm * users for _, epsilon, users in even}
    at = curves.epsilons(state.setting.epsilon, CURVE_POINTS).tolist()
    _picture(state, case, lines, names, words + f" {BROKEN}", theorem_lines(state, at, averages))


def theorem_lines(state: Session, at: Sequence[float], averages: Mapping[float, float]) -> pd.DataFrame:
    """The papers' theorems over epsilon: those without a mechanism, and Theorem 5.1 from the ``averages`` of the design's own, its
    average variance per user by epsilon."""
    setting = state.setting
    pure = {} if library.spec(state.setting.chosen).delta else averages
    return theorems.over_epsilon(setting.answers.workload, setting.alpha, at, averages=pure)


def _lines(state: Session, case: str, names: Iterable[str]) -> list[Point]:
    """The bound and these mechanisms, as far as they are known by now."""
    return [*_bound(state, case), *(point for name in names for point in _line(state, name, case))]


def _bound(state: Session, case: str) -> list[Point]:
    setting = state.setting
    workload, chosen, norm = setting.workload, setting.cases[case], setting.answers.norm
    people = None if chosen.prior is None else chosen.prior.tobytes()
    at = curves.epsilons(setting.epsilon)
    try:
        bound = later.ask(
            state,
            ("users bound", workload.digest, norm, people, at.tobytes()),
            "computing the bound over epsilon",
            lambda cancel: _points(curves.users_bound(workload, at, chosen)),
            setting.working_types <= AT_ONCE_TYPES,
        )
    except ValueError:  # too many types: the picture does without
        return []
    return bound or []


def _points(frame: pd.DataFrame) -> list[Point]:
    return list(frame[["name", "epsilon", "users_needed"]].itertuples(index=False, name=None))


def known(state: Session, name: str) -> Mechanism | None:
    """The mechanism once its costs are known; those that take long are computed in the background."""
    with suppress(ValueError):
        mechanism = state.setting.priced(name)
        if mechanism is not None and work.priced(state, mechanism):
            return state.setting.costed(name)
    return None


def _best_classical(state: Session, case: str) -> str | None:
    """The compared mechanism without a fit that needs the fewest people."""
    needed = {}
    for name in state.setting.side_by_side:
        mechanism = None if library.spec(name).fitted else known(state, name)
        if mechanism is not None and mechanism.delta == 0:
            needed[name] = state.setting.users_needed(mechanism, case)
    return min(needed, key=lambda name: needed[name]) if needed else None


def _line(state: Session, name: str, case: str) -> list[Point]:
    """Users that a mechanism without a fit needs over epsilon, and at that of the design; this alone while the others are computed, or take
    long; nothing of a mechanism that is not known."""
    setting, mechanism = state.setting, known(state, name)
    if mechanism is None:
        return []
    point = (name, setting.epsilon, setting.users_needed(mechanism, case))
    if not curves.quick(mechanism):
        return [point]
    workload, chosen, spec = setting.workload, setting.cases[case], library.spec(name)
    parameters, at = {**setting.parameters_for(name), **spec.fixed}, curves.epsilons(setting.epsilon, CURVE_POINTS)
    people = None if chosen.prior is None else chosen.prior.tobytes()
    about = (name, sorted(parameters.items()), workload.digest, setting.answers.norm, people, at.tobytes())

    def compute(cancel: Cancel) -> list[Point]:
        return _points(curves.users_needed(spec.mechanism, workload, at, chosen, parameters, cancel).assign(name=name))

    # The shares of a tree's levels are fitted anew at every epsilon, a tenth of a second each.
    quick = setting.working_types <= AT_ONCE_TYPES // 2 and "shares" not in spec.parameters
    try:
        curve = later.ask(state, ("users over epsilon", *about), "computing people needed over epsilon", compute, quick)
    except ValueError:
        return [point]
    return [*(other for other in curve or () if other[1] != setting.epsilon), point]


def _picture(
    state: Session,
    case: str,
    lines: list[Point],
    names: Sequence[str],
    sentence: str,
    broken: pd.DataFrame | None = None,
) -> None:
    setting = state.setting
    fitted = [name for name in names if library.spec(name).fitted]
    points, about = lines + work.known_over_epsilon(state, fitted, case), (setting.epsilon, setting.users, fitted)
    key = ("trade-off", *about, points, "" if broken is None else broken.to_json())

    def frame() -> pd.DataFrame:
        return pd.DataFrame(points, columns=["name", "epsilon", "users_needed"])

    def draw(look: charts.Theme) -> go.Figure:
        """Kept, as it takes longer than all the rest of the page."""
        made = lambda: charts.users_over_epsilon(frame(), *about, look, broken)  # noqa: E731
        return state.results.cached((*key, look), made, lambda _: PICTURE_BYTES)

    layout.chart(
        draw,
        sentence,
        "trade-off",
        lambda: pd.concat([frame(), *([] if broken is None else [broken.rename(columns={"title": "name"})])]),
        title=f"People needed over epsilon, {case_title(case)}",
    )


def _sentence(state: Session, case: str, mechanism: Mechanism | None, classical: str | None) -> str:
    """The message of the picture at the epsilon of the design."""
    setting, words = state.setting, list[str]()
    target = setting.error_in_words(1.0)
    if mechanism is not None:
        words.append(
            say.text(
                "For {target}, {case}, {titled} needs **{people}**",
                target=target,
                case=case_meaning(case),
                titled=setting.titled(state.setting.chosen),
                people=wording.users(setting.users_needed(mechanism, case)),
            )
        )
    if classical is not None and classical != state.setting.chosen:
        other = setting.costed(classical)
        if other is not None:
            needed = wording.users(setting.users_needed(other, case))
            words.append(
                f"{library.spec(classical).title}, the best classical mechanism compared, needs {needed}"
                + ("" if words else f" for {target}, {case_meaning(case)}")
            )
    limit = max(setting.bounds(case).values())
    if limit > 0 and (mechanism is None or not mechanism.delta):
        words.append(
            f"{'nobody' if words else 'Nobody'} can do with fewer than {wording.at_least(limit)}, which is proved"
        )
    return say.join("; ", words) + "." if words else ""
