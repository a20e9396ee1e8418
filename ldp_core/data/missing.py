"""The words that count as a missing value, in any case, and that for who chose nothing."""

NULL = "null"
NOTHING = "(none)"
"""The label of who chose no item."""
MISSING_WORDS = frozenset({"na", "n/a", "nan", NULL, "none", "?"})
