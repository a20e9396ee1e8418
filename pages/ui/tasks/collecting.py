"""Reports counted in the background. A session holds one collection for each design; it is never dropped to make room."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from ldp_core import analysis
from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection
from ldp_core.deploy.collector.reading import File
from ldp_core.deploy.kit.opening import Kit, kit_of, open_kit
from ldp_core.mechanisms import Mechanism
from ldp_core.people import Counts
from ldp_core.run import Cancel
from ldp_core.workloads import Line
from pages.ui.later import Task, Work
from pages.ui.session.state import Session

_NOTHING = 0
"""Bytes that a collection is said to hold, so that it is kept as long as the session."""


def current_kit(state: Session, mechanism: Mechanism) -> Task[Kit]:
    """The current design, as devices know it. ValueError, one sentence, where no device can draw its reports."""
    made = state.setting
    key = f"device:{mechanism.digest}:{made.configuration.digest()}:{made.people.digest}"
    return Task(state, key, "describing what devices send", lambda work: kit_of(made))


def opened(state: Session, content: bytes, digest: str = "") -> Task[Kit]:
    """The design of a kit by its ``content``, or by the ``digest`` of what has been opened before."""
    digest = digest or hashlib.sha256(content).hexdigest()
    return Task(state, f"opened-kit:{digest}", "opening the kit", lambda work: open_kit(content), lambda _: _NOTHING)


def collection(state: Session, subject: Kit) -> Collection:
    """The reports counted so far for a design."""
    collected: Collection | None = state.results.get(_held(subject))
    return Collection.empty(subject.mechanism, subject.design) if collected is None else collected


def apart(subject: Kit) -> str:
    """In `Session.view`: whether somebody said that files with ids and files without share no people."""
    return f"apart:{subject.design}"


def forget(state: Session, subject: Kit) -> None:
    """Begin again with nothing; what was counted can be brought back until something else is."""
    state.view.pop(apart(subject), None)
    state.results.put(_forgotten(subject), collection(state, subject), _NOTHING)
    state.results.put(_held(subject), Collection.empty(subject.mechanism, subject.design), _NOTHING)


def forgotten(state: Session, subject: Kit) -> bool:
    """Whether there is something to bring back."""
    return state.results.get(_forgotten(subject)) is not None and not collection(state, subject).read


def bring_back(state: Session, subject: Kit) -> None:
    """What had been counted before it was forgotten."""
    state.results.put(_held(subject), state.results.get(_forgotten(subject)), _NOTHING)


def counting(
    state: Session, subject: Kit, adding: Callable[[Collection, Work], Collection] | None = None
) -> Task[None]:
    """The steps that add to the collection of a design, in turn: ``adding`` gets the collection and
    the work."""

    def run(work: Work) -> None:
        if adding:  # where that is interrupted, nothing of these files is counted
            state.results.put(_held(subject), adding(collection(state, subject), work), _NOTHING)

    return Task(state, f"counting:{_held(subject)}", "counting reports", run)


def reading(
    state: Session, subject: Kit, files: Callable[[], Sequence[File]]
) -> Callable[[Collection, Work], Collection]:
    """What `counting` adds: the reports in ``files``."""
    apart_known = state.view.get(apart(subject), False)

    def adding(before: Collection, work: Work) -> Collection:
        follow = partial(setattr, work, "progress")
        about = (subject.mechanism, subject.design, before, follow, work.cancelled)
        return collector.collect(files(), *about, apart=apart_known)

    return adding


def earlier(state: Session, subject: Kit, content: bytes) -> Callable[[Collection, Work], Collection]:
    """What `counting` adds: a collection that was downloaded before."""
    apart_known = state.view.get(apart(subject), False)
    return lambda before, work: before.added(Collection.load(content, subject.mechanism), apart_known)


def simulated(subject: Kit, counts: Counts, seed: int) -> bytes:
    """A file of simulated reports."""
    return collector.simulated(subject.mechanism, subject.design, counts, seed)


def forged(mechanism: Mechanism, lines: Sequence[Line], cancel: Cancel) -> list[collector.Manipulation]:
    """The effect of forged reports on the answers to each question, or on a sample of many."""
    return [
        collector.manipulation(mechanism, line.workload, analysis.judged_queries(line.workload), cancel)
        for line in lines
    ]


def _held(subject: Kit) -> str:
    return f"collection:{subject.design}:{subject.mechanism.digest}"


def _forgotten(subject: Kit) -> str:
    return f"forgotten {_held(subject)}"
