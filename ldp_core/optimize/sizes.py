"""How large designs may be: the one place for it."""

from __future__ import annotations

MOST_TYPES = 2048
"""Largest number of types that a strategy is fitted to, whichever mechanism it is for."""

MOST_VECTOR_TYPES = 1024
"""The same for vectors that are sent with noise: how far apart any two of them are takes n^3 operations that are not products of
matrices, half a second here."""

MOST_ENTRIES = 2**25
"""Largest fitted strategy, in probabilities (256 MiB): 16 rows for each type up to 1,448 types, and 8 for `MOST_TYPES`. Four do not get
anywhere: their second moments are mostly chance."""

ROWS_PER_TYPE, LEAST_ROWS = 16, 256

# Products of matrices are taken so many multiplications at a time, a fifth of a second or so; then it is asked whether to go on.
BLOCK = 2**33


def rows(n: int) -> int:
    """How many rows a strategy for ``n`` types is made of."""
    return min(max(ROWS_PER_TYPE * n, LEAST_ROWS), max(MOST_ENTRIES // n, 4 * n))


def blocks(k: int, n: int) -> list[slice]:
    """``k`` rows of ``n`` entries taken apart so that a product of each part with an n x n matrix takes little time."""
    size = max(1, BLOCK // n**2)
    return [slice(start, start + size) for start in range(0, k, size)]


def too_large(n: int) -> str | None:
    """Why no strategy is fitted to ``n`` types, None where one is."""
    if n <= MOST_TYPES:
        return None
    return (
        f"A strategy matrix for {n:,} types would be too large to design; at most {MOST_TYPES:,} are. Use coarser bins, or a "
        "closed-form mechanism such as subset selection."
    )


def vectors_too_large(n: int) -> str | None:
    """Why no vectors are fitted to ``n`` types, None where they are."""
    if n <= MOST_VECTOR_TYPES:
        return None
    return (
        f"Strategies of the matrix mechanism are optimised for at most {MOST_VECTOR_TYPES:,} types; there are {n:,}. Use coarser "
        "bins, or the Gaussian mechanism, which needs no optimisation."
    )
