"""The groups of queries on the left of the Workload page: each as widgets that fit its kind, and adding another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ldp_core import wording, workloads
from ldp_core.designs.configuration import MAX_PARTS
from ldp_core.workloads import Axis, MatrixPart, Workload, WorkloadPart
from ldp_core.workloads.matrix_files import MAX_BYTES
from pages.ui.controls import control, guarded
from pages.ui.session.state import Session
from pages.ui.words import plain
from pages.ui.workload.choice import add, add_kind, parts_of, remove, replace
from pages.ui.workload.kinds import (
    KINDS,
    edited,
    examples,
    left_out,
    next_group,
    offered,
    read_conditions,
    read_weight,
    starting,
    usable,
    write_conditions,
)

SHOWN_SETS = 20
SHOWN_LABELS = 6


def built(parts: Sequence[WorkloadPart], workload: Workload | None) -> list[Workload | None]:
    """The queries of each group, None where there are none."""
    if workload is None:
        return [None] * len(parts)
    return list(workload.parts) if len(parts) > 1 else [workload]


def groups(state: Session, axes: Sequence[Axis]) -> None:
    """All groups, each in its box, and the box for another one."""
    parts, design = parts_of(state), state.design()
    for i, (part, queries) in enumerate(zip(parts, built(parts, design.workload), strict=True)):
        with st.container(border=True, key=f"group-{i}"):
            _heading(state, i, part, queries)
            _kind(state, i, part, axes)
            _SETTINGS.get(part.kind, lambda *anything: None)(state, i, part, axes)
            if len(parts) > 1 or part.weight != 1:
                _weight(state, i, part)
            if design.misfit and not design.dear:
                _misfit(part, axes)
    _adding(state, axes)


def _heading(state: Session, i: int, part: WorkloadPart, queries: Workload | None) -> None:
    st.markdown(f"**{plain(wording.shortened(part.summary))}**")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if queries is not None:
            st.caption(f"{queries.num_queries:,} quer{'y' if queries.num_queries == 1 else 'ies'}", width="content")
        if len(parts_of(state)) > 1:
            st.button(
                "Remove",
                key=f"group-{i}-remove",
                on_click=guarded,
                args=(state, lambda: remove(state, i)),
                icon=":material/delete:",
                type="tertiary",
                help="Removes this group; Undo brings it back.",
            )


def _misfit(part: WorkloadPart, axes: Sequence[Axis]) -> None:
    try:
        part.build(axes)
    except ValueError as error:
        st.error(plain(str(error)))


def _kind(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    kinds = [kind for kind in KINDS if kind == part.kind or (kind in offered(axes) and kind != "matrix")]
    others = [other for j, other in enumerate(parts_of(state)) if j != i]
    control(
        st.selectbox,
        "Questions",
        f"group-{i}-questions",
        part.kind,
        lambda kind: replace(state, i, starting(kind, axes, others, part)),
        options=kinds,
        format_func=lambda kind: KINDS[kind].title,
        help=KINDS[part.kind].meaning,
    )


def _weight(state: Session, i: int, part: WorkloadPart) -> None:
    control(
        st.text_input,
        "Weight",
        f"group-{i}-weight",
        f"{part.weight:.12g}",
        lambda text: replace(state, i, edited(part, weight=read_weight(text)), asks=False),
        help="How much this group matters beside the others: its squared errors count weight² times. Answers do not change.",
    )


def _chooser(
    state: Session, i: int, part: WorkloadPart, field: str, label: str, names: Sequence[str], several: bool = False
) -> None:
    """One or several attributes; names that the data no longer has stay visible until they are replaced."""
    value = list(getattr(part, field)) if several else getattr(part, field)
    named = value if several else [value]
    control(
        st.multiselect if several else st.selectbox,
        label,
        f"group-{i}-{field}",
        value,
        lambda chosen: replace(state, i, edited(part, **{field: chosen})),
        options=[*names, *(name for name in named if name not in names)],
    )


def _histogram(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    names = usable("histogram", axes)
    if len(names) > 1 or part.attribute not in names:
        _chooser(state, i, part, "attribute", "Attribute", names)


def _along(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    names, all_names = usable("prefix", axes), usable("histogram", axes)
    if len(all_names) > 1 or part.attribute not in names:
        _chooser(state, i, part, "attribute", "Along", names)
    others = [name for name in all_names if name != part.attribute]
    if others or part.by:
        _chooser(state, i, part, "by", "Within each group of (optional)", others, several=True)
    axis = next((axis for axis in axes if axis.name == part.attribute), None)
    if part.kind == "ranges":
        _width(state, i, part, axis)
    if axis is not None and axis.ordinary < axis.size:
        special = " and ".join(axis.labels[axis.ordinary :])
        st.caption(f"{plain(special)} ha{'ve' if axis.size - axis.ordinary > 1 else 's'} no place in the order.")


def _width(state: Session, i: int, part: WorkloadPart, axis: Axis | None) -> None:
    widest = axis.ordinary if axis is not None else 2
    control(
        st.checkbox,
        "Only up to a width",
        f"group-{i}-limited",
        part.width is not None,
        lambda limited: replace(state, i, edited(part, width=max(1, widest // 8) if limited else None)),
    )
    if part.width is not None:
        control(
            st.number_input,
            "Widest range, in types",
            f"group-{i}-width",
            part.width,
            lambda width: replace(state, i, edited(part, width=int(width))),
            min_value=1,
            max_value=max(widest, part.width),
            step=1,
        )


def _marginals(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    names = usable("marginals", axes)

    def choose(place: int, chosen: list[str]) -> None:
        kept = [group for j, group in enumerate(part.groups) if j != place]
        if not chosen and not kept:
            raise ValueError("Please choose at least one attribute, or other questions.")
        every = [*part.groups[:place], tuple(chosen), *part.groups[place + 1 :]] if chosen else kept
        replace(state, i, edited(part, groups=every))

    for place, group in enumerate(part.groups[:SHOWN_SETS]):
        control(
            st.multiselect,
            f"Counted together ({place + 1:,})" if len(part.groups) > 1 else "Counted together",
            f"group-{i}-set-{place}",
            list(group),
            lambda chosen, place=place: choose(place, chosen),
            options=[*names, *(name for name in group if name not in names)],
            help="Empty it to remove it." if place == 0 else None,
        )
    if len(part.groups) > SHOWN_SETS:
        st.caption(f"And {len(part.groups) - SHOWN_SETS:,} more.")
    following = next_group(part.groups, names)
    if following is not None:
        st.button(
            "Another pair or triple",
            key=f"group-{i}-add-set",
            on_click=guarded,
            args=(state, lambda: replace(state, i, edited(part, groups=[*part.groups, following]))),
            icon=":material/add:",
            type="tertiary",
        )


def _k_way(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    many = len(usable("histogram", axes))
    control(
        st.number_input,
        "Attributes counted together (k)",
        f"group-{i}-k",
        part.k,
        lambda k: replace(state, i, edited(part, k=int(k))),
        min_value=1,
        max_value=max(many, part.k),
        step=1,
    )


def _parity(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    names = usable("parity", axes)
    chosen = list(part.attributes or names)
    control(
        st.multiselect,
        "Attributes",
        f"group-{i}-attributes",
        chosen,
        lambda chosen: replace(state, i, edited(part, attributes=None if chosen in ([], names) else chosen)),
        options=[*names, *(name for name in chosen if name not in names)],
        help="Those with two values; empty means all of them.",
    )
    most = len(chosen)
    control(
        st.number_input,
        "Most attributes at once",
        f"group-{i}-max-weight",
        most if part.max_weight is None else part.max_weight,
        lambda weight: replace(state, i, edited(part, max_weight=None if weight >= most else int(weight))),
        min_value=0,
        max_value=max(most, part.max_weight or 0),
        step=1,
    )


def _conditions(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    control(
        st.text_area,
        "Conditions, one per line",
        f"group-{i}-conditions",
        write_conditions(part.predicates, axes),
        lambda text: replace(state, i, edited(part, predicates=read_conditions(text, axes))),
        height=110 if len(part.predicates) < 4 else 220,
        help="A name and a colon may stand before a condition; answers are then shown under that name.",
    )
    with st.expander("How to write them"):
        st.code("\n".join(examples(axes)), language=None, wrap_lines=True)
        st.markdown(
            "Compare an attribute with a value by `=`, `!=`, `<`, `<=`, `>`, `>=`, `in {a, b}` or `between a and b`; join "
            'conditions by `and`, `or`, `not` and parentheses. Names with spaces or signs go in quotes: `"marital status"`.'
        )
        for axis in axes:
            shown = ", ".join(plain(workloads.quoted(label)) for label in axis.labels[:SHOWN_LABELS])
            more = f" and {axis.size - SHOWN_LABELS:,} more" if axis.size > SHOWN_LABELS else ""
            st.caption(f"**{plain(workloads.quoted(axis.name))}**: {shown}{more}")


def _matrix(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    st.caption(f"{part.rows:,} x {part.columns:,} numbers. For another file, add a group and remove this one.")


def _types(state: Session, i: int, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    n = state.design().domain.size
    families = workloads.kinds_for(n)

    def choose(family: str, **parameters: int) -> None:
        needed = workloads.parameter(family, n)
        if needed is not None:
            parameters = {needed.name: needed.default, **parameters}
        replace(state, i, edited(part, family=family, parameters=parameters))

    control(
        st.selectbox,
        "Workload",
        f"group-{i}-family",
        part.family,
        choose,
        options=[*families, *([part.family] if part.family not in families else [])],
        format_func=lambda family: workloads.ON_TYPES[family].title,
        help=workloads.ON_TYPES[part.family].meaning,
    )
    needed = workloads.parameter(part.family, n)
    if needed:
        value = part.parameters.get(needed.name, needed.default)
        control(
            st.number_input,
            needed.label,
            f"group-{i}-{needed.name}",
            value,
            lambda value: choose(part.family, **{needed.name: int(value)}),
            min_value=min(needed.low, value),
            max_value=max(needed.high, value),
            step=1,
        )
    if part.family in ("all_marginals", "k_way_marginals", "parity"):
        st.caption(
            f"The {n:,} types are read as {n.bit_length() - 1:,} yes-or-no attributes x1, x2, ..., the first type being all no."
        )
    elif part.family != "histogram":
        _order_of_types(axes)


def _order_of_types(axes: Sequence[Axis]) -> None:
    if len(axes) > 1:
        st.warning(
            "Several attributes have no common order, so sums along the list of all types mean little. Running totals and "
            "ranges along one attribute are the questions to add."
        )
    elif not axes[0].ordered:
        st.warning(
            "These categories have no natural order, so sums along them depend on how they are listed. How many have each "
            "value asks about each on its own."
        )
    elif axes[0].ordinary < axes[0].size:
        special = " and ".join(axes[0].labels[axes[0].ordinary :])
        several = axes[0].size - axes[0].ordinary > 1
        st.caption(
            f"The type{'s' if several else ''} {plain(special)} stand{'' if several else 's'} at the end of the order."
        )


_SETTINGS: dict[str, Callable[[Session, int, Any, Sequence[Axis]], None]] = {
    "histogram": _histogram,
    "prefix": _along,
    "ranges": _along,
    "marginals": _marginals,
    "k_way_marginals": _k_way,
    "parity": _parity,
    "predicates": _conditions,
    "matrix": _matrix,
    "types": _types,
}


# --- another group ---------------------------------------------------------------------------------------------------


def _adding(state: Session, axes: Sequence[Axis]) -> None:
    kinds = offered(axes)
    if kinds and len(parts_of(state)) < MAX_PARTS:
        kind = state.view.get("adding")
        kind = kind if kind in kinds else kinds[0]
        control(
            st.selectbox,
            "Add questions",
            "adding",
            kind,
            lambda chosen: state.view.update(adding=chosen),
            options=kinds,
            format_func=lambda kind: KINDS[kind].title,
        )
        st.caption(KINDS[kind].meaning)
        if kind == "matrix":
            _upload(state)
        else:
            st.button("Add", key="add", on_click=add_kind, args=(state, kind, axes), icon=":material/add:")
    for sentence in left_out(axes):
        st.caption(sentence)


def _upload(state: Session) -> None:
    """A matrix is read at once: the uploader forgets it when the page changes."""
    design = state.design()
    # A new key after each file empties the uploader, so the same one can be chosen again.
    key = f"matrix-{st.session_state.setdefault('matrices', 0)}"
    first, second, last = (design.labels[place] for place in (0, 1, -1))
    file = st.file_uploader(
        f"One row per query, one column for each of the {wording.count(design.domain.size)} types",
        type=["csv", "txt", "tsv", "npy", "npz"],
        key=key,
        max_upload_size=MAX_BYTES // 1_000_000,
        help=f"The columns in the order of the types: {plain(first)}; {plain(second)}; ...; {plain(last)}. Names of the queries "
        "may come first.",
    )
    if file is not None:
        st.session_state["matrices"] += 1
        state.invalid.pop("matrix", None)
        try:
            add(state, MatrixPart.from_file(file.getvalue(), design.domain))
        except ValueError as error:
            state.invalid["matrix"] = (None, f"{error} What you had set up is unchanged.")
        st.rerun()
    if "matrix" in state.invalid:
        st.error(plain(state.invalid["matrix"][1]))
