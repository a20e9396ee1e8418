"""The prior of the posterior mean, and the histogram of one's own that it or a fit can start from."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core import wording
from ldp_core.designs import Configuration
from ldp_core.limits import MOST_PRIOR_BYTES, MOST_USERS
from ldp_core.priors import Dirichlet, read_histogram
from pages.ui.controls import control, pick, take_file
from pages.ui.session.state import Session

PRIORS: dict[Dirichlet, str] = {
    "jeffreys": "Jeffreys (½ for every type)",
    "even": "Even (1 for every type)",
    "people": "The people of this design",
    "histogram": "Your histogram, such as last year's",
}


def prior_control(
    state: Session,
    key: str,
    now: Dirichlet,
    commit: Callable[[Dirichlet], None],
    offered: tuple[Dirichlet, ...] = tuple(PRIORS),
    editable: bool = True,
) -> None:
    """The choice of the prior of the posterior mean, with the histogram where that is the user's own. The earlier counts of a
    kit are not ``editable``."""
    pick(
        "Prior of the posterior mean",
        key,
        now,
        commit,
        {kind: PRIORS[kind] for kind in offered},
        help="The parameters of a Dirichlet distribution over the types, before any report. Earlier counts add to "
        "Jeffreys' prior, as that many people more.",
    )
    if not editable:
        return
    if now == "histogram":
        histogram_box(state, f"{key}-histogram")
    if now in ("people", "histogram"):
        people = state.configuration.simulation.prior_people
        control(
            st.text_input,
            "Earlier counts count for (people)",
            f"{key}-people",
            "" if people is None else f"{people:.12g}",
            lambda text: _count_for(state, text),
            placeholder="as many as they are",
            help="Fewer than they are where things may have changed since. Left empty, every person counts as one.",
        )


def _count_for(state: Session, text: str) -> None:
    people = None
    if text.strip():
        try:
            people = float(text.replace(",", ""))
        except ValueError:
            raise ValueError("Earlier counts count for a number of people, such as 1000.") from None
        if not 0 < people <= MOST_USERS:
            raise ValueError(f"Earlier counts count for a number of people above 0 and up to {MOST_USERS:,}.")
    state.change(simulation=state.configuration.simulation.model_copy(update={"prior_people": people}))


def in_words(configuration: Configuration, kind: Dirichlet) -> str:
    """The prior that the posterior mean has, as a sentence."""
    people = configuration.simulation.prior_people
    some = (
        f", counting for {wording.significant(people, 6)} people" if people and kind in ("people", "histogram") else ""
    )
    return f"Prior of the posterior mean: {PRIORS[kind]}{some}."


def histogram_box(state: Session, key: str) -> None:
    """A box and a file for a number of each type, which the design keeps."""
    n, weights = state.setting.domain.size, state.configuration.optimizer.histogram
    control(
        st.text_area,
        f"Your histogram: {n:,} numbers, one per type in order",
        key,
        " ".join(f"{weight:g}" for weight in weights or ()),
        lambda text: _keep(state, text),
        height=100,
        placeholder="For example last year's counts: 120 340 95 ...",
        help="Counts, shares or guesses of how common each type is.",
    )
    take_file(
        state,
        key,
        "Or a file of them",
        lambda file: _keep(state, file.getvalue().decode("utf-8-sig", errors="replace")),
        type=["csv", "txt", "tsv"],
        max_upload_size=MOST_PRIOR_BYTES // 1_000_000,
    )


def _keep(state: Session, text: str) -> None:
    weights = read_histogram(text, state.setting.domain.size)
    state.change(optimizer=state.configuration.optimizer.model_copy(update={"histogram": weights}))
