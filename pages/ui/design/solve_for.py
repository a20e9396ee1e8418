"""Two of people, epsilon and the target fix the third, for one question or for all, with a button that takes it into the design."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ldp_core import verdicts, wording
from ldp_core.designs import solving
from ldp_core.mechanisms import Mechanism
from ldp_core.workloads import Detect
from pages.ui import layout, say
from pages.ui.controls import button, plan_with, view_switch
from pages.ui.design import trade_off
from pages.ui.session.state import Session
from pages.ui.tasks import work

SOLVED = {"people": "People", "target": "Target", "epsilon": "Epsilon"}


def draw(state: Session) -> None:
    """A button beside the target, and behind it what is solved for."""
    popover = st.popover("Solve for", icon=":material/calculate:", key="solve-for", on_change="rerun")
    if not popover.open:
        return
    with popover, layout.controls("solve-for"):
        try:
            mechanism = trade_off.known(state, state.setting.chosen)
            if mechanism is None:
                st.info("A mechanism has to be fitted first.")
                return
            solved, titles = view_switch("solved", SOLVED), [line.title for line in state.setting.answers.lines]
            several = [None] * (len(titles) > 1 and solved != "target")
            k = st.selectbox(
                "For",
                [*several, *range(len(titles))],
                format_func=lambda k: "Every question" if k is None else titles[k],
                key=f"solved-{solved}",
                persist_state="session",
            )
            {"people": _people, "target": _target, "epsilon": _epsilon}[solved](state, mechanism, k)
        except ValueError as error:
            st.info(say.plain(str(error)))


def _people(state: Session, mechanism: Mechanism, k: int | None) -> None:
    """How many people it takes at the epsilon of the design."""
    needed = solving.people(state.setting, mechanism, k)
    say.markdown(
        "At epsilon {epsilon}, {needed} people meet the target.",
        epsilon=state.configuration.epsilon,
        needed=wording.needed(needed),
    )
    plan_with(state, needed, "plan-people")


def _target(state: Session, mechanism: Mechanism, k: int | None) -> None:
    """The target that the people of the design reach."""
    assert k is not None
    setting, targets = state.setting, state.setting.settled.targets or {}
    line = setting.answers.lines[k]
    reached = float(wording.rounded_up(solving.target(setting, mechanism, k), 3))
    now: Any = targets[line.key]
    detect = isinstance(line.target, Detect)
    said = (
        f"{'a difference of ' if detect else '± '}{verdicts.in_unit(reached, line.key)}{' a person' * line.unit.total}"
    )
    people = wording.plural(setting.users, "person", "people")
    say.markdown(
        "With {people} at epsilon {epsilon}, {said} is reached.",
        people=people,
        epsilon=state.configuration.epsilon,
        said=said,
    )
    changed = {**targets, line.key: now.model_copy(update={"difference": reached}) if detect else reached}
    button("Take it as the target", "plan-target", "my_location", lambda: state.change(targets=changed))


def _epsilon(state: Session, mechanism: Mechanism, k: int | None) -> None:
    """The least epsilon with which the people of the design meet the target; searched for on a press."""
    task = work.least_epsilon(state, k)
    people = wording.plural(state.setting.users, "person", "people")
    if task.running is not None:
        st.caption("Epsilon is being searched for.")
        button("Cancel", "cancel-plan", "stop_circle", task.running.cancel)
    elif (found := task.result) is None:
        say.info("{error}", error=task.error)
        help = "Tries several epsilons. A mechanism that is fitted to the questions is fitted at each of them."
        button("Find the least epsilon", "plan-epsilon", "play_arrow", task.start, help=help)
    else:
        say.markdown("With {people}, epsilon {found} and more meet the target.", people=people, found=found)
        button(f"Take epsilon {float(found):g}", "take-epsilon", "lock_open", lambda: state.change(epsilon=found))
