"""The verdict on a design's answers, in the same words on every page: usable, rough or noise."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pandas as pd
import streamlit as st

from ldp_core import analysis, library, verdicts, wording
from ldp_core.designs.configuration import DifferenceToDetect
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.privacy import MAX_EPSILON
from ldp_core.run import Cancel
from pages.ui import later, listing
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import plain


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
    """The verdict as the largest text of the page, and what is not usable. Returns the answers judged, once they are."""
    place = st.container(key="verdict")
    found = judged(state, mechanism)
    design = state.setting
    place.markdown(plain(design.verdict(mechanism, singly=found is not None)), help=explained(state))
    if found is not None:
        _lines(state, found)
    return found


def _lines(state: Session, found: pd.DataFrame) -> None:
    """A line a question: what it is now, its error in its own unit, also if nothing else were asked, and the verdict. The headline has said it all
    of a single question of several answers."""
    design, rows = state.setting, []
    if len(design.answers.lines) == 1 < design.answers.lines[0].told.num_queries:
        return
    for line, alone in zip(analysis.lines_of(design.answers, found).to_dict("records"), _alone(state), strict=True):
        unit = plain(verdicts.unit_in_words(line["unit"])).removeprefix("in ")
        error = "nobody in the planning data" if line["standard_error"] != line["standard_error"] else (
            f"± {wording.significant(line['standard_error'])} {unit}"
        )  # fmt: skip
        if line["finds"] == line["finds"]:
            error += f", finds {wording.significant(line['finds'])} and more"
        if bins := found.loc[found["question"] == line["question"], "bins"].max():
            error += f"; bins add up to {wording.significant(bins)}"
        known = design.on_data and line["value"] == line["value"]
        verdict = (
            verdicts.marked(found.loc[found["name"] == line["name"], "verdict"].iloc[0])
            if line["answers"] == 1
            else f"{line['usable']:,} of {line['judged']:,} usable"
        )
        question = line["name"] or line["question"]
        now = wording.significant(line["value"]) if known else ""
        rows.append({"Question": question, "Now": now, "Error": error, "Asked alone": alone, "Verdict": verdict})
    table = pd.DataFrame(rows)
    listing.show_words(table.loc[:, (table != "").any()], "What each question comes to.")


def _alone(state: Session) -> list[str]:
    """The error of each question if nothing else were asked; empty while that is not known, and where there is one question only."""
    design = state.setting
    asked, case = design.answers, design.cases[design.case]
    nothing = [""] * len(asked.lines)
    if len(asked.lines) == 1:
        return nothing

    def find(cancel: Cancel) -> list[float]:
        return [analysis.alone(asked, line, design.epsilon, design.counts, case, cancel) for line in asked.lines]

    key = ("alone", design.certificate_key(design.case), design.people.digest)
    found = later.ask(state, key, "working out what each question costs alone", find)
    return nothing if found is None else [f"± {wording.significant(x)}" if x == x else "" for x in found]


def show(state: Session, mechanism: Mechanism) -> None:
    """The verdict; where no answer is usable, what would help."""
    found = headline(state, mechanism)
    if found is not None and not (found["verdict"] == verdicts.USABLE).any():
        _what_helps(state, mechanism)


def explained(state: Session) -> str:
    """The rule, with the targets of this design."""
    lines = {line.key: line for line in state.setting.answers.lines}
    told = [
        f"{'a difference of ' if isinstance(target, DifferenceToDetect) else '± '}"
        f"{verdicts.in_unit(target.difference if isinstance(target, DifferenceToDetect) else target, key)}"
        f"{' a person' if lines[key].unit.total else ''}"
        for key, target in (state.setting.settled.targets or {}).items()
        if key in lines
    ]
    return f"{plain(wording.capital(wording.listed(told, 6)))}. {verdicts.RULE}"


def _what_helps(state: Session, mechanism: Mechanism) -> None:
    """Buttons and links, each with its number; none that cannot help."""
    design = state.setting
    needed = design.users_needed(mechanism, design.case)
    with st.container(horizontal=True, vertical_alignment="center", key="what-helps"):
        epsilon = _epsilon_needed(state) if needed > design.users else None
        if epsilon is not None:
            button(
                f"Epsilon {epsilon}",
                "try-epsilon",
                "lock_open",
                lambda: state.change(epsilon=epsilon),
                type="tertiary",
                help="The least that reaches the target error in a typical answer, as “Solve for” finds it.",
            )
        if not design.on_data and needed > design.users:
            enough = int(wording.needed(needed).replace(",", ""))
            planned = state.configuration.population.model_copy(update={"users": enough, "origin": "declared"})
            label, act = f"Plan with {wording.count(enough)} people", lambda: state.change(population=planned)
            button(label, "try-people", "group_add", act, type="tertiary")
        if (queries := sum(line.told.num_queries for line in design.answers.lines)) > 1:
            label = f"Fewer questions (now {queries:,})"
            st.page_link("pages/workload.py", label=label, icon=":material/quiz:")
        if (types := design.domain.size) > 2:
            label = f"Fewer types (now {wording.magnitude(types)})"
            st.page_link("pages/data.py", label=label, icon=":material/table_rows:")


def _epsilon_needed(state: Session) -> str | None:
    """The epsilon that “Solve for” finds for the mechanism of the design; None while that is not known. What has to be fitted for it
    is left to “Solve for”."""
    design, name = state.setting, state.setting.chosen
    task = work.plan(state, None, float(design.users), design.alpha, design.case, name)
    found = task.result
    if found is None and not library.spec(name).fitted:
        with suppress(ValueError):
            found = task.get()
    row = None if found is None else found[found["name"] == name]
    if row is None or row.empty or not row["epsilon"].iloc[0] <= MAX_EPSILON:
        return None
    return wording.rounded_up(float(row["epsilon"].iloc[0]), 3)


def explain(state: Session) -> None:
    """The meaning of the words, below their use."""
    st.caption(explained(state))


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
    explain(state)


def side_by_side(told: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each answer, and its error in its unit and the verdict of each mechanism; ``told``: the answers of each, by its title."""
    first = next(iter(told.values()))
    columns = {
        title: [f"{verdict}, {error}" for verdict, error in zip(table["Verdict"], table["Error"], strict=True)]
        for title, table in ((title, answers(rows)) for title, rows in told.items())
    }
    return pd.DataFrame({"Question": first["name"].to_numpy(), **columns})
