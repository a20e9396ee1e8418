"""The belief that a report allows at this epsilon, and examples of published answers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from ldp_core import beliefs, charts, shuffled
from ldp_core.bounds import every_value_is_secret
from ldp_core.designs import Setting
from ldp_core.mechanisms import Mechanism
from ldp_core.people import dense
from ldp_core.studies import curves
from pages.ui import later, layout, say
from pages.ui.controls import control
from pages.ui.session.state import Session

QUICK_TYPES = 32
"""Up to this many types all of it takes some hundredths of a second, and is not left to the background."""
CURVE_POINTS = 18
SOURCES = (
    "Beliefs follow from Bayes' rule: a report multiplies the odds of any value, or group of values, against any other by at most e^ε "
    "(McKenna et al. 2020, Definition 2.4), and k reports by e^(kε) (Dwork and Roth 2014, Theorem 3.16). The best guess by the best "
    "mechanism is right with probability max over k of P e^ε/(e^ε + k − 1), P the share of the k commonest types (derived in this "
    "project). What mixing gives follows from the privacy blanket (Balle et al. 2019, Lemma 5.3). The risk of the chosen mechanism "
    "follows from its own probabilities, for people spread as in this design."
)


ABOUT_COLUMNS = (
    "This holds for any value of any secret column, and for any combination of them, whatever else is known about the person. How far the chosen "
    "mechanism goes is not worked out for a survey: no one holds numbers for every combination of answers."
)


def suspicion() -> float:
    """The belief about a person before any report."""
    return float(st.session_state.get("suspicion", 50)) / 100


def suspicion_control() -> None:
    st.slider(
        "Belief before the report (%)",
        min_value=1,
        max_value=99,
        value=50,
        key="suspicion",
        persist_state="session",
        help="The prior: how likely somebody thinks it, before the report, that a given person has a given value or belongs to a given group. The strongest belief is the most "
        "that they can think it after the report; the best guess is how often naming the likeliest value is right.",
    )


def risk(state: Session) -> str:
    """The belief that the reports of one person can lead to, whatever the mechanism, in a
    sentence."""
    c = state.configuration
    return beliefs.belief_in_words(suspicion(), c.epsilon_value, state.setting.delta, c.reports_per_user)


def show(state: Session, mechanism: Mechanism | None) -> None:
    """Exposure by a report: beliefs over epsilon."""
    design = state.setting
    with layout.controls("suspicion"):
        suspicion_control()
    _beliefs(state, design, mechanism)
    if mechanism is not None:
        _mixed(state, mechanism)
    layout.how_computed(SOURCES)


def _beliefs(state: Session, design: Setting, mechanism: Mechanism | None) -> None:
    c, exposure, what = state.configuration, None, "value"
    about = (c.epsilon_value, state.setting.delta, c.reports_per_user)
    if not (every_value_is_secret(design.workload) if mechanism is None else mechanism.protects_all):
        st.markdown(say.plain(beliefs.secret_in_words(suspicion(), c.epsilon_value, c.reports_per_user)))
        return
    if design.people.by_type is None or (mechanism is not None and mechanism.survey is not None):
        st.markdown(say.plain(f"{risk(state)} {ABOUT_COLUMNS}"))
        return
    people = prior = dense(design.counts) / design.users
    if mechanism is not None:
        key, quick = ("told", mechanism.digest, design.people.digest), design.domain.size <= QUICK_TYPES
        tells = lambda cancel: beliefs.exposure(mechanism, people)  # noqa: E731
        exposure = later.value(state, key, "reading what reports can tell", tells, quick=quick, small=True)
    if (strata := design.workload.strata) is not None:
        prior, what = people[strata.types], "secret value"
    draw_beliefs(suspicion(), prior, exposure, state.setting.chosen, *about, what=what)


def draw_beliefs(
    before: float,
    prior: np.ndarray,
    exposure: beliefs.Exposure | None,
    name: str,
    epsilon: float,
    delta: float = 0.0,
    reports: int = 1,
    what: str = "value",
) -> None:
    """Beliefs over epsilon, and what a mechanism allows at this one, as a picture and in words; ``what`` of a person is guessed at."""
    n, single, guess = prior.size, None, None
    allowed = beliefs.over_epsilon(before, prior, n, np.union1d(curves.epsilons(epsilon), epsilon), delta, reports)
    words = [beliefs.belief_in_words(before, epsilon, delta, reports)]
    if exposure is not None:
        words.append(beliefs.exposure_in_words(exposure, charts.title(name), before, epsilon, reports))
    if exposure is not None and reports == 1:
        single = None if exposure.single is None else beliefs.strongest(before, exposure.single)
        guess = exposure.guess
    limit = beliefs.best_guess(prior, n, epsilon, delta, reports)
    words.append(beliefs.guess_in_words(exposure, beliefs.blind_guess(prior, n), limit, reports, what))
    layout.chart(
        lambda look: charts.beliefs(allowed, epsilon, before, name, single, guess, look),
        say.plain(" ".join(words)),
        "sides-beliefs",
        allowed,
    )


def _mixed(state: Session, mechanism: Mechanism) -> None:
    """What mixing the reports of these people gives, and whether the report for a privacy review says so."""
    people, reports = state.setting.counts, state.configuration.reports_per_user
    key, title = ("mixed", mechanism.digest, state.setting.people.digest, reports), "working out what mixing gives"
    promise = lambda cancel: shuffled.promised(mechanism, people, reports)  # noqa: E731
    waiting = "What mixing gives is being worked out."
    said = later.value(state, key, title, promise, waiting, small=True)
    if said is None:
        return
    st.markdown(
        say.plain(said),
        help="Central epsilon limits what the mixed reports of everybody, seen without names, tell of any one of them.",
    )
    control(
        st.toggle,
        "Say so in the report for a privacy review",
        "mixing",
        bool(state.view.get("mixing")),
        lambda on: state.view.update(mixing=on),
        help="Only where a shuffler or an anonymising proxy stands before you.",
    )
