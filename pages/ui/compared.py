"""The mechanisms side by side, including several variants of one, and the button that makes one of
them the design's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from ldp_core import library
from ldp_core.analysis import WORST_CASE
from ldp_core.designs import choices
from pages.ui import say
from pages.ui.controls import button, change, pick, several
from pages.ui.design.settings import parameter_control
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.tasks import work
from pages.ui.words import case_title


def compared_control(state: Session) -> None:
    """The mechanisms in the comparison, the same on every page."""
    mechanisms_control(state, "compared", state.setting.in_comparison, change(state, "compared"))
    runs = tuple(name for name in choices.offered(state.configuration) if name not in state.setting.unsuitable)
    every = tuple(dict.fromkeys((*state.setting.in_comparison, *runs)))
    label, there = f"All that run here ({len(every)})", set(every) == set(state.setting.in_comparison)
    button(label, "compare-all", "select_all", lambda: state.change(compared=every), disabled=there)


def mechanisms_control(
    state: Session, key: str, names: Sequence[str], commit: Callable[[tuple[str, ...]], None]
) -> None:
    """Some of the mechanisms, of the variants compared and of those that were added here."""
    made = state.view.get("variants", ())
    written: dict[str, str] = {}  # the name of the chosen mechanism alone goes on meaning what is chosen
    offered = choices.offered(state.configuration)
    for name in (*names, *offered, *state.setting.in_comparison, *made):
        written.setdefault(state.setting.named(name), name)
    place = {name: i for i, name in enumerate(offered)}
    ordered = sorted(written, key=lambda name: place.get(library.spec(name).mechanism, len(place)))
    titles = {name: library.spec(name).title for name in ordered}
    now = tuple(dict.fromkeys(map(state.setting.named, names)))
    several("Mechanisms", key, now, lambda chosen: commit(tuple(written[name] for name in chosen)), titles)

    def add(name: str) -> None:
        state.view["variants"] = (*made, name)
        commit((*names, name))

    with st.expander("Add a variant", icon=":material/add:"):
        _variant_controls(state, key, now, add)


def _variant_controls(state: Session, key: str, shown: Sequence[str], add: Callable[[str], None]) -> None:
    """A mechanism with parameters of its own, beside others of its kind."""
    draft = state.view.get("variant", {"name": "hierarchical", "parameters": {}})
    name, spec = draft["name"], library.spec(draft["name"])

    def draw_up(name: str, parameters: dict[str, Any]) -> None:
        state.view["variant"] = {"name": name, "parameters": parameters}

    pick(
        "Mechanism",
        f"variant-{key}",
        name,
        lambda chosen: draw_up(chosen, {}),
        {known: library.spec(known).title for known in library.names() if library.spec(known).settings},
    )
    for parameter in spec.settings:
        parameter_control(
            spec, parameter, draft["parameters"], f"variant-{key}-{parameter}", lambda chosen: draw_up(name, chosen)
        )
    words = spec.chosen(draft["parameters"])
    # Without parameters, its name alone would mean the chosen mechanism if that is another variant.
    variant = library.variants.variant(spec, words).name if words or state.setting.named(name) != name else name
    there = state.setting.named(variant) in shown
    title = library.spec(variant).title
    button(f"{title} is there already" if there else f"Add {title}", f"add-{key}", "add", add, variant, disabled=there)


def case_control(state: Session, key: str, case: str, cases: Iterable[str]) -> str:
    """Whose error counts among these ``cases``, at first in this ``case``; a sentence where there is no choice."""
    titles, case = {name: case_title(name).capitalize() for name in cases}, state.view.get("case", case)
    case = case if case in titles else WORST_CASE.name
    if len(titles) == 1:
        st.caption(
            say.plain(
                state.setting.only_case or "The worst case counts: it is the only one that all of these designs have."
            )
        )
        return case
    choose = lambda chosen: state.view.update(case=chosen)  # noqa: E731
    help = "People needed, bounds and gaps are all for the same people: the worst type, an even spread, or yours."
    return str(pick("Optimise for", key, case, choose, titles, help=help))


def offer_fits(pairs: Sequence[tuple[Session, str]], key: str, label: str, **options: Any) -> None:
    """A button that fits the named mechanism of each design, in the same words on every page; says what went wrong."""
    fits = [work.fit(state, name) for state, name in pairs]
    running = any(fit.running is not None for fit in fits)

    def start() -> None:
        for state, name in pairs:
            work.start_fit(state, name)

    about = "Fits each to your workload in the background; it takes part when it is ready."
    button("Fitting" if running else label, key, "play_arrow", start, disabled=running, help=about, **options)
    for fit in fits:
        say.error("{error}", error=fit.error)


def to_include(names: Sequence[str]) -> str:
    """The words of a button that fits these mechanisms."""
    many = f"{len(names)} mechanisms"
    return f"Fit and include {many if len(names) > 2 else ' and '.join(library.spec(name).title for name in names)}"


def use_control(state: Session, names: Iterable[str]) -> None:
    """Takes one of the mechanisms compared, with its parameters, into the design."""
    others = [name for name in names if name != state.setting.chosen]
    if not others:
        return
    with st.popover("Choose this mechanism", icon=":material/check:"):
        for name in others:
            button(f"Choose {library.spec(name).title}", f"use-{name}", "", use, state, name, width="stretch")


def use(state: Session, name: str) -> None:
    """The mechanism or variant ``name`` becomes that of the design; those compared stay what they are."""
    taken = library.spec(name)

    def kept(name: str) -> str:
        spec = library.spec(state.setting.named(name))
        if spec.mechanism == taken.mechanism and taken.fixed and not spec.fixed:
            return library.variants.variant(library.spec(spec.mechanism), {}).name
        return spec.name

    compared = tuple(dict.fromkeys(map(kept, state.setting.in_comparison)))
    state.change(mechanism=choose_mechanism(name), compared=compared)
