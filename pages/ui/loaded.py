"""The contents of a design that was loaded without its data."""

import pandas as pd

from ldp_core import library, verdicts
from pages.ui import listing
from pages.ui.session.state import Session

SEEN = {"typical": "half a typical answer", "smallest": "the smallest share that matters"}


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
            "Difference to be seen",
            SEEN.get(c.difference or "") or verdicts.in_words(verdicts.difference_for(c.target_alpha)),
        ),
    ]
    listing.show_table(pd.DataFrame(choices, columns=["Choice", "In this design"]), "What else the design holds.")
