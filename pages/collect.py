"""The returned reports: counted, with answers and intervals beside the promise of the design."""

import streamlit as st

from ldp_core import library
from ldp_core.deploy.kit.opening import Kit
from pages.ui import later, layout, manipulation, say
from pages.ui.collect import incoming, results
from pages.ui.controls import button
from pages.ui.formulas import COLLECT
from pages.ui.session.state import Session
from pages.ui.tasks import collecting, work

state = layout.open_page(
    "Collect", "Count the reports that came back, and see the answers beside what the design promised."
)


def current(state: Session) -> Kit | None:
    """The current design, as devices know it; None until that is known. The page ends where it has no mechanism to count with."""
    design = layout.need_design(state)
    try:
        mechanism = layout.need(
            design.mechanism(design.chosen),
            "The mechanism is not optimised for this design yet, so there are no reports of it.",
            "pages/design.py",
            "Optimise it on the Design page",
        )
        return collecting.current_kit(state, mechanism).get(work.quick_kit(state, mechanism))
    except ValueError as error:
        later.instead(error, "Reports of this design cannot be collected.")
        layout.end()


controls, shown = layout.frame()
with controls:
    current_design = incoming.whose() == incoming.OWN
    subject = current(state) if current_design else incoming.kit(state)
    if subject is None:
        if current_design:
            st.info("What devices of this design send is being described.")
        layout.end()
    task = collecting.counting(state, subject)
    running, found = task.running, collecting.collection(state, subject)
    if running is not None:
        with layout.actions():
            button("Cancel", "cancel", "stop_circle", running.cancel)
    else:
        incoming.bring(state, subject, current_design)
        if task.error:
            say.error("{error} What was counted before is unchanged.", error=task.error)
        elif task.cut_short:
            st.info("Counting was cancelled: nothing of those files was counted.")
    if not current_design:
        for warning in subject.warnings:
            st.warning(say.plain(warning))
        c = subject.configuration
        say.caption(
            "The kit of design {design}: {title}, epsilon {epsilon}.",
            design=subject.design,
            title=library.spec(c.mechanism.name).title,
            epsilon=c.epsilon,
        )

with shown:
    if running is not None:
        later.show(running)
    if found.users:
        results.answers(state, subject, found)
    elif found.read:
        st.warning("None of these reports could be counted.")
    if found.read:
        results.counted(found)
        with layout.actions("collection"):
            layout.download(
                "Download the collection",
                found.to_bytes,
                f"{layout.file_name('collection', bool(results.simulated(found)))}.npz",
                "application/octet-stream",
                "download-collection",
                help="Go on with it another day: here, under An earlier collection, or with --state on the command line.",
            )
            with st.popover("Begin again", icon=":material/restart_alt:", disabled=running is not None):
                st.markdown("This forgets what was counted of this design. Your files stay with you.")
                button("Forget it", "forget-collection", "restart_alt", collecting.forget, state, subject)
        results.files(found)
    elif running is None:
        st.info("Nothing has been counted for this design yet.")
        if collecting.forgotten(state, subject):
            button("Bring back what was counted", "bring-back", "undo", collecting.bring_back, state, subject)
    if found.users:
        with st.expander("What manipulated reports can do"):
            manipulation.show(state, subject.mechanism, subject.workload, found.users)
    layout.how_computed(COLLECT)
