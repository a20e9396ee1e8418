"""The prior of the posterior mean, and the histogram of one's own that it or a fit can start from."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ldp_core.limits import MOST_PRIOR_BYTES
from ldp_core.priors import read_histogram
from pages.ui import say
from pages.ui.controls import control, take_file
from pages.ui.session.state import Session

JEFFREYS = "Jeffreys (½ for every type)"


def prior_control(state: Session, key: str, now: bool, commit: Callable[[bool], None], editable: bool = True) -> None:
    """Whether the posterior mean starts from earlier counts, and what these are. Those of a kit are not ``editable``."""
    control(
        st.toggle,
        "Start the posterior mean from earlier counts",
        key,
        now,
        commit,
        help=f"Its prior is Dirichlet: {JEFFREYS}, and earlier counts add to that as so many people more.",
    )
    if now and editable:
        histogram_box(state, f"{key}-histogram")


def in_words(earlier: bool) -> str:
    """The prior that the posterior mean has, as a sentence."""
    return f"Prior of the posterior mean: {JEFFREYS}{', and your earlier counts' if earlier else ''}."


def histogram_box(state: Session, key: str) -> None:
    """A box and a file for a number of each type, which the design keeps."""
    n, weights = state.setting.domain.size, state.configuration.optimizer.histogram
    control(
        st.text_area,
        say.text("Your histogram: {n:,} numbers, one per type in order", n=n),
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
