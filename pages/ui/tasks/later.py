"""Values that a page shows once they are known: worked out at once where that is quick, else in the background."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from ldp_core.run import Cancel
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, jobs

PREFIX = "later:"


class Later:
    """Values of the current design that may take long, by key. Made anew whenever a page is drawn."""

    def __init__(self, state: Session):
        self._state, self._waited = state, set()

    def value(self, key: Any, title: str, quick: bool, compute: Callable[[Cancel | None], Any], size: int = 0) -> Any:
        """``compute(cancel)``, now where it is ``quick``; else None until it has been worked out in the background. ValueError
        with a sentence when it cannot be had. What was cancelled meanwhile is not kept: it may have been cut short."""
        state, name = self._state, PREFIX + hashlib.sha256(repr(key).encode()).hexdigest()
        if (found := state.results.get(name)) is not None:
            return found
        if quick:
            found = compute(None)
            state.results.put(name, found, size)
            return found
        job = jobs().find(state.id, name)
        if job is not None and job.state == "failed":
            raise ValueError(job.error)
        if job is None or not job.active:
            if (found := state.results.get(name)) is not None:  # it ended just now
                return found

            def work_out(job: Job) -> None:
                found = compute(job.cancelled)
                if not job.cancelled():
                    state.results.put(name, found, size)

            jobs().submit(state.id, name, title, work_out)
        self._waited.add(name)
        return None

    def finish(self) -> None:
        """Cancel what earlier questions were waiting for, and let the page follow what these wait for."""
        for job in jobs().active(self._state.id):
            if job.key.startswith(PREFIX) and job.key not in self._waited:
                job.cancel()
        if self._waited:
            _follow(self._state, frozenset(self._waited))


@st.fragment(run_every=0.7)
def _follow(state: Session, waited: frozenset[str]) -> None:
    if not waited <= {job.key for job in jobs().active(state.id)}:
        st.rerun()
