"""Two of epsilon, the number of users and the error fix the third; and which mechanism to take."""

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import analysis, charts, library, limits, verdicts, wording
from ldp_core.limits import MOST_USERS, UNASKED_TYPES
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.run import Progress
from ldp_core.studies import planning
from ldp_core.studies.sweep import BOUNDS
from pages.ui import layout, lazy, listing, privacy_accuracy
from pages.ui.compared import compared_control, fit_button, use, use_control
from pages.ui.controls import case_control, change, control, target_control, whole_number
from pages.ui.formulas import PLAN
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Job
from pages.ui.verdict_panel import explain
from pages.ui.words import cells, gap_in_words, plain, weighting

SOLVED = {"users": "Users", "standard_error": "Error", "epsilon": "Epsilon"}
ANSWERS = {"users": "Users needed", "standard_error": "Error to expect", "epsilon": "Epsilon needed"}
TABS = ["Answer", "Trade-off", "Recommendation"]
# Types up to which exact errors of all mechanisms that need no fit take three seconds; at 2,048 they take 25.
LIMIT = f"The fits share {limits.MOST_PLAN_SECONDS / 60:g} minutes. What is not known then is said, and you can go on from there."

state = layout.open_page(
    "Plan", "Fix two of epsilon, the number of users and the error you can live with; read off the third."
)
design = layout.need_design(state)
c = state.configuration
solved = state.view.get("solved", "users")
users = state.view.get("plan_users") or design.users


def recommend_button() -> None:
    """Starts the recommendation and turns to its tab; to open the tab is to ask for it, where that takes a few seconds."""

    about = (design.workload.digest, design.epsilon, users, state.setting.alpha)

    def start() -> None:
        state.view["recommended"] = about
        work.recommendation(state, users).start()
        st.session_state["plan-tabs"] = TABS[2]

    task = work.recommendation(state, users)
    opened = st.session_state.get("plan-tabs", state.view.get("plan-tabs")) == TABS[2]
    asked = state.view.get("recommended") == about or (opened and design.working_types <= UNASKED_TYPES)
    if task.result is None and task.job is None and asked:
        task.start()  # where it was asked for already, a sharper bound was proved meanwhile or a mechanism fitted
    if task.result is None:
        busy = task.running is not None
        st.button(
            "Working it out" if busy else "Recommend a mechanism",
            type="primary",
            disabled=busy,
            key="recommend",
            on_click=start,
            icon=":material/recommend:",
        )


controls, results = layout.frame()
with controls:
    control(
        st.segmented_control,
        "What do you want to know?",
        "solved",
        solved,
        lambda chosen: state.view.update(solved=chosen or solved),
        options=list(SOLVED),
        format_func=SOLVED.get,
    )
    if solved != "epsilon":
        control(
            st.text_input,
            "Epsilon of one report",
            "plan-epsilon",
            c.epsilon,
            change(state, "epsilon"),
            help=f"Any number from {MIN_EPSILON:g} to {MAX_EPSILON:g}; smaller is more private. It is the one set on the Design page.",
        )
    if solved != "users":
        control(
            st.text_input,
            "Number of users",
            "plan-users",
            f"{users:,}",
            lambda text: state.view.update(plan_users=whole_number(text, "the number of users", 1, MOST_USERS)),
            help=f"How many people you expect to report; {design.users:,} in this design.",
        )
    case = case_control(
        state,
        "plan-case",
        state.view.get("plan_case", state.present.aim(state.chosen)),
        lambda chosen: state.view.update(plan_case=chosen),
        analysis.CASES,
        "{title}, {meaning}",
    )
    target_control(state)
    compared_control(state)
    if weighting(state.configuration):
        st.caption(weighting(state.configuration))
    with layout.actions():
        recommend_button()
        use_control(state, state.setting.side_by_side)

