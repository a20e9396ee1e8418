"""Every bound and prediction of the papers as a page shows it: see `Statement`."""

from ldp_core.bounds.statements import few_users, impossible, large_sample, predictions
from ldp_core.bounds.statements.statement import KINDS, Assumption, Design, Kind, Setting, Statement

STATEMENTS: dict[str, Statement] = {
    statement.name: statement
    for part in (impossible, large_sample, predictions, few_users)
    for statement in part.STATEMENTS
}
"""All of them by their names, in the order of the kinds."""

__all__ = ["KINDS", "STATEMENTS", "Assumption", "Design", "Kind", "Setting", "Statement"]
