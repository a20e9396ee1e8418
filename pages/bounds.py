"""Every bound and prediction of the papers for the design available, on one axis, each with what it says and whether it applies."""

from functools import partial

import streamlit as st

from ldp_core import charts, frames, library, wording
from ldp_core.bounds.theorems.statement import Kind
from ldp_core.bounds.theorems.statements import KINDS
from ldp_core.studies import theorems
from pages.ui import layout
from pages.ui.bounds import entries, panels
from pages.ui.bounds import subject as page
from pages.ui.bounds.subject import GROUPS
from pages.ui.tasks import work
from pages.ui.words import case_meaning, people, plain, weighting

state = layout.open_page(
    "Bounds",
    "What no mechanism can beat, what the papers predict, and where yours stands.",
)
design = layout.need_design(state)
c, name = state.configuration, state.configuration.mechanism.name
spec = library.spec(name)
title = state.setting.titled(state.chosen)

mechanism, exact, own = None, None, None
problem: ValueError | None = None
try:  # predictions are about mechanisms whose errors take too long, too
    mechanism = state.setting.priced(name) if spec.needs_workload else state.setting.mechanism(name)
    if mechanism is not None and work.priced(state, mechanism):
        exact, own = page.variances(state, mechanism)
except ValueError as error:
    problem = error

about = page.setting(state, mechanism)
panels.begin_averages(state, mechanism, about)
found = page.entries(state, about, mechanism, exact)
# Errors about a population, and orders without their constant, have no place on an axis with bounds that bind.
drawn = [entry for entry in found if entry.alike]
table, quantity = theorems.table(drawn), page.quantity(state)
limits = [entry for entry in found if entry.statement.kind == "impossible" and entry.variance]
best = max(limits, key=lambda entry: entry.variance or 0.0, default=None)

page.controls(state, {entry.statement.kind for entry in drawn if entry.variance})
if problem is not None:
    layout.instead(problem, f"{title}:", "The bounds and predictions below do without its exact error.", mild=True)
elif mechanism is None:
    st.info(f"{title} has not been fitted to this design yet, so there is no exact error to compare with.")
    st.page_link("pages/design.py", label="Optimise it on the Design page", icon=":material/arrow_forward:")
elif exact is None:
    st.info(f"The exact error of {title} is being worked out.")


whose = case_meaning(design.case)


def verdict() -> str:
    """How close the mechanism is to what no mechanism can beat."""
    if mechanism is not None and mechanism.delta > 0:
        return f"{title} has a delta: what is impossible for pure epsilon may be possible for it."
    if best is None:
        return f"At epsilon {c.epsilon} the lower bounds say nothing."
    if mechanism is not None and own is not None:
        strongest = charts.title(frames.strongest(design.bounds(design.case)))
        return f"{title} needs at most {wording.gap(design.gap(mechanism))} what the {strongest} allows."
    return f"No unbiased mechanism can have less than {design.error_in_words(best.standard_error or 0.0)}."


def sentence() -> str:
    """The numbers of the picture, as the quantity on its axis."""
    words, in_users = [f"{wording.capital(whose)}, with your {people(design.users)}"], quantity == "users_needed"
    if own is not None:
        shown = page.on_axis(state, own)
        error = plain(design.error_in_words(shown["standard_error"]))
        words.append(f"**{title}**: {wording.users(shown['users_needed']) if in_users else error}, exactly")
    if best is not None and not (mechanism is not None and mechanism.delta):
        error = plain(design.error_in_words(best.standard_error or 0.0))
        least = wording.at_least(best.users_needed or 0.0) if in_users else error
        of = f"no unbiased mechanism with pure epsilon {c.epsilon}"
        words.append(f"{of} can have less than {least} ({best.statement.title})")
    return "; ".join(words) + "."


with st.container(key="verdict"):
    st.markdown(plain(verdict()))
layout.chart(
    lambda look: charts.on_one_axis(
        table[table["kind"].isin(page.groups_shown(state))],
        quantity,
        {} if own is None else page.on_axis(state, own),
        name,
        look,
        design.scale,
    ),
    sentence(),
    "bounds",
    table,
    title=f"{plain(page.QUANTITIES[quantity])}, {whose}",
)

behind = [plain(panels.elsewhere(state, exact)), weighting(state.configuration)]
if any(behind):
    layout.details(" ".join(filter(None, behind)))


def group(kind: Kind) -> None:
    """The statements of one kind, and what belongs to them."""
    st.markdown(KINDS[kind])
    own = [entry for entry in found if entry.statement.kind == kind]
    if kind == "large_sample":
        panels.populations(state, mechanism, about)
    entries.group(state, own, quantity)
    if kind == "impossible":
        if not own[-1].reason:
            panels.certificate(state)
        panels.singular_values(state)
    elif kind == "few_users":
        panels.switches(about, state.setting.scale)
        panels.corrected_lemma(about)


layout.panes(state, "bounds-tabs", [GROUPS[kind] for kind in KINDS], [partial(group, kind) for kind in KINDS])

layout.how_computed(
    r"In the formulas $n$ is the number of types, $N$ of users, $d$ of queries, $W$ their matrix with singular values $\sigma$ and "
    r"$G = W^\top W$; $V_F = 4 e^\varepsilon/(e^\varepsilon - 1)^2$, $B$ a branching factor, $r$ the length of a range, or of the longest column "
    "of $W$ for few users. The error of a formula is the total squared error per user: the variance one user adds, summed over the "
    "queries. Divided by $d N$, its root is the standard error of a typical query; divided by $d$ and the squared target error it is the users "
    "needed. Where a number of the group for few users changes with $N$, the users needed are the least for which the theorem promises the target. "
    "Errors about the population people are drawn from hold the chance of who takes part; the exact error is compared with them with that "
    "chance counted in."
)