names = state.setting.side_by_side
waiting = state.setting.unfitted(names)
ready = tuple(name for name in names if name not in waiting)
# Only where epsilon is asked for are there fits of the plan's own; else those of the design are taken, as on every page.
with_fits = solved == "epsilon" and state.view.get("plan_fits", False)
question = work.Question(
    epsilon=None if solved == "epsilon" else design.epsilon,
    users=None if solved == "users" else float(users),
    alpha=None if solved == "standard_error" else state.setting.alpha,
    case=case,
    names=names if with_fits else ready,
)
work.prove_unasked(state, [case])
task = work.plan(state, question)
if task.result is None and task.job is None:  # closed forms take a second at most, and fits were asked for
    task.start()
running, done = task.running, task.result


def include_fits() -> None:
    if solved == "epsilon":
        state.view["plan_fits"] = True
    else:
        work.start_fit(state, *waiting)


def shown(found: pd.DataFrame) -> pd.DataFrame:
    """The plan as a table for people, best first: fewest users, smallest error or smallest epsilon."""
    answers = found.sort_values(solved, na_position="last", kind="stable")
    table = answers[["name", solved, "reason"]].copy()
    proved = {name: f"Proved minimum ({charts.title(name)})" for name in BOUNDS}
    table["name"] = [proved.get(name) or library.spec(name).title for name in table["name"]]
    if solved == "users":
        table["users"] = np.ceil(table["users"] - 1e-9)
    if solved == "standard_error":
        judged = verdicts.judge(table["standard_error"], state.setting.difference)
        table.insert(2, "typical", [verdicts.marked(word) for word in judged])
        table["standard_error"] *= 100
    if not table["reason"].any():
        table = table.drop(columns="reason")
    return table


def table_of(found: pd.DataFrame, name: str) -> None:
    formats = {"users": "%,.0f", "standard_error": "± %.3g pp", "epsilon": "%.4g"}
    listing.show_table(
        shown(found),
        f"{ANSWERS[solved]}, for each mechanism.",
        key=name,
        column_config={
            "name": "Mechanism",
            solved: st.column_config.NumberColumn(ANSWERS[solved], format=formats[solved]),
            "typical": "A typical answer is",
            "reason": st.column_config.TextColumn("Note", width="large"),
        },
    )


def rows(progress: Progress, job: Job) -> None:
    """Rows as they are computed."""
    done, total = progress.round, progress.max_rounds or 1
    st.progress(done / total, text=f"{done:,} of {total:,}, {wording.duration(job.seconds)}")
    table_of(progress.found, "live-plan")


def answer(found: pd.DataFrame) -> None:
    own = found[~found["name"].isin(BOUNDS)]
    best = own.dropna(subset=[solved]).sort_values(solved).head(1)
    for row in best.to_dict("records"):
        st.markdown(f"**{plain(planning.in_words(row))}**")
    for row in found[found["name"].isin(BOUNDS)].to_dict("records"):
        words = planning.in_words(row)
        st.markdown(plain(wording.capital(words)))
    if best.empty:
        st.info("None of the chosen mechanisms has an answer; the table says why.")
    table_of(found, "plan")
    layout.download_table(found, "plan")


def trade_off(found: pd.DataFrame) -> None:
    """The error over users at this epsilon, or over epsilon with these users."""
    if solved == "epsilon":
        sweep = work.sweep(state, "epsilon").result
        if sweep is None:
            st.info("The error over epsilon comes from the sweep on the Compare page, tab “Over epsilon”.")
            st.page_link("pages/compare.py", label="Compute over epsilon", icon=":material/bar_chart:")
            return
        points = planning.errors_over_epsilon(sweep.points, design.workload, users, case)
        layout.chart(
            lambda look: charts.trade_off(points, "epsilon", state.setting.alpha**0.5, look),
            f"The error of a typical query with {users:,} users; the dotted line is the error aimed at. A line crosses it at the "
            "epsilon its mechanism needs.",
            "trade-off",
            points,
        )
        return
    centre = users if solved == "standard_error" else max(found["users"].min(), 1.0)
    # Straight lines on log axes.
    points = planning.errors_over_users(found, np.geomspace(max(centre / 8, 1), centre * 100, 9).tolist())
    layout.chart(
        lambda look: charts.trade_off(points, "users", state.setting.alpha**0.5 if solved == "users" else None, look),
        f"At epsilon {c.epsilon} the error of every mechanism falls like one over the square root of the number of users: half the error "
        "takes four times the users. Nothing unbiased reaches the shaded region.",
        "trade-off",
        points,
    )


