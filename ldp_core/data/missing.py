"""The words that count as a missing value, in any case."""

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "?"})
