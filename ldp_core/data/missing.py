"""The words that count as a missing value, in any case."""

NULL = "null"
MISSING_WORDS = frozenset({"na", "n/a", "nan", NULL, "none", "?"})
