"""The groups of queries at the top of the Workload page: controls for each by its kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import streamlit as st

from ldp_core import wording, workloads
from ldp_core.designs import Setting
from ldp_core.workloads import Axis, WorkloadPart
from pages.ui import layout, say, verdict_panel
from pages.ui.controls import button, control
from pages.ui.session.state import Session
from pages.ui.workload.adding import another
from pages.ui.workload.kinds import (
    KINDS,
    edited,
    examples,
    known_columns,
    next_group,
    offered,
    read_conditions,
    read_weight,
    starting,
    usable,
    write_conditions,
)
from pages.ui.workload.parts import checked, parts_of, remove, replace

FOLDED_FROM = 4
"""So many groups of questions are a list, of lines that open."""
SHOWN_SETS = 20
SHOWN_LABELS = 6
NOT_COMPARED = ("difference", "share", "slope", "moments", "matrix", "mean", "mean_rank", "total")
AVERAGES = ("mean", "mean_rank")
NOT_WITHIN = ("matrix", "share", "slope")
NO_OTHER = "–"
"""Stands for no third attribute."""


@dataclass(frozen=True)
class Group:
    """A group on screen: its place among all, and the attributes it can ask about."""

    state: Session
    place: int
    axes: Sequence[Axis]

    def become(self, part: WorkloadPart) -> None:
        """ValueError with a sentence where these questions do not fit the attributes; then nothing has changed."""
        replace(self.state, self.place, checked(part, self.axes))


def groups(state: Session, design: Setting, axes: Sequence[Axis]) -> None:
    """All groups, each in its box, and the box for another one."""
    parts = parts_of(state)
    answerable = design.has_questions
    queries = [line.workload.num_queries for line in design.answers.lines] if answerable else [None] * len(parts)
    comes_to = verdict_panel.in_words(state) if answerable else [""] * len(parts)
    for i, (part, many, said) in enumerate(zip(parts, queries, comes_to, strict=True)):
        group = Group(state, i, axes)
        title = (
            say.text("**{part}**: {said}", part=wording.shortened(part.summary), said=said)
            if said
            else say.plain(part.summary)
        )
        if len(parts) >= FOLDED_FROM and not design.misfit:
            place = layout.fold(title, f"group-{i}-fold", expanded=state.view.get("added") == i)
        else:
            place = st.container()
        if place is None:
            continue
        with place, layout.controls(f"group-{i}", border=True):
            _heading(group, part, many)
            say.caption("{said}", said=said)
            _kind(group, part)
            _settings(part, group)
            _within(part, group)
            if len(parts) > 1 or part.weight != 1:
                _weight(group, part)
            if design.misfit and not design.expensive:
                say.error("{misfit}", misfit=misfit_of(part, axes))
    another(state, design, axes)
    if known := [axis.name for axis in axes if axis.known]:
        say.caption(
            "The collector knows {known} already: questions are asked within its groups, about the other columns.",
            known=wording.listed(known),
        )


def _setting(
    widget: Callable[..., Any],
    label: str,
    name: str,
    group: Group,
    value: Any,
    part: Callable[[Any], WorkloadPart],
    **options: Any,
) -> None:
    """A widget that shows a setting of a group; what is entered makes it become ``part(entered)``."""
    key, commit = f"group-{group.place}-{name}", lambda entered: group.become(part(entered))
    control(widget, label, key, value, commit, **options)


def _chooser(
    group: Group,
    label: str,
    name: str,
    chosen: str | Sequence[str],
    names: Sequence[str],
    part: Callable[[Any], WorkloadPart],
    help: str | None = None,
) -> None:
    """One or several attributes. Those that the data no longer has stay visible until they are replaced."""
    options = list(dict.fromkeys([*names, *([chosen] if isinstance(chosen, str) else chosen)]))
    if isinstance(chosen, str):
        _setting(st.selectbox, label, name, group, chosen, part, options=options, help=help)
    else:
        _setting(st.multiselect, label, name, group, list(chosen), part, options=options, help=help)


def _number(
    group: Group, label: str, name: str, value: int, low: int, high: int, part: Callable[[int], WorkloadPart]
) -> None:
    """A whole number. One that the data no longer allows stays visible until it is replaced."""
    ends = {"min_value": min(low, value), "max_value": max(high, value)}
    _setting(st.number_input, label, name, group, value, lambda entered: part(int(entered)), **ends)


def _heading(group: Group, part: WorkloadPart, many: int | None) -> None:
    say.markdown("**{summary}**", summary=wording.shortened(part.summary))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if many is not None:
            st.caption(say.plain(wording.plural(many, "answer")), width="content")
        if len(parts_of(group.state)) > 1:
            button(
                "Remove",
                f"group-{group.place}-remove",
                "delete",
                remove,
                group.state,
                group.place,
                type="tertiary",
                help="Removes this group; Undo brings it back.",
            )


def misfit_of(part: WorkloadPart, axes: Sequence[Axis]) -> str:
    """Why a group cannot be asked even on its own, in a sentence; empty where it can."""
    try:
        checked(part, axes)
    except ValueError as error:
        return str(error)
    return ""


def _kind(group: Group, part: WorkloadPart) -> None:
    kinds = [kind for kind in KINDS if kind == part.kind or (kind in offered(group.axes) and kind != "matrix")]
    others = [other for j, other in enumerate(parts_of(group.state)) if j != group.place]
    _setting(
        st.selectbox,
        "Questions",
        "questions",
        group,
        part.kind,
        lambda kind: starting(kind, group.axes, others, part),
        options=kinds,
        format_func=lambda kind: KINDS[kind].title,
        help=KINDS[part.kind].meaning,
    )


def _weight(group: Group, part: WorkloadPart) -> None:
    control(
        st.text_input,
        "Weight",
        f"group-{group.place}-weight",
        f"{part.weight:.12g}",
        lambda text: replace(group.state, group.place, edited(part, weight=read_weight(text))),
        help="How much this group matters compared with the others: its squared errors count weight² times. Answers do not change.",
    )


def _within(part: WorkloadPart, group: Group) -> None:
    """The groups that the questions are asked within: of attributes that these do not name themselves."""
    about = edited(part, by=()).mentions
    others = [name for name in usable("histogram", group.axes) if name not in about]
    if part.by or (others and len(group.axes) > 1 and part.kind not in NOT_WITHIN):
        _chooser(group, "Within each group of (optional)", "by", part.by, others, lambda by: edited(part, by=by))


def _axes_of(part: WorkloadPart, group: Group) -> list[Axis]:
    """The attributes that do not make up the groups."""
    return [axis for axis in group.axes if axis.name not in part.by]


# --- the settings of each kind ---------------------------------------------------------------------------------------


@singledispatch
def _settings(part: WorkloadPart, group: Group) -> None:
    """The settings of a group of this kind."""


@_settings.register
def _about_one(
    part: workloads.HistogramPart
    | workloads.ItemsPart
    | workloads.NumberOfItemsPart
    | workloads.PairsOfItemsPart
    | workloads.MeanRankPart
    | workloads.BeforePart
    | workloads.DaysPart
    | workloads.MeanPart
    | workloads.TotalPart,
    group: Group,
) -> None:
    names = usable(part.kind, group.axes)
    if len(names) > 1 or part.attribute not in names:
        _chooser(group, "Attribute", "attribute", part.attribute, names, lambda name: edited(part, attribute=name))
    if isinstance(part, workloads.MeanPart | workloads.TotalPart) and part.attribute in names:
        say.caption("{caveat}", caveat=part.caveat(group.axes))


@_settings.register
def _along(part: workloads.PrefixPart | workloads.RangesPart, group: Group) -> None:
    names, all_names = usable("prefix", group.axes), usable("histogram", group.axes)
    if len(all_names) > 1 or part.attribute not in names:
        _chooser(group, "Along", "attribute", part.attribute, names, lambda name: edited(part, attribute=name))
    axis = next((axis for axis in group.axes if axis.name == part.attribute), None)
    if isinstance(part, workloads.RangesPart):
        _width(part, group, axis.ordinary if axis is not None else 2)
    if axis is not None and axis.ordinary < axis.size:
        special = " and ".join(axis.labels[axis.ordinary :])
        say.caption("{special}: left out, without a place in the order.", special=special)


def _width(part: workloads.RangesPart, group: Group, widest: int) -> None:
    first = max(1, widest // 8)
    limit = lambda limited: edited(part, width=first if limited else None)  # noqa: E731
    _setting(st.checkbox, "Only up to a width", "limited", group, part.width is not None, limit)
    if part.width is not None:
        _number(group, "Widest range, in types", "width", part.width, 1, widest, lambda w: edited(part, width=w))


@_settings.register
def _rectangles(part: workloads.RectanglesPart, group: Group) -> None:
    names, chosen = usable("rectangles", group.axes), part.attributes

    def along(place: int, name: str) -> WorkloadPart:
        kept = [*chosen[:place], *([name] if name != NO_OTHER else []), *chosen[place + 1 :]]
        return edited(part, attributes=kept)

    _chooser(group, "Along", "first", chosen[0], names, partial(along, 0))
    _chooser(group, "And along", "second", chosen[1], names, partial(along, 1))
    if len(chosen) > 2 or len(names) > 2:
        third = chosen[2] if len(chosen) > 2 else NO_OTHER
        _chooser(group, "And along (a third)", "third", third, [NO_OTHER, *names], partial(along, 2))


@_settings.register
def _marginals(part: workloads.MarginalsPart, group: Group) -> None:
    names = usable("marginals", group.axes)

    def choose(place: int, chosen: list[str]) -> WorkloadPart:
        kept = [together for j, together in enumerate(part.groups) if j != place]
        if not chosen and not kept:
            raise ValueError("Please choose at least one attribute, or other questions.")
        every = [*part.groups[:place], tuple(chosen), *part.groups[place + 1 :]] if chosen else kept
        return edited(part, groups=every)

    for place, together in enumerate(part.groups[:SHOWN_SETS]):
        several, help = len(part.groups) > 1, "Empty it to remove it." if place == 0 else None
        label = say.text("Counted together ({number:,})" if several else "Counted together", number=place + 1)
        _chooser(group, say.plain(label), f"set-{place}", together, names, partial(choose, place), help=help)
    if len(part.groups) > SHOWN_SETS:
        say.caption("And {number:,} more.", number=len(part.groups) - SHOWN_SETS)
    following = next_group(part.groups, names)
    if following is not None:
        more = lambda: group.become(edited(part, groups=[*part.groups, following]))  # noqa: E731
        button("Another pair or triple", f"group-{group.place}-add-set", "add", more, type="tertiary")


@_settings.register
def _k_way(part: workloads.KWayMarginalsPart, group: Group) -> None:
    most = len(usable("histogram", _axes_of(part, group)))
    _number(group, "Attributes counted together (k)", "k", part.k, 1, most, lambda k: edited(part, k=k))


@_settings.register
def _parity(part: workloads.ParityPart, group: Group) -> None:
    names = usable("parity", _axes_of(part, group))
    chosen = part.attributes or names
    most, help = len(chosen), "Those with two values; empty means all of them."
    choose = lambda chosen: edited(part, attributes=None if chosen in ([], names) else chosen)  # noqa: E731
    _chooser(group, "Attributes", "attributes", chosen, names, choose, help=help)
    limit = lambda weight: edited(part, max_weight=None if weight >= most else weight)  # noqa: E731
    now = most if part.max_weight is None else part.max_weight
    _number(group, "Most attributes at once", "max-weight", now, 0, most, limit)


@_settings.register
def _conditions(part: workloads.PredicatesPart, group: Group) -> None:
    axes = group.axes
    _setting(
        st.text_area,
        "Conditions, one per line",
        "conditions",
        group,
        write_conditions(part.predicates, axes),
        lambda text: edited(part, predicates=read_conditions(text, axes)),
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
            labels = ", ".join(workloads.quoted(label) for label in axis.labels[:SHOWN_LABELS])
            labels += f" and {axis.size - SHOWN_LABELS:,} more" if axis.size > SHOWN_LABELS else ""
            say.caption("**{name}**: {labels}", name=workloads.quoted(axis.name), labels=labels)


@dataclass(frozen=True)
class Inner(Group):
    """The question of a difference or a share, as a group of its own on screen."""

    whole: workloads.DifferencePart | workloads.SharePart
    every: Sequence[Axis]

    def become(self, part: WorkloadPart) -> None:
        replace(self.state, self.place, checked(edited(self.whole, of=part), self.every))


def _question(
    label: str, part: workloads.DifferencePart | workloads.SharePart, group: Group, apart: Sequence[str], averages: bool
) -> None:
    """The question that a difference or a share is about, among the attributes that are not kept ``apart``."""
    others = [axis for axis in group.axes if axis.name not in apart]
    inner = Inner(group.state, group.place, others, part, group.axes)
    fits = [kind for kind in offered(others) if kind not in NOT_COMPARED or (averages and kind in AVERAGES)]
    kinds = [kind for kind in KINDS if kind == part.of.kind or kind in fits]
    options = {"options": kinds, "format_func": lambda kind: KINDS[kind].title}
    _setting(st.selectbox, label, "of", inner, part.of.kind, lambda kind: starting(kind, others), **options)
    _settings(part.of, inner)


@_settings.register
def _share(part: workloads.SharePart, group: Group) -> None:
    names = [name for name in usable("share", group.axes) if name not in part.of.mentions]

    def choose(within: list[str]) -> WorkloadPart:
        if not within:
            raise ValueError("Please choose at least one attribute whose groups the shares are of.")
        return edited(part, within=within)

    _chooser(group, "Within each group of", "within", part.within, names, choose)
    _question("Questions", part, group, part.within, averages=False)


@_settings.register
def _difference(part: workloads.DifferencePart, group: Group) -> None:
    axes = {axis.name: axis for axis in group.axes}

    def compare(name: str) -> WorkloadPart:
        second, first = axes[name].labels[:2]
        return edited(part, attribute=name, first=first, second=second)

    names = [name for name in usable("difference", _axes_of(part, group)) if name not in part.of.mentions]
    _chooser(group, "Compare by", "compared", part.attribute, names, compare)
    labels = list(axes[part.attribute].labels) if part.attribute in axes else []

    def choose(name: str, other: str, label: str) -> WorkloadPart:
        swapped = {other: getattr(part, name)} if label == getattr(part, other) else {}
        return edited(part, **{name: label}, **swapped)

    _chooser(group, "In", "first", part.first, labels, partial(choose, "first", "second"))
    _chooser(group, "minus in", "second", part.second, labels, partial(choose, "second", "first"))
    others = [axis for axis in _axes_of(part, group) if axis.name != part.attribute]
    counted = starting("histogram", others) if part.of.averages else part.of
    shares = lambda on: edited(part, shares=on, of=part.of if on else counted)  # noqa: E731
    _setting(st.checkbox, "Shares or averages of each group", "shares", group, part.shares, shares)
    _question("Questions compared", part, group, [part.attribute, *part.by], averages=part.shares)


@_settings.register
def _moments(part: workloads.MomentsPart, group: Group) -> None:
    names = usable("moments", group.axes)
    _chooser(group, "Columns", "attributes", part.attributes, names, lambda chosen: edited(part, attributes=chosen))


@_settings.register
def _slope(part: workloads.SlopePart, group: Group) -> None:
    _chooser(group, "Answer", "of", part.of, usable("slope", group.axes), lambda name: edited(part, of=name))

    def choose(on: list[str]) -> WorkloadPart:
        if not on:
            raise ValueError("Please choose at least one column that the collector knows.")
        return edited(part, on=on)

    _chooser(group, "Changes with", "on", part.on, known_columns(group.axes), choose)


@_settings.register
def _matrix(part: workloads.MatrixPart, group: Group) -> None:
    say.caption(
        "{rows:,} x {columns:,} numbers. For another file, add a group and remove this one.",
        rows=part.rows,
        columns=part.columns,
    )


@_settings.register
def _types(part: workloads.TypesPart, group: Group) -> None:
    axes = _axes_of(part, group)
    n = math.prod(axis.size for axis in axes)
    families = workloads.kinds_for(n)

    def choose(family: str, **parameters: int) -> WorkloadPart:
        needed = workloads.parameter(family, n)
        if needed is not None:
            parameters = {needed.name: needed.default, **parameters}
        return edited(part, family=family, parameters=parameters)

    _setting(
        st.selectbox,
        "Workload",
        "family",
        group,
        part.family,
        choose,
        options=list(dict.fromkeys([*families, part.family])),
        format_func=lambda family: workloads.ON_TYPES[family].title,
        help=workloads.ON_TYPES[part.family].meaning,
    )
    if needed := workloads.parameter(part.family, n):
        name, value = needed.name, part.parameters.get(needed.name, needed.default)
        change = lambda value: choose(part.family, **{name: value})  # noqa: E731
        _number(group, say.plain(needed.label), needed.name, value, needed.low, needed.high, change)
    if part.family in workloads.OVER_ATTRIBUTES and any(axis.size > 2 for axis in axes):
        say.caption(
            "The {n:,} types are read as {bits} yes-or-no attributes x1, x2, ..., the first type being all no.",
            n=n,
            bits=n.bit_length() - 1,
        )
    elif part.family not in ("histogram", *workloads.OVER_ATTRIBUTES):
        _order_of_types(axes)


def _order_of_types(axes: Sequence[Axis]) -> None:
    if len(axes) > 1:
        st.warning(
            "Several attributes have no common order, so sums along the list of all types mean little. Add running totals or "
            "ranges along one attribute instead."
        )
    elif not axes[0].ordered:
        st.warning(
            "These categories have no natural order, so sums along them depend on how they are listed. Ask how many have each "
            "value instead."
        )
    elif axes[0].ordinary < axes[0].size:
        special = " and ".join(axes[0].labels[axes[0].ordinary :])
        stand = "types {} stand" if axes[0].size - axes[0].ordinary > 1 else "type {} stands"
        say.caption("The {types} at the end of the order.", types=stand.format(special))
