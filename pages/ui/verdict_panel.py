"""The verdict on a design's answers, in the same words on every page: usable, rough or noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

import pandas as pd
import streamlit as st

from ldp_core import analysis, library, verdicts, wording
from ldp_core.designs import Setting
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.workloads import Detect
from pages.ui import later, listing, say
from pages.ui.controls import button, plan_with
from pages.ui.session.state import Session
from pages.ui.tasks import work

FEW_TYPES = 4
"""Two groups and yes or no: fewer types would leave nothing to ask."""


def judged(state: Session, mechanism: Mechanism) -> pd.DataFrame | None:
    """The answers of the design with their errors and verdicts; None while they are computed, take too long, or are not available,
    which is said."""
    design = state.setting
    if analysis.too_many_types(design.workload):
        return None
    key = ("judged", mechanism.digest, design.certificate_key(design.case), design.naming, design.people.digest)
    quick = mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES
    return later.value(state, key, "judging the answers", lambda cancel: design.answered(mechanism), quick=quick)


def headline(state: Session, mechanism: Mechanism) -> pd.DataFrame | None:
    """The verdict as the largest text of the page, and below it a line a question. Returns the answers judged, once they are."""
    place = st.container(key="verdict")
    found = judged(state, mechanism)
    design = state.setting
    place.markdown(say.plain(design.verdict(mechanism, singly=found is not None)), help=say.plain(explained(state)))
    lines = design.answers.lines
    if found is not None and (
        len(lines) > 1 or lines[0].workload.num_queries == 1
    ):  # else the headline has said it all
        show_lines(design.lines(mechanism, alone(state, design)))
    return found


def alone(state: Session, design: Setting) -> list[tuple[float, bool]]:
    """What each question would be if nothing else were asked: at best what is proved until a search has ended, which begins here, after the verdict."""
    if len(design.answers.lines) == 1:
        return []
    key, found = ("alone", design.certificate_key(design.case), design.answers.norm, design.people.digest), None
    with suppress(ValueError):
        found = later.ask(
            state, key, "working out what each question costs alone", lambda cancel: design.alone(cancel=cancel)
        )
    if found is not None:
        return found
    return design.alone(search=False) if design.workload.working_types <= AT_ONCE_TYPES else []


def in_words(state: Session) -> list[str]:
    """What each question comes to, for where it is asked, once the mechanism is known, which is fitted where that takes seconds; else empty."""
    design, name = state.setting, state.setting.chosen
    try:
        work.fit_unasked(state, name)
        mechanism = design.mechanism(name)
        if mechanism is not None and work.priced(state, mechanism) and judged(state, mechanism) is not None:
            records = design.lines(mechanism, alone(state, design)).to_dict("records")
            return [f"{wording.capital(verdicts.comes_to(line))}." for line in records]
    except ValueError:  # which Design says
        pass
    waiting = "Its error is being worked out." if work.fit(state, name).running else ""
    return [waiting] * len(design.answers.lines)


def show_lines(lines: pd.DataFrame | None, title: str = "What each question comes to.") -> None:
    """A line a question, in the words of `verdicts.line_cells`."""
    if lines is None:
        return
    table = pd.DataFrame([verdicts.line_cells(line) for line in lines.to_dict("records")])
    listing.show_words(table.loc[:, (table != "").any()], title)


def show(state: Session, mechanism: Mechanism) -> None:
    """The verdict; where no answer is usable, what would help."""
    found = headline(state, mechanism)
    if found is not None and not (found["verdict"] == verdicts.USABLE).any():
        _what_helps(state, mechanism)


def explained(state: Session) -> str:
    """The rule, with the targets of this design."""
    return f"{wording.capital(state.setting.targets_in_words)}. {verdicts.RULE}"


def _what_helps(state: Session, mechanism: Mechanism) -> None:
    """Buttons and links, each with its number; none that cannot help."""
    design = state.setting
    needed = design.users_needed(mechanism, design.case)
    with st.container(horizontal=True, vertical_alignment="center", key="what-helps"):
        epsilon = _epsilon_needed(state) if needed > design.users else None
        if epsilon is not None:
            button(
                f"Epsilon {float(epsilon):g}",
                "try-epsilon",
                "lock_open",
                lambda: state.change(epsilon=epsilon),
                type="tertiary",
                help="The least with which every question meets its target, as “Solve for” finds it.",
            )
        if needed > design.users:
            plan_with(state, needed, "try-people", type="tertiary")
        if (questions := len(design.answers.lines)) > 1:
            st.page_link(
                "pages/workload.py",
                label=say.text("Fewer questions (now {questions:,})", questions=questions),
                icon=":material/quiz:",
            )
        if (types := design.fitted_types) > FEW_TYPES:
            st.page_link(
                "pages/data.py",
                label=say.text("Fewer types (now {types})", types=wording.magnitude(types)),
                icon=":material/table_rows:",
            )


def _epsilon_needed(state: Session) -> str | None:
    """The epsilon that “Solve for” finds for the mechanism of the design; None while that is not known. What has to be fitted for it
    is left to “Solve for”."""
    task = work.least_epsilon(state, None)
    if task.result is None and not library.spec(state.setting.chosen).fitted:
        with suppress(ValueError):
            return task.get()
    return task.result


def detects(design: Setting) -> bool:
    """True if a difference is to be found."""
    return any(isinstance(line.target, Detect) for line in design.answers.lines)


def proved(design: Setting, mechanism: Mechanism, case: str, least: str) -> str:
    """What is proved of the ``least`` people, and how near a mechanism is to it where they are not what its people needed are: of noise alone where a
    difference is to be found, to which the chance of who takes part adds, and on average over the questions."""
    if detects(design) and not mechanism.delta:
        share = math.floor(1000 / math.sqrt(1 + design.gap(mechanism, case))) / 10
        less = "less noise than" if share == 100 else f"less than {share:g} % of the noise of"
        return f"no mechanism has {less} {design.titled(mechanism.name)}{design.mean_of}"
    people, mean = f"nobody can do with fewer than {least}", wording.needed(design.mean_needed(mechanism, case))
    if not design.mean_of or mean == wording.needed(design.users_needed(mechanism, case)):
        return people
    return f"{people} on average over the questions ({design.titled(mechanism.name)}: {mean}); the question that needs the most adds the rest"


def answers(rows: pd.DataFrame, error: str = "standard_error") -> pd.DataFrame:
    """Each answer with its error in its unit and its verdict, for people. ``rows`` has ``name``, ``unit``, ``verdict`` and the column ``error``."""
    bins = rows["bins"] if "bins" in rows else pd.Series(0.0, rows.index)
    shown = [
        "unknown"
        if x != x
        else f"± {verdicts.in_unit(x, key)}{f'; bins add up to {wording.significant(off)}' if off else ''}"
        for x, key, off in zip(rows[error], rows["unit"], bins, strict=True)
    ]
    words = [verdicts.marked(word) for word in rows["verdict"]]
    return pd.DataFrame({"Question": rows["name"].to_numpy(), "Error": shown, "Verdict": words})


def show_answers(state: Session, rows: pd.DataFrame) -> None:
    """The table of `answers` on the page, with what its words mean."""
    listing.show_table(
        answers(rows),
        "What each answer is worth.",
        column_config={"Question": st.column_config.TextColumn(width="large")},
    )
    st.caption(say.plain(explained(state)))


def side_by_side(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each answer, and its error in its unit and the verdict of each mechanism; ``tables``: the answers of each, by its title."""
    first = next(iter(tables.values()))
    columns = {
        title: [f"{verdict}, {error}" for verdict, error in zip(table["Verdict"], table["Error"], strict=True)]
        for title, table in ((title, answers(rows)) for title, rows in tables.items())
    }
    return pd.DataFrame({"Question": first["name"].to_numpy(), **columns})
