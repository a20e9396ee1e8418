"""Take the design with you: one zip, and what it reveals about the data."""

import json
from functools import partial

import pandas as pd
import streamlit as st

from ldp_core import designs, library, wording
from ldp_core.deploy.kit import package, review
from ldp_core.designs import disclosure
from ldp_core.limits import MOST_SHOWN_BYTES
from ldp_core.mechanisms import Mechanism
from pages.ui import layout, manipulation, say
from pages.ui.session import exchange
from pages.ui.tasks import work
from pages.ui.verdict_panel import headline, show_answers
from pages.ui.words import weighting

KIT = [
    say.text("**device.json**: how one person's report is drawn, in whole numbers, and how values are named."),
    say.text(
        "**client.py** and **client.js** draw a report on a person's device; they need nothing but Python or a browser."
    ),
    say.text(
        "**form.html** asks one person in a browser and shows them **people.txt**, the promise in five lines; **answers.cjs** draws reports in Node."
    ),
    say.text(
        "**audit.py** checks device.json in exact fractions, with Python alone: epsilon, and that every probability adds up."
    ),
    say.text("**vectors.json**: random bytes and the reports to be made of them, for a client of your own."),
    say.text(
        "**collect.py** turns the reports that come back into answers, with this program, as the Collect page does; **count.sql** counts them "
        "in a database."
    ),
    say.text("**README.md**: how all of that is run, with an example to paste."),
    say.text("**report.html**: one page for a privacy review, which fetches nothing."),
]
PROOF = [
    say.text(
        "**certificate.json** and **certificate.npz**: a proof of what no mechanism can beat, for the people your mechanism is judged by."
    ),
    say.text("**verify.py** checks that proof with NumPy alone; so does this program when it loads the file."),
]

state = layout.open_page("Export", "Take the design with you.")
design = layout.need_design(state)
c = state.configuration
spec = library.spec(c.mechanism.name)


def answers(mechanism: Mechanism) -> pd.DataFrame:
    """The answers with their errors; verdicts are withheld with counted people, since they tell how large an answer is."""
    table = released.answered(mechanism)
    return table if released is design else table.drop(columns=["value", "verdict"])


def _kilobytes(content: bytes) -> str:
    return f"{wording.significant(len(content) / 1000)} kB"


controls, results = layout.frame()
with controls:
    figures = disclosure.withheld(design) and st.checkbox(
        "Include the errors on your data",
        key="export-figures",
        help="Without them, files have the errors of people spread evenly. With them and the number of people, a reader may work out all "
        "counts.",
    )
    released = disclosure.released(design, figures)
    ready, packed, refused = True, None, ""
    try:
        mechanism = state.setting.mechanism(c.mechanism.name)
        if mechanism is not None:
            layout.need_costs(state, mechanism)  # they are in the file
            try:
                ready = work.proof_written(state)
            except ValueError as error:  # the design alone can be had
                refused = str(error)
        content = exchange.export(state, figures)
    except ValueError as error:
        st.error(say.plain(str(error)))
        layout.end()
    buttons = layout.actions("export")
    proof = None if mechanism is None else exchange.certificate(state)
    if mechanism is not None and not refused:
        try:
            task = work.kit(state, mechanism, figures, bool(state.view.get("mixing")) and c.reports_per_user == 1)
            packed = task.get(work.quick_kit(state, mechanism)) if ready else None
        except ValueError as error:
            refused = str(error)
    with buttons:
        if packed is not None:
            layout.download(
                "Download the kit (zip)", packed, "ldp-kit.zip", "application/zip", "download-kit", type="primary"
            )
        elif ready and mechanism is not None and not refused:
            st.button("The kit is being packed", disabled=True, key="packing", icon=":material/hourglass_top:")
        first = "primary" if mechanism is None or refused else "secondary"
        layout.download(
            "Download the design alone (zip)", content, "ldp-design.zip", "application/zip", "download", type=first
        )
        if not ready:
            st.button("The proof is being made", disabled=True, key="writing", icon=":material/hourglass_top:")
    if proof is not None:
        with buttons:
            layout.download(
                "Download the proof (zip)", proof.zipped, "ldp-proof.zip", "application/zip", "download-proof"
            )
    about = []
    if packed is not None:
        say.markdown(
            "Each person's device downloads {size} kB.", size=wording.significant(package.device_size(packed) / 1000)
        )
        about.append(
            f"The kit ({_kilobytes(packed)}) is for people who never saw this app: it draws reports on people's devices, checks what it "
            "promises, says how to count what comes back, and has a page for a privacy review."
        )
    if proof is not None:
        about.append(
            "The proof says what no mechanism with your epsilon can beat. It holds the numbers that show it, and a script that checks them "
            "with NumPy alone, without this program."
        )
    about.append(
        f"The design alone has {_kilobytes(content)}. Load {'it' if packed is None else 'either of them'} again with “Open a design” in the "
        "File menu."
    )
    if refused:
        say.info("There is no kit of this design. {refused} You can still download the design alone.", refused=refused)
    if mechanism is None:
        st.warning("No mechanism is fitted to this design yet, so the file holds your choices but no strategy.")
        st.page_link("pages/design.py", label="Optimise it on the Design page", icon=":material/tune:")
    else:
        with buttons:
            layout.download_table(
                partial(answers, mechanism),
                "answers",
                of_design=released.on_data,
                label="Download the answers by name (CSV)",
                key="download-queries",
                type="secondary",
            )
        about.append(
            f"The answers by name have the standard error to expect of each, in its unit, for {released.population}"
            f"{'' if released is not design else ', and whether that is usable, rough or noise'}."
        )

    with buttons:
        layout.details(say.join("\n\n", about))

