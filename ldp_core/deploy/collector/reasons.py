"""Why a row of a file is not counted, in the words that users read; and the one kind of refusal of a whole file."""

from __future__ import annotations

ANOTHER_DESIGN = "of another design"
NO_ID = "without an id"
ANOTHER_REPORT = "another report under an id that had come before: a device drew a second one, which spends epsilon again, or somebody tampered"
NO_NUMBER = "no number of reports in the column reports"
MALFORMED = "not whole numbers separated by single spaces"
TOO_FEW_OR_MANY = "fewer or more numbers than a report of this design has"
OUTSIDE = "numbers that no report of this design holds"

REASONS = (ANOTHER_DESIGN, NO_ID, ANOTHER_REPORT, NO_NUMBER, MALFORMED, TOO_FEW_OR_MANY, OUTSIDE)


class UnreadableReports(ValueError):
    """No report of this file was counted; the message says why and what to do."""


class NotRead(UnreadableReports):
    """The database does not read this file."""
