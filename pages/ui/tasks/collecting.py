"""Reports counted in the background. A session holds one collection for each design; it is never dropped to make room."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from ldp_core import mechanisms, verdicts, workloads
from ldp_core.data.domain import Domain
from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection
from ldp_core.deploy.collector.reading import File
from ldp_core.deploy.collector.trying import SIMULATED
from ldp_core.deploy.kit import devices
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration
from ldp_core.people import Counts
from ldp_core.run import Cancel, Interrupted
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, Task

HELD = "collected"
"""In `Session.view`: whether anything was collected here."""
_PAGE = "Collect"
_NOTHING = 0
"""Bytes that a collection is said to hold, so that it is kept as long as the session."""


@dataclass(frozen=True, eq=False)
class Subject:
    """The design whose reports are counted, and its id, which a report carries. ``needed`` are the users that its target error takes
    for the people that the design is for; None where that is not known."""

    configuration: Configuration
    domain: Domain
    workload: workloads.Workload
    mechanism: mechanisms.Mechanism
    design: str
    needed: float | None
    warnings: tuple[str, ...] = ()

    @property
    def target(self) -> float:
        """The target error, as a share of all users."""
        return math.sqrt(self.configuration.target_alpha)

    @cached_property
    def labels(self) -> Sequence[str]:
        return self.domain.type_labels

    @cached_property
    def ratios(self) -> list[workloads.Ratios]:
        """The shares and averages within groups that are asked for."""
        recipe = self.configuration.workload
        return [] if recipe is None else workloads.ratios_of(recipe.parts, self.domain, self.workload)


def identity(state: Session, mechanism: mechanisms.Mechanism) -> Task[str]:
    """The id of the current design. ValueError, one sentence, where no device can draw its reports."""
    c = state.configuration
    key = f"device:{mechanism.digest}:{c.digest(['epsilon', 'domain'])}"

    def work(job: Job) -> str:
        return Device(devices.describe(mechanism, c.epsilon, c.domain)).design

    return Task(state, key, "describing what devices send", work)


def opened(state: Session, content: bytes, digest: str = "") -> Task[Subject]:
    """The design of a kit by its ``content``, or by the ``digest`` of what has been opened before."""
    digest = digest or hashlib.sha256(content).hexdigest()

    def work(job: Job) -> Subject:
        kit = open_kit(content)
        return Subject(kit.configuration, kit.domain, kit.workload, kit.mechanism, kit.design, kit.needed, kit.warnings)

    return Task(state, f"opened-kit:{digest}", "opening the kit", work, lambda _: _NOTHING, page=_PAGE)


def collection(state: Session, subject: Subject) -> Collection:
    """The reports counted so far for a design."""
    collected: Collection | None = state.results.get(_held(subject))
    return Collection.empty(subject.mechanism, subject.design) if collected is None else collected


def forget(state: Session, subject: Subject) -> None:
    """Begin again with nothing."""
    state.results.put(_held(subject), Collection.empty(subject.mechanism, subject.design), _NOTHING)


def counting(
    state: Session, subject: Subject, adding: Callable[[Collection, Job], Collection] | None = None
) -> Task[None]:
    """The steps that add to the collection of a design, in turn: ``adding`` gets the collection and
    the job."""

    def work(job: Job) -> None:
        with suppress(Interrupted):  # then nothing of these files is counted
            collected = adding(collection(state, subject), job) if adding else collection(state, subject)
            state.results.put(_held(subject), collected, _NOTHING)

    return Task(state, f"counting:{_held(subject)}", "counting reports", work, page=_PAGE)


def count_files(state: Session, subject: Subject, files: Sequence[File]) -> None:
    """Begin to count the reports in files."""
    state.view[HELD] = True
    counting(state, subject, lambda before, job: _read(subject, files, before, job)).start()


def count_simulated(state: Session, subject: Subject, counts: Counts, seed: int) -> None:
    """Begin to count simulated reports of the people ``counts``."""

    def adding(before: Collection, job: Job) -> Collection:
        return _read(subject, [(SIMULATED, simulated(subject, counts, seed))], before, job)

    state.view[HELD] = True
    counting(state, subject, adding).start()


def simulated(subject: Subject, counts: Counts, seed: int) -> bytes:
    """A file of simulated reports."""
    return collector.simulated(subject.mechanism, subject.design, counts, seed)


def add(state: Session, subject: Subject, content: bytes) -> None:
    """Begin to add a collection that was downloaded before."""
    state.view[HELD] = True
    counting(state, subject, lambda before, job: before + Collection.load(content, subject.mechanism)).start()


def forged(
    mechanism: mechanisms.Mechanism, workload: workloads.Workload, cancel: Cancel
) -> collector.Manipulation | None:
    """The effect of forged reports on the answers, or on a sample of many; None once cancelled."""
    with suppress(Interrupted):
        return collector.manipulation(mechanism, workload, verdicts.judged_queries(workload), cancel)
    return None


def _read(subject: Subject, files: Sequence[File], before: Collection, job: Job) -> Collection:
    def follow(share: float) -> None:
        job.progress = share

    return collector.collect(files, subject.mechanism, subject.design, before, follow, job.cancelled)


def _held(subject: Subject) -> str:
    return f"collection:{subject.design}:{subject.mechanism.digest}"