def recommendation() -> None:
    task = work.recommendation(state, users)
    found = task.result
    st.markdown(
        "Of all mechanisms within 5 % of the fewest users needed in the worst case, the simplest is taken: closed forms before "
        "fitted ones, then the shortest reports."
    )
    if found is None:
        if task.error:
            st.error(plain(task.error))
        elif task.running is not None:
            st.caption(
                "All mechanisms that need no fit are being compared by their exact errors, and those that are fitted already."
            )
        else:
            long = " It takes about half a minute." if design.working_types > UNASKED_TYPES else ""
            st.info(
                "“Recommend a mechanism”, above, compares all mechanisms that need no fit by their exact errors, and those that are "
                f"fitted already, in the background.{long}"
            )
        return
    first, *rest = found.sentences
    st.markdown(f"**{plain(first)}**")
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in rest))
    if found.name is not None and found.name != state.chosen:
        st.button(
            f"Use {library.spec(found.name).title} in this design",
            on_click=use,
            args=(state, found.name),
            key="use-recommended",
            icon=":material/check:",
        )
    if state.setting.unfitted(["optimized"]):
        st.caption("The optimised mechanism takes part once it is fitted, and usually needs the fewest users.")
        st.page_link("pages/design.py", label="Optimise it on the Design page", icon=":material/tune:")
    ranking = found.ranking.copy()
    ranking["name"] = [library.spec(name).title for name in ranking["name"]]
    ranking["users_needed"] = np.ceil(ranking["users_needed"] - 1e-9)
    ranking["standard_error"] *= 100
    ranking["typical"] = ranking["typical"].map(verdicts.marked)
    listing.show_table(
        cells(ranking, gap=gap_in_words),
        "The mechanisms that were compared.",
        column_config={
            "name": "Mechanism",
            "users_needed": st.column_config.NumberColumn("Users needed", format="%,.0f", help="Worst case."),
            "bits": st.column_config.NumberColumn("Bits a report", format="%,.0f"),
            "gap": st.column_config.NumberColumn("Gap, at most", help="More users than the bound allows."),
            "fitted": "Fitted",
            "pure": "Pure epsilon",
            "user_cost": "A user computes",
            "collector_cost": "The collector computes",
            "standard_error": st.column_config.NumberColumn(
                "± with your users", format="%.3g pp", help=f"With {users:,} users, worst case."
            ),
            "typical": "A typical answer is",
            "note": "Note",
        },
    )
    layout.download_table(found.ranking, "recommendation")
    explain(state)


with results:
    if solved != "epsilon":
        privacy_accuracy.show(state)

    def outcome() -> None:
        if running is not None:
            st.button(
                "Cancel and keep these answers", on_click=running.cancel, key="cancel", icon=":material/stop_circle:"
            )
            layout.live(running, rows)
        elif task.error:
            st.error(plain(task.error))
        elif done is not None and len(done):
            answer(done)
            if done["reason"].str.startswith(planning.TIME_OVER).any():
                st.button("Go on", on_click=task.start, key="go-on", icon=":material/play_arrow:", help=LIMIT)
        else:
            st.info("Choose at least one mechanism above.")
        if waiting and not with_fits:
            fits = [work.fit(state, name) for name in waiting]
            fitting = solved != "epsilon" and any(fit.running is not None for fit in fits)
            fit_button(
                waiting,
                fitting,
                include_fits,
                "include-fits",
                "Fits it in the background, at several epsilons where epsilon is what you ask for.",
            )
            if solved == "epsilon":
                st.caption(LIMIT)
            for fit in fits:
                if fit.error:
                    st.error(plain(fit.error))

    def curve() -> None:
        if done is not None and len(done):
            trade_off(done)
        else:
            st.caption("Follows once the answer is worked out.")

    lazy.panes(state, "plan-tabs", TABS, (outcome, curve, recommendation))

layout.how_computed(PLAN)
