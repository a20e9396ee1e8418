"""The contents of a design that was loaded without its data."""

import pandas as pd

from ldp_core import library, wording
from pages.ui import listing
from pages.ui.session.state import Session


def held(state: Session) -> None:
    """Its choices in a table: there is nothing yet that they could be computed for."""
    c = state.configuration
    questions = [part.summary for part in c.workload.parts] if c.workload is not None else []
    choices = [
        *(("Questions" if i == 0 else "", summary) for i, summary in enumerate(questions)),
        ("Epsilon of a report", c.epsilon),
        ("Reports per person", f"{c.reports_per_user:,}"),
        ("Mechanism", library.spec(c.mechanism.name).title),
        (
            "Target error",
            "automatic" if c.difference is not None else wording.error(c.target_alpha**0.5),
        ),
    ]
    listing.show_table(pd.DataFrame(choices, columns=["Choice", "In this design"]), "What else the design holds.")
