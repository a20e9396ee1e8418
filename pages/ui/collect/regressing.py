"""Folds of the Collect page: a logistic regression of a secret yes or no on known columns, and quantiles."""

from __future__ import annotations

import streamlit as st

from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection, regressing
from ldp_core.deploy.collector.quantiles import MEANING
from ldp_core.deploy.kit.opening import Kit
from ldp_core.studies.outcomes import LEVEL
from ldp_core.workloads.axes import axes_of
from pages.ui import later, listing, say
from pages.ui.session.state import Session


def logistic(state: Session, subject: Kit, collection: Collection) -> None:
    """Which columns, and the coefficients; nothing where no design like this has any."""
    axes = axes_of(subject.domain)
    yes_or_no = [axis.name for axis in axes if axis.size == 2 and not axis.known]
    known = [axis.name for axis in axes if axis.size > 1 and axis.known]
    if not yes_or_no or not known:
        return
    with st.expander("Logistic regression"):
        of = st.selectbox("Yes or no", options=yes_or_no, key="regress-of", persist_state="session")
        on = st.multiselect("On", options=known, default=known, key="regress-on", persist_state="session")
        if not on:
            return
        about = (collection, subject.mechanism, subject.domain, of, on)
        key = ("regress", collection.digest, subject.design, of, *on)
        found = later.value(state, key, "fitting", lambda cancel: regressing.regression(*about), small=True)
        if found is not None:
            listing.show_table(regressing.table(found), say.plain(regressing.in_words(found)))


def quantiles(state: Session, subject: Kit, collection: Collection, kind: str, drawn: bool) -> None:
    """The quantiles that follow from the answers; nothing where none does."""
    about = (collection, subject.mechanism, subject.workload, subject.domain)
    key = ("quantiles", collection.digest, subject.design, kind, drawn)
    compute = lambda cancel: collector.quantiles.quantiles(*about, LEVEL, kind, drawn)  # noqa: E731
    found = later.value(state, key, "finding quantiles", compute, small=True)
    if found is not None and len(found):
        with st.expander("Quantiles"):
            listing.show_table(collector.quantiles.table(found), MEANING)


def associations(state: Session, subject: Kit, collection: Collection, drawn: bool) -> None:
    """What the reports tell of two secret columns together."""
    secret = [axis.name for axis in axes_of(subject.domain) if axis.size > 1 and not axis.known]
    if len(secret) < 2:
        return
    with st.expander("Two columns together"):
        pair = st.multiselect(
            "Columns x and y", options=secret, default=secret[:2], key="associate", persist_state="session"
        )
        if len(pair) == 2:
            about = (collection, subject.mechanism, subject.domain, (pair[0], pair[1]), LEVEL, drawn)
            key = ("associate", collection.digest, subject.design, drawn, *pair)
            compute = lambda cancel: collector.associating.in_words(*about)  # noqa: E731
            for sentence in later.value(state, key, "comparing columns", compute, small=True) or ():
                st.markdown(say.plain(sentence))
