"""Reports that name one block of a design: nearly the errors of subset selection, with reports a few bits long.

A block design has v points and b blocks of k points each, so that every point lies in r = b k/v
blocks and any two points in the same number of them, r (k - 1)/(v - 1). People whose type is point
u send each block that contains u e^epsilon times as often as each other block. Let p be the
probability that the block sent contains the person's own type, and q that it contains a given other
type. Then

    p = r E/(r E + b - r),    q = (l E + r - l)/(r E + b - r),    E = e^epsilon,    l = r (k - 1)/(v - 1),

and the counts of types have the variance p (1 - p)/(p - q)^2 from a user of the type and q (1 -
q)/(p - q)^2 from any other user. This is the variance of subset selection with sets of k of v types
(Park, Nam and Lee 2023, "Exactly optimal and communication-efficient private estimation via block
designs", Theorem III.1 and Section III-A). The design with k nearest v/(E + 1) is therefore exactly
optimal for histograms. If there are fewer types than points, the first n points stand for types.
The best reconstruction (`ldp_core.mechanisms.explicit`) recovers part of the loss, and blocks that
hold all types or none are not sent.

Designs known here, for any k/v between 1/n and 1/2:

* *geometry*: the points and hyperplanes of a projective space over the field of q elements, v = b = (q^t - 1)/(q - 1),
  k = (q^(t-1) - 1)/(q - 1), about v/q. This is projective geometry response (Feldman, Nelson, Nguyen and Talwar 2022, "Private frequency
  estimation via projective geometry", Section 3), with q near e^epsilon + 1. Points off the first hyperplane come first: n <= q^(t-1)
  types leave an affine geometry.
* *sketch*: an affine geometry whatever n is. Each of its sets of parallel blocks is a hash function
  into q buckets, u -> h'u over the field. A report is the number of a function and the bucket of
  the type by randomized response. This is the count-mean sketch (Pan 2024, "Improving count-mean
  sketch as the leading locally differentially private frequency estimator for large dictionaries").
  Under its family of hash functions two types collide least, with probability (q^(t-2) -
  1)/(q^(t-1) - 1) instead of 1/q, so that it is a design.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from ldp_core.arguments import check_choice
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.explicit import ExplicitMechanism, check_entries
from ldp_core.privacy import check_epsilon, exp_epsilon

KINDS = ("geometry", "count_mean_sketch")
_SIZE = "A block design", "Use coarser bins, or subset selection."
_MOST_TYPES = math.isqrt(MOST_STRATEGY_ENTRIES)
"""No design has fewer blocks than points (Fisher 1940), so that more types than these cannot be written out."""


@dataclass(frozen=True)
class Design:
    """A design of ``points`` v in ``blocks`` b of ``size`` k; ``write(n)`` gives (b, n) whether each block contains each of the first n."""

    kind: str
    points: int
    blocks: int
    size: int
    write: Callable[[int], np.ndarray]

    def variance(self, n: int, epsilon: float) -> float:
        """Total variance per user of a histogram of ``n`` types, as if none were left out."""
        E, share, pair = math.exp(epsilon), self.size / self.points, (self.size - 1) / max(1, self.points - 1)
        mass = share * E + 1 - share
        p, q = share * E / mass, share * (pair * E + 1 - pair) / mass
        return (p * (1 - p) + (n - 1) * q * (1 - q)) / (p - q) ** 2


def build(n: int, epsilon: float, order: int | None = None, kind: str = "geometry") -> ExplicitMechanism:
    """Projective geometry response over the field of ``order`` elements, a prime power; None is the one of least variance. ``kind``
    "count_mean_sketch" is an affine geometry whatever ``n`` is.

    ValueError for another kind or order, or where the strategy is too large to write out.
    """
    epsilon = check_epsilon(epsilon)
    check_choice("kind", kind, KINDS)
    check_entries(max(n, order or 0), n, *_SIZE)
    written, best = (geometry, chosen_geometry) if kind == "geometry" else (sketch, chosen_sketch)
    design = best(n, epsilon) if order is None else written(n, order)
    check_entries(design.blocks, n, *_SIZE)
    parameters: dict[str, int | str] = {} if order is None else {"order": int(order)}
    return _mechanism(design, n, epsilon, parameters if kind == "geometry" else parameters | {"kind": kind})


@lru_cache(maxsize=256)
def chosen_geometry(n: int, epsilon: float) -> Design:
    """The projective geometry of least variance."""
    return min(_geometries(n), key=lambda design: design.variance(n, epsilon))


@lru_cache(maxsize=256)
def chosen_sketch(n: int, epsilon: float) -> Design:
    """The count-mean sketch of least variance; more buckets than types are randomized response."""
    orders = [order for order in range(2, 2 * n) if prime_power(order) is not None]
    several = [order for order in orders if order < n] + [order for order in orders if order >= n][:1]
    return min((sketch(n, order) for order in several), key=lambda design: design.variance(n, epsilon))


def outputs(n: int, epsilon: float) -> float:
    """Blocks of the geometry of least variance, or the least there can be where any is too large to write out."""
    return chosen_geometry(n, epsilon).blocks if n <= _MOST_TYPES else n


def _mechanism(design: Design, n: int, epsilon: float, parameters: Mapping[str, int | str]) -> ExplicitMechanism:
    inside = design.write(n)
    inside = inside[inside.any(axis=1) & ~inside.all(axis=1)]  # others would say nothing
    replication, E = int(inside[:, 0].sum()), exp_epsilon(epsilon)  # blocks of a type, the same number for all
    # One divisor for all keeps the ratios within a row exact.
    Q = np.where(inside, E, 1.0) / (replication * E + len(inside) - replication)
    explanation = (
        f"Each type lies in {replication:,} of {len(inside):,} blocks. Blocks are sets of types, and any two types share equally many. A person "
        f"sends each block with their own type e^epsilon times as often as any other block. A report is one number of "
        f"{max(1, math.ceil(math.log2(len(inside))))} bits."
    )
    return ExplicitMechanism("projective_geometry", Q, epsilon, parameters, explanation)


# --- designs -----------------------------------------------------------------------------------------------------------


def geometry(n: int, order: int) -> Design:
    """The smallest projective space over the field of ``order`` elements that has ``n`` points. ValueError where there is no such field."""
    _prime_power(order)
    dimension = 2
    while (order**dimension - 1) // (order - 1) < n:
        dimension += 1
    points, size = ((order**d - 1) // (order - 1) for d in (dimension, dimension - 1))
    if n <= order ** (dimension - 1):
        return sketch(n, order)
    return Design("geometry", points, points, size, partial(_hyperplanes, order, dimension))


def sketch(n: int, order: int) -> Design:
    """The smallest affine space over the field of ``order`` elements that has ``n`` points: of the projective one, the hyperplane that holds
    no type is not sent. ValueError where there is no such field."""
    _prime_power(order)
    dimension = 2
    while order ** (dimension - 1) < n:
        dimension += 1
    points, hyperplanes = order ** (dimension - 1), (order**dimension - 1) // (order - 1)
    return Design("sketch", points, hyperplanes - 1, points // order, partial(_hyperplanes, order, dimension))


def _geometries(n: int) -> Iterator[Design]:
    """Those over every field up to the first with n points on a line, which leave nothing but single points."""
    for order in range(2, 2 * n + 2):
        if prime_power(order) is not None:
            yield geometry(n, order)
            if order + 1 >= n:
                return


def _hyperplanes(order: int, dimension: int, n: int) -> np.ndarray:
    """(b, n) which of the first n points u each hyperplane {u : <u, h> = 0} contains; points whose first coordinate is not 0 first."""
    if dimension == 2:  # the hyperplanes of a line are its points
        return np.eye(order + 1, n, dtype=bool)
    add, multiply = _field(order)
    # One vector of each line through the origin: the one whose first coordinate other than 0 is 1.
    points = np.vstack(
        [
            np.hstack(
                [
                    np.zeros((order**rest, dimension - 1 - rest), int),
                    np.ones((order**rest, 1), int),
                    _words(order, rest),
                ]
            )
            for rest in range(dimension - 1, -1, -1)
        ]
    )
    product = np.zeros((len(points), n), dtype=add.dtype)
    for i in range(dimension):
        product = add[product, multiply[points[:, i, None], points[None, :n, i]]]
    return product == 0


def _words(letters: int, length: int) -> np.ndarray:
    """(letters^length, length) all words."""
    return np.arange(letters**length)[:, None] // letters ** np.arange(length - 1, -1, -1) % letters


# --- finite fields -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def prime_power(q: int) -> tuple[int, int] | None:
    """The prime p and the exponent m with p^m = ``q``, None where there are none."""
    if q < 2:
        return None
    p = next((p for p in range(2, math.isqrt(q) + 1) if q % p == 0), q)
    m, rest = 0, q
    while rest % p == 0:
        rest, m = rest // p, m + 1
    return (p, m) if rest == 1 else None


@lru_cache(maxsize=16)
def _powers(q: int) -> tuple[int, ...]:
    """All non-zero elements of the field of ``q`` elements, as the powers of a generator. An
    element is a number whose digits to the base p are the coefficients of a polynomial in x, modulo
    x^m - tail. That tail is the first polynomial that gives x q - 1 different powers."""
    p, m = _prime_power(q)
    for tail in range(1, q):
        if tail % p == 0:  # x would be 0 or divide it
            continue
        powers = [1]
        while True:
            lead, rest = divmod(powers[-1], p ** (m - 1))
            places = (p**i for i in range(m))
            following = sum((rest * p // place + lead * (tail // place)) % p * place for place in places)
            if following == 1:
                break
            powers.append(following)
        if len(powers) == q - 1:
            return tuple(powers)
    raise AssertionError(f"Every finite field has such an element; none was found for {q}.")


@lru_cache(maxsize=16)
def _field(q: int) -> tuple[np.ndarray, np.ndarray]:
    """(q, q) sums and products of the elements of the field of ``q`` elements."""
    p, m = _prime_power(q)
    places = p ** np.arange(m)
    digits = np.arange(q)[:, None] // places % p
    add = (digits[:, None] + digits) % p @ places
    powers = np.array(_powers(q))
    exponents = np.zeros(q, dtype=np.int64)
    exponents[powers] = np.arange(q - 1)
    multiply = powers[(exponents[:, None] + exponents) % (q - 1)]
    multiply[0] = multiply[:, 0] = 0
    return add.astype(np.int16), multiply.astype(np.int16)


def _prime_power(q: int) -> tuple[int, int]:
    power = prime_power(q)
    if power is None:
        raise ValueError(f"The order of a field is a prime power, such as 2, 3, 4, 5, 7, 8 or 9; got {q}.")
    return power