with results:
    if mechanism is not None:
        costed = state.setting.costed(c.mechanism.name) is not None
        if costed:
            found = headline(state, mechanism)
        else:
            say.markdown(
                "With {types} types the errors to expect are not computed exactly; Simulate shows them.",
                types=wording.magnitude(design.domain.size),
            )
        layout.heading("What you promise")
        with st.expander("For a privacy review, word for word"):
            layout.guarantee(c, mechanism.audit())
        with st.expander("For the people asked, in plain words"):
            st.markdown(
                say.join("\n", (say.text("* {line}", line=line) for line in review.for_people(c, mechanism.audit())))
            )
        if costed and found is not None:
            with st.expander("What each answer is worth"):
                show_answers(state, found)
        say.caption("{weights}", weights=weighting(state.configuration))
        if packed is not None:
            layout.details(
                "The audited epsilon is that of the probabilities in the kit, whole numbers over 2⁵³; audit.py, which is in it, finds "
                "it again in exact fractions."
                + (
                    f" Writing the probabilities so takes {wording.small_share(mechanism.lost)} more people for the same error."
                    if mechanism.lost is not None
                    else ""
                )
            )
        if state.setting.from_file(c.mechanism.name):
            st.warning("The strategy was loaded from a file, not computed here, and the export says so.")
    say.warning(
        "{caveat}{clients}",
        caveat=designs.DESIGN_ONLY,
        clients="" if packed is None else say.text(" The clients in the kit draw them."),
    )
    if mechanism is not None:
        with st.expander("What manipulated reports can do"):
            manipulation.show(state, mechanism, design.workload, design.users)
    if observed := disclosure.observed(design, figures):
        with st.expander("What the file reveals about the data: read this before you share it"):
            for sentence in observed:
                say.markdown("- {sentence}", sentence=sentence)
    else:
        st.markdown("Everything was declared: the file reveals nothing about any data.")
    members = [
        say.text("**configuration.json**: every choice you made, nothing else."),
        say.text(
            "**outcome.json**: expected errors, bounds, the audit, software versions. These are claims; opening the file computes them again."
        ),
    ]
    if mechanism is not None or not spec.fitted:
        reason = package.without_files(c, mechanism)
        if mechanism is None or reason:
            members.append(say.text("No strategy file. {reason}", reason=reason))
        else:
            members += [
                say.text("**{name}**: {about}.", name=file.name, about=file.about) for file in mechanism.files()
            ]
            members[-1] += (
                " SHA-256 checksums are in outcome.json, and loading checks them and epsilon. A changed file can carry a changed checksum, so a "
                "strategy from a file is called loaded, not computed."
            )
    if packed is not None:
        members += KIT
    if proof is not None:
        members += PROOF
    with st.expander("What is in it"):
        for member in members:
            say.markdown("- {member}", member=member)
        say.warning(
            "The seed {seed:d} is for simulation only. A client must draw from its own secure random source: "
            "one that used this seed would give people no privacy.",
            seed=c.simulation.seed,
        )
    with st.expander("configuration.json"):
        written = c.to_json()
        if len(written) <= MOST_SHOWN_BYTES:
            st.json(json.loads(written))
        else:
            say.caption(
                "{size} kB, too long to show here; it is in the file.", size=wording.significant(len(written) / 1000)
            )
