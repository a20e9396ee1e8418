"""Another group of questions for the Workload page: which kind, or a matrix from a file."""

from __future__ import annotations

from collections.abc import Sequence

from ldp_core import workloads
from ldp_core.designs import Setting
from ldp_core.limits import MOST_MATRIX_BYTES, MOST_PARTS
from ldp_core.workloads import Axis
from pages.ui import layout, say
from pages.ui.controls import UNCHANGED, button, pick, take_file
from pages.ui.session.state import Session
from pages.ui.workload.kinds import KINDS, left_out, offered, starting
from pages.ui.workload.parts import add, parts_of


def another(state: Session, design: Setting, axes: Sequence[Axis]) -> None:
    """A choice of kinds, and a button that adds a group of the one chosen; below it, which kinds are not offered, and why."""
    kinds = offered(axes)
    if kinds and len(parts_of(state)) < MOST_PARTS:
        kind = state.view.get("adding")
        kind = kind if kind in kinds else kinds[0]
        adding, titles = lambda chosen: state.view.update(adding=chosen), {name: KINDS[name].title for name in kinds}
        pick("Add questions", "adding", kind, adding, titles, help=KINDS[kind].meaning)
        if kind == "matrix":
            _upload(state, design, axes)
        else:
            button("Add", "add", "add", lambda: add(state, starting(kind, axes, parts_of(state)), axes))
        if sentences := left_out(axes):
            layout.details(" ".join(sentences))


def _upload(state: Session, design: Setting, axes: Sequence[Axis]) -> None:
    """A matrix is read at once: the uploader forgets it when the page changes."""
    first, second, last = (design.labels[place] for place in (0, 1, -1))
    take_file(
        state,
        "matrix",
        say.text("One row per answer, one column for each of the {types:,} types", types=design.domain.size),
        lambda file: add(state, workloads.MatrixPart.from_file(file.getvalue(), axes), axes),
        UNCHANGED,
        type=["csv", "txt", "tsv", "npy", "npz"],
        max_upload_size=MOST_MATRIX_BYTES // 1_000_000,
        help=f"The columns are in the order of the types: {first}; {second}; ...; {last}. A first column may name the answers.",
    )
