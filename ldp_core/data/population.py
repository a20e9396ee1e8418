"""Populations without data: categories that are typed in, and the counts that a plan expects."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ldp_core.limits import MOST_TABLE_CELLS, MOST_USERS
from ldp_core.people import Counted, Drawn

CONCENTRATIONS = (0.01, 1000.0)
Shape = Literal["uniform", "zipf", "bell", "cauchy", "dirichlet"]
SHAPES: dict[Shape, dict[str, float | int]] = {
    "uniform": {},
    "zipf": {},
    "bell": {},
    "cauchy": {"centre": 0.4},
    "dirichlet": {"concentration": 1.0, "draw": 0},
}
"""How people can spread over types before there is data, and what each shape can be told, with what it starts from."""

_GOLDEN = (5**0.5 - 1) / 2


def listed(text: str) -> tuple[str, ...]:
    """Categories typed in, one per line, or separated by commas when all are on one line; unchecked."""
    text = text.strip()
    # A comma that ends a line separates; one inside a line belongs to the category.
    lines = [line.strip().removesuffix(",") for line in text.splitlines()]
    values = lines if len(lines) > 1 else text.split(",")
    return tuple(value.strip() for value in values) if text else ()


def expected_counts(
    shape: Shape,
    n: int,
    users: int,
    *,
    centre: float = 0.4,
    concentration: float = 1.0,
    draw: int = 0,
    spread: bool = True,
) -> np.ndarray:
    """Expected number of users of each type, for planning without data; see `SHAPES` for the parameter of each shape.

    Shares are equal ("uniform"), proportional to 1/rank ("zipf"), a normal curve centred on the middle of the types with a
    standard deviation of n/6 ("bell"), a Cauchy distribution on [0, n] cut at its ends, centred at ``centre`` n with a
    scale of n/10 ("cauchy": Cormode et al. 2019, Section 5), or drawn from a symmetric Dirichlet distribution ("dirichlet":
    Lopuhaa-Zwakenberg et al. 2020), the draw being numbered. People are whole, and what rounding leaves over is spread over the
    domain: any first types together have the users they should have, to within less than one.

    Parameters
    ----------
    shape : str
        One of `SHAPES`.
    n : int
        Number of types.
    users : int
        Number of users, 1 to `MOST_USERS`.
    centre : float
        Of the Cauchy distribution, between 0 and 1.
    concentration : float
        Of the Dirichlet distribution for each type, in `CONCENTRATIONS`: at 1 all shares are
        equally likely, less puts most people into few types.
    draw : int
        Number of the draw, from 0 up.
    spread : bool
        False rounds by largest remainders instead, ties to the earlier type, with which stored
        results were made.

    Returns
    -------
    ndarray
        (n,) int64 summing to ``users`` exactly.

    Raises
    ------
    ValueError
        A number out of its range, or an unknown shape.
    """
    n = _positive(n, "the number of types")
    users = _positive(users, "the number of users")
    if users > MOST_USERS:
        raise ValueError(f"{users:,} users are too many to plan for: at most {MOST_USERS:,} are allowed.")
    if shape not in SHAPES:
        raise ValueError(f'the shape "{shape}" is unknown: use one of {", ".join(SHAPES)}.')
    if shape == "cauchy" and not 0 < centre < 1:
        raise ValueError(f"the centre {centre} is not inside the types: choose a number between 0 and 1, such as 0.4.")
    types = np.arange(n)
    shapes: dict[Shape, Callable[[], np.ndarray]] = {
        "uniform": lambda: np.ones(n),
        "zipf": lambda: 1.0 / (types + 1),
        "bell": lambda: np.exp(-0.5 * ((types - (n - 1) / 2) / (n / 6)) ** 2),
        "cauchy": lambda: np.diff(np.arctan((np.arange(n + 1) / n - centre) * 10)),
        "dirichlet": lambda: _dirichlet(n, concentration, draw),
    }
    weights = shapes[shape]()
    if spread:
        return np.diff(_spread(np.cumsum(weights), users), prepend=0)
    shares = users * (weights / weights.sum())
    counts = np.floor(shares).astype(np.int64)
    largest = np.argsort(counts - shares, kind="stable")
    counts[largest[: users - counts.sum()]] += 1
    return counts


def expected_people(
    shape: Shape,
    sizes: Sequence[int],
    users: int,
    *,
    centre: float = 0.4,
    concentration: float = 1.0,
    draw: int = 0,
) -> Counted | Drawn:
    """Expected users by their attributes: up to `MOST_TABLE_CELLS` types as `expected_counts` of all types in their order; beyond, each
    attribute on its own spread like this, and the attributes independent of each other."""
    n = math.prod(sizes)

    def spread_over(types: int, number: int) -> np.ndarray:
        return expected_counts(shape, types, users, centre=centre, concentration=concentration, draw=number)

    if n <= MOST_TABLE_CELLS:
        return Counted(spread_over(n, draw), sizes)
    return Drawn([spread_over(size, draw + i) for i, size in enumerate(sizes)], draw)


def _spread(totals: np.ndarray, users: int) -> np.ndarray:
    """(n,) how many people are up to each type, from running totals (n,) of the weights, to within less than one.

    The range from 0 to ``users`` has a person in each unit. The place within each unit follows the
    golden ratio. If all were in the middle, they might have the same value of an attribute, as two
    values in turn have with half as many people as types.
    """
    exact = users * (totals / totals[-1])
    whole = np.floor(exact)
    place = (whole + 1) * _GOLDEN % 1
    return (whole + (place < exact - whole)).astype(np.int64)


def _dirichlet(n: int, concentration: float, draw: int) -> np.ndarray:
    """(n,) independent Gamma variables: their shares are the draw."""
    low, high = CONCENTRATIONS
    if not low <= concentration <= high:
        raise ValueError(
            f"the concentration {concentration} is out of range: choose a number from {low:g} to {high:g}."
        )
    if isinstance(draw, bool) or not isinstance(draw, (int, np.integer)) or draw < 0:
        raise ValueError(f"the draw {draw!r} is not a number of a draw: choose a whole number from 0 up.")
    rng = np.random.default_rng(draw)
    # A Gamma variable of a small concentration is often below the least float; its logarithm is
    # not.
    logs = np.log(rng.standard_gamma(concentration + 1, n)) + np.log(rng.random(n)) / concentration
    return np.exp(logs - logs.max())


def _positive(number: int, what: str) -> int:
    try:
        whole = operator.index(number)
    except TypeError:
        whole = 0
    if isinstance(number, bool) or whole < 1:
        raise ValueError(f"{what} must be a positive whole number and is {number!r}: enter one such as 32.")
    return whole
