"""The choices of the Design page: how private, which mechanism, and whose error it makes small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from ldp_core import beliefs, designs, library, wording
from ldp_core.library import Spec
from ldp_core.limits import MOST_MATRIX_BYTES
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from pages.ui import layout, privacy_accuracy, say
from pages.ui.controls import UNCHANGED, change, control, other_targets, pick, take_file
from pages.ui.priors import histogram_box
from pages.ui.session.state import Session, choose_mechanism
from pages.ui.words import CASES, case_title

AUTOMATIC = "automatic"
"""The value of a choice that is left to the mechanism."""
SLIDER_LOW, SLIDER_HIGH = 0.1, 5.0
GROUPS = {
    "recommended": ("optimized",),
    "optimised": ("optimized_gradient", "matrix_l1", "matrix_l2"),
    "histogram": (
        *("randomized_response", "subset_selection", "rappor", "oue", "olh", "hadamard", "projective_geometry"),
        *("hrr", "projected_hadamard"),
    ),
    "ordered": ("hierarchical", "hierarchical_2d", "haar", "square_wave"),
    "marginals": ("fourier",),
    "several items": ("privset",),
    "means": ("duchi", "piecewise", "hybrid"),
    "noise": ("gaussian", "rejection_gaussian", "ball_sampling", "adaptive"),
    "surveys": ("sampled_sets",),
    "open values": ("utility_randomized_response", "utility_rappor"),
    "yours": ("own",),
}
"""Mechanisms are grouped by purpose."""
PARAMETERS = {
    "branching": "Branching factor",
    "size": "Size of a set",
    "max_weight": "Largest weight of a parity",
    "queries": "Queries besides the types",
    "rows": "Rows of the strategy",
}
MEANINGS = {
    "size": "How many types a report names. Left empty, the best for a histogram.",
    "blocks": "A power of two. Left empty, what the paper chooses at this epsilon.",
    "max_weight": "How many attributes a parity may be about. Left empty, what the questions need.",
    "queries": "How many numbers a report has beyond one for each type. Left empty, one for every 16 types.",
    "delta": "The guarantee may fail by this much: far less than one over the number of people. Left empty, 0.000001.",
    "shares": "How often each part is drawn: evenly, or fitted to the questions. For a tree, also numbers typed here, one for each "
    "level and that of the types first: 5 3 2.",
    "rows": "How many different reports there are to choose from, at least one for each type. Left empty, four for each.",
    "window": "How many types on either side of the true one a report favours. Left empty, what the paper chooses at this epsilon.",
    "order": "A prime power: a report favours about one type in so many. Left empty, the best for a histogram.",
    "kind": "Which sets of types a report can name: those of the best design known here, or those of a count-mean sketch.",
}


def epsilon_control(state: Session) -> None:
    """Epsilon, to be explored."""
    epsilon = state.configuration.epsilon_value
    control(
        st.slider,
        "Epsilon (← more private)",
        "epsilon-slider",
        min(max(epsilon, SLIDER_LOW), SLIDER_HIGH),
        lambda value: state.change(epsilon=f"{value:g}"),
        min_value=SLIDER_LOW,
        max_value=SLIDER_HIGH,
        step=0.05,
        help=say.text(
            "The privacy parameter of one report. A small epsilon reveals little and needs more people. {risk}",
            risk=privacy_accuracy.risk(state),
        ),
    )


def more_options(state: Session) -> None:
    """Settings that are rarely needed."""
    c, name = state.configuration, state.configuration.mechanism.name
    spec = library.spec(name)
    with layout.more("More options"):
        control(
            st.text_input,
            "Exact epsilon",
            "epsilon-text",
            c.epsilon,
            change(state, "epsilon"),
            help=f"Any number from {MIN_EPSILON:g} to {MAX_EPSILON:g}.",
        )
        control(
            st.number_input,
            "Reports per person (occasions)",
            "reports",
            c.reports_per_user,
            change(state, "reports_per_user"),
            min_value=1,
            max_value=1000,
            help="Separate occasions on which one person sends a report; each is counted as a collection of its own. Their epsilons add up.",
        )
        take = lambda chosen: state.change(mechanism=choose_mechanism(name, **chosen))  # noqa: E731
        for parameter in spec.settings:
            parameter_control(spec, parameter, c.mechanism.parameters, f"choice-{parameter}", take)
        if spec.aimed:
            _aim_controls(state)
        _types_control(state)
        other_targets(state)
        if spec.fitted:
            _search_controls(state)
        _unavailable(state)


def _types_control(state: Session) -> None:
    """A box to keep the types that no question distinguishes. It is left out if there are none."""
    if not state.setting.about_types:
        return
    control(
        st.checkbox,
        "Keep all types for questions asked later",
        "all-types",
        state.configuration.types == "all",
        lambda kept: state.change(types="all" if kept else "distinguished"),
        help="Reports about the types that the questions distinguish need the fewest people, but answer no others. Reports about "
        "all types need more people, often many times as many.",
    )


def total_epsilon(state: Session) -> str:
    """The total of several reports of one person; empty for one report."""
    c = state.configuration
    if c.reports_per_user == 1:
        return ""
    yes_or_no = state.setting.domain.size == 2
    kept = beliefs.memory_in_words(c.epsilon_value, c.reports_per_user) if yes_or_no else ""
    return (
        f"In total epsilon {wording.significant(c.total_epsilon, 4)} per person: {c.reports_per_user:,} reports of {c.epsilon} each. "
        f"{privacy_accuracy.risk(state)} {kept}"
    )


def mechanism_control(state: Session) -> None:
    """The mechanisms that can run here, by group, and the chosen one."""
    name, spec = state.configuration.mechanism.name, library.spec(state.configuration.mechanism.name)
    reasons, order = state.setting.unsuitable, list(GROUPS)
    control(
        st.selectbox,
        "Mechanism",
        "mechanism",
        name,
        lambda chosen: state.change(mechanism=choose_mechanism(chosen)),
        options=sorted(
            (n for n in library.REGISTRY if n not in reasons or n == name),
            key=lambda n: order.index(group(n)),
        ),
        format_func=lambda n: (
            library.spec(n).full_title + ("" if n == name else f" · {group(n)}")
        ),  # the box has room for a name
        help=f"Made for {spec.made_for}. {wording.capital(spec.privacy)}-LDP. Bits per report: {spec.bits}. Source: {spec.paper}.",
    )


def group(name: str) -> str:
    """The group of a mechanism: one of `GROUPS`."""
    return next(kind for kind, names in GROUPS.items() if name in names)


def file_control(state: Session) -> None:
    """The file of a mechanism that comes from one; it is read at once, as the uploader forgets it when the page changes."""
    if not library.spec(state.configuration.mechanism.name).from_file:
        return
    types = state.setting.domain.size

    def take(file: Any) -> None:
        matrix = library.own.packed(file.getvalue(), types, state.setting.labels)
        state.change(mechanism=choose_mechanism("own", matrix=matrix))

    take_file(
        state,
        "own",
        say.text("One row per report, one column for each of the {types:,} types", types=types),
        take,
        UNCHANGED,
        type=["csv", "txt", "tsv", "npy", "npz"],
        max_upload_size=MOST_MATRIX_BYTES // 1_000_000,
        help="Each number is how likely people of that type send that report, so every column sums to 1. A file with a row for each "
        "type, where rows sum to 1, is turned round. It is audited and kept in this design and its file.",
    )


def _unavailable(state: Session) -> None:
    """The mechanisms that cannot run here, and why."""
    if reasons := state.setting.unsuitable:
        with st.expander(say.text("{number} unavailable (why?)", number=wording.plural(len(reasons), "mechanism"))):
            for name, reason in reasons.items():
                say.markdown("- **{title}**: {reason}", title=library.spec(name).title, reason=reason)


def parameter_control(
    spec: Spec, parameter: str, chosen: Mapping[str, Any], key: str, commit: Callable[[dict[str, Any]], None]
) -> None:
    """One parameter of a mechanism, of those ``chosen``; ``commit`` gets them all once it is changed."""
    kind, others = spec.settings[parameter], {name: value for name, value in chosen.items() if name != parameter}
    label, meaning = PARAMETERS.get(parameter, parameter.capitalize()), MEANINGS.get(parameter)
    if kind.offered:
        offered = [AUTOMATIC, *kind.offered] if kind.optional else [*kind.offered]
        now = chosen.get(parameter, offered[0])
        values = dict.fromkeys([*offered, now])  # a variant, or a file, may have another

        def choose(value: Any) -> None:
            more = {} if value == AUTOMATIC else {parameter: kind.read(parameter, value) if kind.typed else value}
            commit({**others, **more})

        control(
            st.selectbox,
            say.plain(label),
            key,
            now,
            choose,
            accept_new_options=kind.typed,
            options=list(values)
            if isinstance(kind.offered[0], str)
            else sorted(values, key=lambda v: (isinstance(v, str), v)),
            format_func=lambda value: str(value).replace("_", " "),
            help=meaning,
        )
        return
    control(
        st.text_input,
        say.plain(label),
        key,
        str(chosen.get(parameter, "")),
        lambda text: commit({**others, parameter: kind.read(parameter, text)} if text.strip() else others),
        help=meaning,
    )


def _set_optimizer(state: Session, **changes: Any) -> None:
    settings = {**state.configuration.optimizer.model_dump(), **changes}
    state.change(optimizer=designs.configuration.Optimizer(**settings))


def _aim_controls(state: Session) -> None:
    """Whose error the optimiser makes small, and a histogram of one's own where that is meant."""
    c, design = state.configuration, state.setting
    if reason := state.setting.only_case:
        st.caption(say.plain(reason))
        return
    pick(
        "Optimise for",
        "aim",
        c.aim,
        lambda aim: _set_optimizer(state, aim=aim),
        {case: case_title(case).capitalize() for case in CASES},
        help="People needed are for the error in this case, and the mechanism is fitted to it. The worst case holds whatever "
        "values people turn out to have.",
    )
    if c.aim == "people" and design.on_data:
        st.warning(
            "The strategy is fitted to this data, and an export of it holds the share of every type. Pass it on only if these are "
            "not secret; the worst case, or last year's histogram, reveals nothing about this data."
        )
    if c.aim == "histogram":
        histogram_box(state, "histogram")
        if "histogram" not in state.setting.cases:
            st.info("Until a histogram is given for every type, the worst case counts.")


def _search_controls(state: Session) -> None:
    """How long the optimiser searches, and from where."""
    c = state.configuration
    control(
        st.number_input,
        "Search for at most (seconds)",
        "time-limit",
        int(state.setting.search_seconds),
        lambda seconds: _set_optimizer(state, time_limit=float(seconds)),
        min_value=1,
        max_value=3600,
        step=10,
        help="The search ends earlier once it is proved to be within 0.1 % of the best possible.",
    )
    first = designs.choices.first_seconds(state.setting.fitted_types)
    if state.setting.workload.survey is None and first > state.setting.search_seconds / 10:
        say.caption("The first strategy takes about {time} here, whatever this limit is.", time=wording.duration(first))
    control(
        st.number_input,
        "Optimiser seed",
        "optimizer-seed",
        c.optimizer.seed,
        lambda seed: _set_optimizer(state, seed=int(seed)),
        min_value=0,
        help="The optimiser starts from a random strategy. The seed is no secret and plays no part when reports are sent.",
    )
