"""Every bound and prediction of the papers for the design available: one picture, and one list of what each says and whether it applies."""

from contextlib import suppress

import streamlit as st

from ldp_core import charts, library, wording
from ldp_core.bounds.theorems.statements import KINDS, Setting
from ldp_core.studies import theorems
from pages.ui import later, layout, proving, say
from pages.ui.bounds import entries, subject
from pages.ui.tasks import work
from pages.ui.words import case_meaning, people, weighting

MEANING = (
    "The minimum is proved for all unbiased mechanisms, those that are right on average, with pure epsilon, which no report exceeds. Three proofs are "
    "below: two from the singular values of the questions, which say how many different things they ask, and a certificate, numbers that anybody can check."
)

state = layout.open_page(
    "Bounds",
    "What no mechanism can beat, what the papers predict, and where yours stands.",
)
design = layout.need_design(state)
c, name = state.configuration, state.configuration.mechanism.name
spec = library.spec(name)
title = state.setting.titled(state.setting.chosen)

mechanism, exact, variance = None, None, None
problem: ValueError | None = None
try:  # predictions are about mechanisms whose errors take too long, too
    mechanism = state.setting.priced(name) if spec.needs_workload else state.setting.mechanism(name)
    if mechanism is not None and work.priced(state, mechanism):
        exact, variance, _ = subject.variances(state, mechanism)
        with suppress(ValueError):
            state.costs_known(mechanism)
except ValueError as error:
    problem = error

about = Setting(design.answers.workload, design.epsilon, design.users, mechanism)
found = subject.entries(state, about, mechanism, exact)
# Errors about a population, and orders without their constant, have no place on an axis with bounds that bind.
table = theorems.table([entry for entry in found if entry.alike])
table["standard_error"] = table["standard_error"].map(design.in_targets)
error_of = lambda variance: design.in_targets(theorems.share(variance, about))  # noqa: E731
limits = [entry for entry in found if entry.statement.kind == "impossible" and entry.variance]
best = max(limits, key=lambda entry: entry.variance or 0.0, default=None)
whose = case_meaning(design.case)

if problem is not None:
    later.instead(problem, f"{title}:", "The bounds and predictions below do without its exact error.", mild=True)
elif mechanism is None:
    say.info("{title} has not been fitted to this design yet, so there is no exact error to compare with.", title=title)
    st.page_link("pages/design.py", label="Optimise it on the Design page", icon=":material/arrow_forward:")
elif exact is None:
    say.info("The exact error of {title} is being worked out.", title=title)


def verdict() -> str:
    """How close the mechanism is to what no mechanism can beat."""
    if mechanism is not None and mechanism.delta > 0:
        return f"{title} has a delta: what is impossible for pure epsilon may be possible for it."
    if best is None:
        return f"At epsilon {c.epsilon} the lower bounds say nothing."
    if mechanism is not None and variance is not None:
        needs = f"needs at most {wording.gap(gap)}" if (gap := design.gap(mechanism)) > 0 else "reaches"
        return f"{title} {needs} the proved minimum{design.mean_of}."
    return f"No mechanism can have less than {design.error_scale.in_words(error_of(best.variance or 0.0))}."


def sentence() -> str:
    """The numbers of the picture."""
    words: list[str] = []
    if variance is not None:
        words.append(
            say.text(
                "**{title}** has {error}, worked out exactly",
                title=title,
                error=design.error_scale.in_words(error_of(variance)),
            )
        )
    if best is not None and not (mechanism is not None and mechanism.delta):
        least = design.error_scale.in_words(error_of(best.variance or 0.0))
        words.append(f"no unbiased mechanism {design.kept} can have less than {least} ({best.statement.title})")
    return (
        say.join(
            ": ", filter(None, [f"{wording.capital(whose)}, with your {people(design.users)}", say.join("; ", words)])
        )
        + "."
    )


def elsewhere() -> str:
    """The people that predictions are about, where the design is for others; with the exact error of its mechanism there."""
    if design.only_case or design.case == design.even_case:
        return ""
    known = "" if exact is None else f", for whom {title} has {design.error_scale.in_words(error_of(exact))}"
    return f"Predictions are averages over people spread evenly over the types{known}."


with st.container(key="verdict"):
    st.markdown(say.plain(verdict()), help=MEANING)
layout.chart(
    lambda look: charts.on_one_axis(
        table, None if variance is None else error_of(variance), name, look, design.error_scale
    ),
    sentence(),
    "bounds",
    table,
    title=f"Standard error, {whose}",
)
if behind := " ".join(filter(None, [elsewhere(), weighting(state.configuration)])):
    layout.details(behind)
if any(entry.statement.kind == "impossible" and not entry.reason for entry in found):
    proving.controls(state, design.case)

for kind, words in KINDS.items():
    entries.of_kind(state, words, [entry for entry in found if entry.statement.kind == kind])
entries.silent(found)

layout.how_computed(
    say.text(
        r"In the formulas $n$ is the number of types, $N$ of people, $d$ of queries, $W$ their matrix with singular values $\sigma$ and "
        r"$G = W^\top W$; $V_F = 4 e^\varepsilon/(e^\varepsilon - 1)^2$, $B$ a branching factor, $r$ the length of a range, or of the longest column "
        "of $W$ for few people. The error of a formula is the total squared error per person: the variance one person adds, summed over the "
        "queries. Divided by $d N$, its root is the standard error of a typical query; divided by $d$ and the squared target error it is the people "
        "needed. Where a number of the group for few people changes with $N$, the people needed are the least for which the theorem promises the target. "
        "Errors about the population people are drawn from hold the chance of who takes part; the exact error is compared with them with that "
        "chance counted in."
    )
)
