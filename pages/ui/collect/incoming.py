"""The part of the Collect page that brings reports in: uploads, simulated ones, earlier collections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from ldp_core import limits, wording
from ldp_core.deploy.collector.trying import SIMULATED
from ldp_core.deploy.kit.opening import Kit
from pages.ui import later, layout, promises, say
from pages.ui.controls import button, control, take_file, view_switch
from pages.ui.session.state import Session
from pages.ui.tasks import collecting

OWN = "This design"
KIT = "The design of a kit"
SOURCES = {
    "upload": "Upload",
    "earlier": "An earlier collection",
    "simulated": "Try it",
}
ENDINGS = ["csv", "tsv", "txt", "parquet", "pq"]


def whose() -> str:
    """Whose reports are counted: those of the current design, or of a kit."""
    about = "Reports say of which design they are. Those of another one are counted with the kit that their devices came from."
    return view_switch("collect-whose", {OWN: OWN, KIT: KIT}, "Reports of", help=about)


def kit(state: Session) -> Kit | None:
    """The design of a kit that is uploaded here; None until there is one."""
    known = state.view.get("collect-kit", "")
    task = collecting.opened(state, b"", known)
    opened = task.result if known else None

    def take(uploaded: Any) -> None:
        given = collecting.opened(state, uploaded.getvalue())
        state.view["collect-kit"] = given.key.partition(":")[2]
        given.start()

    take_file(
        state,
        "kit",
        "Kit (zip)" if opened is None else "Another kit (zip)",
        take,
        type=["zip"],
        help="The zip that Export gave. What it holds is checked, and used on this page only: your design stays as it is.",
    )
    if known and opened is None:
        if task.running is not None:
            later.show(task.running)
        elif task.error:
            say.error("The kit could not be opened. {error}", error=task.error)
    return opened


def bring(state: Session, subject: Kit, current_design: bool) -> None:
    """The choice of where reports come from, and the entries and buttons of that."""
    offered = dict(SOURCES)
    if not current_design:
        del offered["simulated"]
    chosen = view_switch("collect-from", offered, "Source")
    if collecting.collection(state, subject).read or collecting.counting(state, subject).error:
        control(
            st.checkbox,
            "Nobody is in a file with ids and in one without",
            collecting.apart(subject),
            state.view.get(collecting.apart(subject), False),
            lambda known: state.view.update({collecting.apart(subject): known}),
            help="Tick this only if you know it: people in both would be counted twice.",
        )
    {"upload": _upload, "earlier": _earlier, "simulated": _simulated}[chosen](state, subject)


def _upload(state: Session, subject: Kit) -> None:
    def take(uploads: list[Any]) -> None:
        files = [(upload.name, upload.getvalue()) for upload in uploads]
        collecting.counting(state, subject, collecting.reading(state, subject, lambda: files)).start()

    take_file(
        state,
        "reports",
        "Files of reports (CSV or Parquet), which are counted at once",
        take,
        type=ENDINGS,
        accept_multiple_files=True,
        help=f"{promises.reports_in_memory()} {promises.forgetting()}",
    )
    st.caption(
        "The columns are report, and design and id where you have them; or report and reports (how many) where something else has "
        "counted. An id counts once in all files together, also in those of other days."
    )


def _earlier(state: Session, subject: Kit) -> None:
    take_file(
        state,
        "earlier",
        "A collection downloaded here, or the --state of the command line (.npz)",
        lambda file: collecting.counting(state, subject, collecting.earlier(state, subject, file.getvalue())).start(),
        type=["npz"],
        help="Its reports are added to those counted so far, exactly: day by day, or one server's to another's.",
    )
    st.caption(
        "A collection holds counts, and digests of ids: a report that is sent again another day is left out. Open the collection of the days "
        "before first, then count the new files; two collections with ids in common are not added up."
    )


def _simulated(state: Session, subject: Kit) -> None:
    design, seed = state.setting, state.configuration.simulation.seed
    number = min(design.users, limits.MOST_DRAWN_PEOPLE)
    say.caption(
        "Walk the whole way before anybody is asked: simulated reports of {number} people of "
        "{population}. They are marked as simulated; never mix them with those of real people.",
        number=wording.count(number),
        population=design.population,
    )
    drawn = lambda: collecting.simulated(subject, design.counts, seed)  # noqa: E731
    counting = collecting.counting(state, subject, collecting.reading(state, subject, lambda: [(SIMULATED, drawn())]))
    with layout.actions():
        button("Count simulated reports", "count", "play_arrow", counting.start, type="primary")
        layout.download(
            "Download them (CSV)",
            drawn,
            f"{layout.file_name(Path(SIMULATED).stem)}.csv",
            "text/csv",
            "download-simulated",
        )
