"""The kit of a design as a piece of work: what Export offers first."""

from __future__ import annotations

from contextlib import suppress

from ldp_core import mechanisms
from ldp_core.deploy.kit import package
from ldp_core.designs.results import digest
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.run import Cancel
from pages.ui.session import exchange
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.later import Later
from pages.ui.tasks.task import Task

QUICK_BYTES = 24 * 2**16


def kit(state: Session, mechanism: mechanisms.Mechanism, figures: bool = False, mixed: bool = False) -> Task[bytes]:
    """The current design as a kit, see `ldp_core.deploy.kit.package`, with ``figures`` and ``mixed`` as there. ValueError with a sentence where nothing can be
    promised; the work itself says why a kit is not available."""
    c, design = state.configuration, state.setting
    outcome = package.outcome_of(design, figures)
    key = "kit:" + digest((c.digest(), mechanism.digest, design.people_digest, outcome, mixed))

    def work(job: Job) -> bytes:
        proof = exchange.certificate(state, mechanism, at_once=False)
        return package.kit(design, proof, figures, mixed=mixed)

    return Task(state, key, "packing the kit", work, len)


def proof_written(state: Session, mechanism: mechanisms.Mechanism, later: Later) -> bool:
    """True if the proof that goes with the design is in its files, or there is none; else it is written in the background."""
    case = state.present.case
    proof = state.setting.proof(case)
    if proof is None or exchange.certificate(state, mechanism) is not None:
        return True

    def write(cancel: Cancel) -> bool:
        with suppress(ValueError):  # it proves nothing
            return exchange.certificate(state, mechanism, at_once=False) is not None
        return False

    key = ("proof", state.setting.certificate_key(case), proof.certificate.value)
    return later.value(key, "writing the proof", False, write) is not None


def quick(state: Session, mechanism: mechanisms.Mechanism) -> bool:
    """True if the kit is packed in a moment."""
    return mechanism.bytes_held <= QUICK_BYTES and mechanism.cost_dimension(state.setting.workload) <= AT_ONCE_TYPES
