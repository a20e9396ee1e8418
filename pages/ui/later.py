"""What takes long: begun once, in a thread that outlives the page, and kept in the session.

A page asks for a value with `value`, which is None until it is there, and goes on without it. Once the page is drawn, its own script
waits for what runs (`wait`), shows how far that is, and draws the page again when something has ended. Streamlit interrupts a script
that waits as it does any other: whatever is pressed is answered at once, and a tab that closes leaves no thread.

The threads of work never touch Streamlit: work is a function of its `Work`, which it tells its progress and asks whether to stop.
Work goes on when no one looks, until its design is changed or its session is forgotten.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import wording
from ldp_core.designs.results import digest
from ldp_core.limits import MOST_FINISHED_JOBS, MOST_JOBS_AT_ONCE
from ldp_core.run import Cancel, Interrupted, Progress
from pages.ui import say

if TYPE_CHECKING:
    from pages.ui.session.state import Session

T = TypeVar("T")

DESIGN = ("epsilon", "questions", "data")
STEP = 0.2
"""Seconds between two looks at what runs, and so at most until a press is answered."""
LINES = 6
LETTERS = 72


@dataclass(eq=False)
class Work:
    """One piece of work of a session. ``key`` identifies its inputs, so that equal work is never begun twice.

    Attributes:
        of: what it depends on of the design, as that was when it was begun.
        asker: title of the page that waits for it, empty where it was begun by hand; ``wanted`` is whether it still does.
        limit: seconds after which it ends; None where none is known.
        views: places on the page with what draws its progress there.
        stopped: whether a person stopped it, who has not asked for it again; nobody waits for what the program cancels.
    """

    key: str
    title: str
    run: Callable[[Work], object] | None
    """None once it has ended: it holds tables and workloads."""
    ended: threading.Event
    of: dict[str, str] = field(default_factory=dict)
    asker: str = ""
    limit: float | None = None
    progress: Any = None
    error: str = ""
    wanted: bool = False
    stopped: bool = False
    started: float = 0.0
    finished: float = 0.0
    views: list[tuple[DeltaGenerator, Callable[[Any, Work], None]]] = field(default_factory=list)
    _cancel: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self._cancel.set()

    def stop(self) -> None:
        """Cancel it by hand: a page that waits for it does not begin it again unasked."""
        self.stopped = True
        self.cancel()

    def cancelled(self) -> bool:
        return self._cancel.is_set()

    @property
    def followed(self) -> dict[str, Any]:
        """Options for what it works on: report progress here, and stop when this is cancelled."""
        return {"callback": partial(setattr, self, "progress"), "cancel": self.cancelled}

    @property
    def active(self) -> bool:
        """True if it runs, or waits for a free place; what is cancelled there waits no longer."""
        return not self.finished and (self.started > 0 or not self.cancelled())

    @property
    def seconds(self) -> float:
        return (self.finished or time.monotonic()) - self.started if self.started else 0.0

    def __call__(self) -> None:
        try:
            if self.run is not None and not self.cancelled():
                self.started = time.monotonic()
                self.run(self)
        except Interrupted:
            pass  # it was cancelled
        except ValueError as error:  # the core's sentence for people
            self.error = str(error)
        except MemoryError:
            self.error = "This needs more memory than the server has. Use coarser bins."
        except Exception as error:
            self.error = f"The calculation stopped unexpectedly ({type(error).__name__}). Try other settings."
        self.run = None
        self.finished = time.monotonic()
        self.ended.set()


def stop(*works: Work | None) -> None:
    """Stop them by hand."""
    for work in works:
        if work is not None:
            work.stop()


@st.cache_resource
def queue() -> SimpleQueue[Work]:
    """The work of the whole server: at most `MOST_JOBS_AT_ONCE` pieces run at once, the rest wait in order."""
    waiting: SimpleQueue[Work] = SimpleQueue()

    def serve() -> None:
        while True:
            waiting.get()()

    for _ in range(MOST_JOBS_AT_ONCE):
        threading.Thread(target=serve, daemon=True).start()
    return waiting


class Stopped(ValueError):
    """A visitor has stopped the work that the page would show."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """What can be begun for a session. ``key`` identifies its inputs, ``title`` says what is being done; ``work`` returns what is
    to be kept (None for nothing), ``size`` is how many bytes that holds, and ``expensive`` keeps it longest: see `Results`. ``of``
    names what the result depends on of the design, which, where that changes, gives it up. `Work` describes the rest."""

    state: Session
    key: str
    title: str
    work: Callable[[Work], T | None]
    size: Callable[[T], int] = lambda result: 0
    of: Sequence[str] = ()
    limit: float | None = None
    expensive: bool = False

    @property
    def result(self) -> T | None:
        """The result; None until there is one."""
        return self.state.results.get(self.key)

    @property
    def latest(self) -> Work | None:
        """The latest attempt."""
        return self.state.works.get(self.key)

    @property
    def running(self) -> Work | None:
        """The latest attempt, while it has not ended."""
        latest = self.latest
        return latest if latest is not None and latest.active else None

    @property
    def cut_short(self) -> bool:
        """True if the latest attempt was cancelled, so that the result, if there is one, is only a part."""
        latest = self.latest
        return latest is not None and not latest.active and latest.cancelled()

    @property
    def unbegun(self) -> bool:
        """True if it may begin unasked: it never has, or the program gave it up, as no one waited for it any more."""
        latest = self.latest
        return latest is None or (latest.cancelled() and not latest.stopped)

    @property
    def error(self) -> str:
        """Why the latest attempt failed, in a sentence; empty if it did not."""
        latest = self.latest
        return "" if latest is None else latest.error

    def start(self, asker: str = "") -> Work:
        """Begin it, unless it is running."""
        works = self.state.works
        if (running := self.running) is not None:
            return running
        now = _features(self.state) if self.of else {}
        of = {name: now[name] for name in self.of}
        work = Work(self.key, self.title, self._run, self.state.ended, of, asker, self.limit)
        works.pop(self.key, None)
        works[self.key] = work
        finished = [old.key for old in works.values() if not old.active]
        for key in finished[: max(0, len(finished) - MOST_FINISHED_JOBS)]:
            del works[key]
        queue().put(work)
        return work

    def get(self, quick: bool = False) -> T | None:
        """The result, computed now where that is ``quick``; else None until it has been computed, and the page is drawn again. ValueError
        with a sentence when it is not available, `Stopped` where somebody stopped it by hand since the page was opened."""
        running = self.running
        if (value := self.result) is not None:  # looked for once it is known whether it runs: it may end meanwhile
            return value
        if quick:
            return self._run(Work(self.key, self.title, None, self.state.ended))
        if running is None:
            if (latest := self.latest) is not None and latest.stopped:
                raise Stopped(f"You stopped “{self.title}”; it begins again when a page that shows it is opened.")
            if self.error:
                raise ValueError(self.error)
        self.start(self.state.page).wanted = True
        return None

    def _run(self, work: Work) -> T | None:
        value = self.work(work)
        if value is not None:
            self.state.results.put(self.key, value, self.size(value), self.expensive)
        return value


def ask(
    state: Session, key: object, title: str, compute: Callable[[Cancel], T], quick: bool = False, size: int = 0
) -> T | None:
    """``compute(cancel)`` for the current design, now or later as by `Task.get`. What was cancelled in the meantime is not kept,
    because it may have been cut short."""

    def run(work: Work) -> T | None:
        value = compute(work.cancelled)
        return None if work.cancelled() else value

    return Task(state, f"value:{digest(key)}", title, run, lambda _: size, DESIGN).get(quick)


def value(
    state: Session,
    key: object,
    title: str,
    compute: Callable[[Cancel], T],
    waiting: str = "",
    what: str = "",
    quick: bool = False,
    small: bool = False,
    size: int = 0,
) -> T | None:
    """The value of ``compute(cancel)``, a function of the core of all that is in ``key``: at once where that is ``quick``, else None until
    it is there. Meanwhile the page says in its place that it is ``waiting``, or why it cannot be had after ``what`` that means;
    ``small`` says so in small print. ``title`` is its line in the sidebar, ``size`` the bytes that the value holds."""
    try:
        found = ask(state, key, title, compute, quick, size)
    except ValueError as error:
        if small:
            say.caption("{what} {error}", what=what, error=error)
        else:
            instead(error, what)
        return None
    if found is None and waiting:
        (say.caption if small else say.info)("{waiting}", waiting=waiting)
    return found


def instead(error: ValueError, what: str = "", known: str = "", mild: bool = False) -> None:
    """Why something cannot be shown, in its place, after ``what`` that means; ``mild`` where the rest of the page does without. A stop
    by hand is no fault: ``known`` then says, as plain information, what is there all the same."""
    if isinstance(error, Stopped):
        say.info("{error} {known}", error=error, known=known)
    else:
        (say.warning if mild else say.error)("{what} {error}", what=what, error=error)


def bar(progress: Any, work: Work) -> None:
    """How much of some work is done, for how long it has run, and how much longer it takes."""
    st.progress(share(work) or 0.0, text=say.plain(so_far(work)))


def show(work: Work, draw: Callable[[Any, Work], None] = bar, unknown: str = "Starting.") -> None:
    """``draw(progress, work)`` in this place whenever there is progress, or that its progress is ``unknown``."""

    def known_or_not(progress: Any, work: Work) -> None:
        if progress is not None:
            draw(progress, work)
        else:
            st.info(say.plain(unknown) if work.started else "Waiting for a free place.")

    place = st.empty()
    work.views.append((place, known_or_not))
    with place.container():
        known_or_not(work.progress, work)


# --- a run of a page ---------------------------------------------------------------------------------------------------


def begin(state: Session) -> set[Work]:
    """A page begins to be drawn: what depends on an earlier design is given up. Returns the work that has ended."""
    was, now = state.worked_for, _features(state)
    state.worked_for = now
    for work in state.works.values():
        if work.of.items() <= was.items() and not work.of.items() <= now.items():
            work.cancel()
        work.wanted, work.views = False, []
    return {work for work in state.works.values() if not work.active}


def forgive(state: Session) -> None:
    """Another page is opened: what people stopped that pages wait for may begin again."""
    for work in state.works.values():
        work.stopped &= not work.asker


@dataclass
class Line:
    """One line of the list of what runs: a ``place`` that says of some ``work`` how far it is, as it ``said`` last."""

    work: Work
    place: DeltaGenerator
    said: str = ""

    def draw(self) -> None:
        title = wording.shortened(wording.capital(self.work.title), LETTERS)
        if (words := f"{title}: {so_far(self.work)}") == self.said:
            return
        self.said, done = words, share(self.work)
        if done is None or not self.work.started:
            self.place.caption(say.plain(words), width="stretch")
        else:
            self.place.progress(done, text=say.plain(words), width="stretch")


def wait(state: Session, place: DeltaGenerator, ended: set[Work]) -> None:
    """The page is drawn. It lists what runs in this ``place``, and waits until something ends that had not ``ended`` when it began; then it
    is drawn again."""
    works = [work for work in state.works.values() if work not in ended]
    for work in works:
        if work.asker == state.page and not work.wanted:
            work.cancel()  # nobody waits for it any more
    works = [work for work in works if work.active or work.started]
    if not works:
        return
    with place:
        lines, tick = _lines(works), st.empty()
    drawn = {work: (work.started, work.progress) for work in works}
    while True:
        tick.empty()  # what has been pressed interrupts the script here, before it asks for a run itself
        for line in lines:
            line.draw()
        if not all(work.active for work in works):
            st.rerun()
        for work in works:
            started, progress = work.started, work.progress
            if started != drawn[work][0] or progress is not drawn[work][1]:
                drawn[work] = started, progress
                for view, draw in work.views:
                    with view.container():
                        draw(progress, work)
        state.ended.wait(STEP)
        state.ended.clear()


def _lines(works: Sequence[Work]) -> list[Line]:
    """Draw lines, each with a button that stops its work."""
    lines = []
    for work in works[:LINES]:
        key = sha256(work.key.encode()).hexdigest()[:12]
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"job-{key}"):
            lines.append(Line(work, st.empty()))
            lines[-1].draw()
            st.button(
                "Stop",
                key=f"stop-{key}",
                type="tertiary",
                disabled=work.cancelled(),
                on_click=work.stop,
                help=say.text("Stop {title}", title=work.title),
            )
    return lines


def share(work: Work) -> float | None:
    """The share of some work that is done, 0 to 1: by its own progress, else by the time it has. None where no one knows."""
    progress = work.progress
    if isinstance(progress, float):
        return min(1.0, progress)
    if isinstance(progress, Progress) and progress.max_rounds:
        return min(1.0, progress.round / progress.max_rounds)
    return None if work.limit is None else min(1.0, work.seconds / work.limit)


def so_far(work: Work) -> str:
    """How long some work has run, and how much longer it takes where that is known."""
    if work.cancelled():
        return "stopping"
    if not work.started:
        return "waiting"
    done, limit = share(work) or 0.0, work.limit
    if limit is not None:
        rest = f", at most {wording.duration(limit - work.seconds)} left" if work.seconds < limit else ", finishing"
    elif isinstance(work.progress, Progress) and 0.05 <= done < 1:  # a guess from less would be wild
        rest = f", about {wording.duration(work.seconds * (1 / done - 1))} left"
    else:
        rest = ""
    return f"{wording.duration(work.seconds)}{rest}"


def _features(state: Session) -> dict[str, str]:
    """What distinguishes designs: epsilon, and digests of the questions and the domain ("data")."""
    c = state.configuration
    return {
        "epsilon": f"{state.setting.epsilon:.15g}",
        "questions": c.digest(["workload"]),
        "data": c.digest(["domain"]),
    }
