"""What three types at a time say of sets of types, for attributes of any sizes: inequalities on what varies with each set of attributes.

T is a set of types of share s, f its 0/1 function and x, y, z types, of n. Two types differ in some attributes of each kind of
`ldp_core.bounds.surveys.traces`: how many of each kind is their *distance* r, and ``P_r`` is the mean of ``f(x) f(y)`` over pairs at this distance. Kinds may
be fused into groups: the *class* of a distance is how many attributes differ in each group. The *pattern* of a triple is, for each group, in how many
attributes x alone differs from the two others, y alone, z alone, and all three differ; ``S_p`` is the mean of ``f(x) f(y) f(z)`` over all
triples of three types with pattern p, in whatever order. Whatever T is,

1. *squares* of sums over all x in T, of numbers that x has as seen from z, are not negative, nor are these times f(z), or times ``1 - f(z)``. With any v_c for
   the classes, x has v_c; or v_c for each attribute of a group in which it differs from z, less what that is on average over the attributes of the group; or, for
   each such attribute and each value of it but that of z, v_c where x has this value, less what that is on average over these values if all in the group have
   equally many. Summed over attributes and values, two types x and y in the classes c and c' make ``v_c v_c'`` times 1; times ``t - i j / m``, where of the
   m attributes of the group i are others in x than in z, j in y and t in both; and times p, how many of the t are the same in x and y, or
   ``p - t / (q - 1)`` where all have q values. All that depends on the pattern alone. The means over z are forms in P and S, with the coefficients
   ``v_c v_c'``, or those of a sum of such, ``Q = F F'``;
2. *sides*: S_p is at most the mean of P over either of the three sides of triples with pattern p;
3. *sizes*: the sum of ``f(x) f(y) f(z)`` over all x is ``n s f(y) f(z)``: for each class of y from z this is an equation, of any multiplier w.

Added up, with multipliers, that is ``0 <= sum_r (u_r + s w_r) P_r + sum_p e_p S_p``. A positive e_p is paid for by the first side as well, a negative one is
left out. As ``P_r = s - sum_A (1 - K_r(A)) W_A`` with K of `ldp_core.bounds.surveys.certificate`, that makes for sets of every share s

    sum_A (alpha_A + s alpha'_A) W_A  <=  h s + h' s^2,    alpha_A = sum_r (1 - K_r(A)) u_r,  alpha'_A = sum_r (1 - K_r(A)) w_r,

h the sum of all u_r and h' that of all w_r. (Squares as in Schrijver 2005, New code upper bounds from the Terwilliger algebra, for a = k = 0 and for
``a + k`` of 1 and 2 here; fusing, the share as an unknown, and what this says of pairs: derived in this project.)

**The rounding.** Numbers of triples, and these times m or q - 1, are whole and exact. A coefficient is a sum of products with multipliers, off by as many u
as it has terms, and a few more, times the sum of their absolute values (Higham 2002, Chapter 3). u_r and e_p are raised by that, as P and S are not negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import permutations, product
from math import comb, factorial, prod

import numpy as np
from scipy import sparse

from ldp_core.bounds.proof import ABOVE, U
from ldp_core.bounds.surveys.traces import Traces

MOST_COUNTED, MOST_MOMENTS = 400_000, 2_500
"""Kinds of triples that are looked at, each kind of attributes on its own, and fused."""
MOST_NUMBER = 1e60
_EXACT = 2**52


@dataclass(frozen=True)
class Inequalities:
    """On sets of share s: ``sum_A (fixed_A + s rising_A) W_A <= linear s + square s^2``, the right side rounded up; by ``off`` (k, 2) ``fixed`` and ``rising``
    (k, cells) may be off."""

    fixed: np.ndarray
    rising: np.ndarray
    linear: np.ndarray
    square: np.ndarray
    off: np.ndarray


@dataclass(frozen=True)
class Block:
    """Sums of squares: by the place ``row * size + column`` of Q, ``form`` (size^2, moments). ``norms`` (size,) are those of its vectors, ``plain`` where
    these have the same number for all types of a class."""

    size: int
    form: sparse.csr_matrix
    norms: np.ndarray
    plain: bool


class Patterns:
    """For ``traces`` of all attributes and the group that each kind is in, ``fused`` (kinds,) 0, 0, .., 1, ... ValueError for groups that are none, and
    where there is too much to look at."""

    def __init__(self, traces: Traces, fused: Sequence[int]):
        if len(fused) != len(traces.kinds) or sorted(fused) != list(fused) or {*fused} != {*range(len({*fused}))}:
            raise ValueError("Kinds that are fused are neighbours, in groups numbered from 0.")
        if not fits(traces, fused):
            raise ValueError("There are too many types, or patterns of three of them.")
        self.traces, self.types, self.pairs = traces, traces.size_of(traces.numbers), len(traces.counts)
        groups = [[k for k, group in enumerate(fused) if group == one] for one in sorted({*fused})]
        own = [np.array(_patterns(m, q)) for m, q in zip(traces.numbers, traces.sizes, strict=True)]
        place = np.indices([len(one) for one in own]).reshape(len(own), -1)
        counts = [one[:, :4][at] for one, at in zip(own, place, strict=True)]
        many = reduce(np.multiply, (one[:, 4][at] for one, at in zip(own, place, strict=True)))
        joined = [np.sum([counts[k] for k in group], axis=0) for group in groups]
        bases, joined_bases = (
            [m + 1 for m in traces.numbers],
            [1 + sum(traces.numbers[k] for k in group) for group in groups],
        )
        self.classes = prod(joined_bases)

        def pattern(order: tuple[int, ...]) -> np.ndarray:
            return _code(
                [one[:, k] for one in joined for k in (*order, 3)], [base for base in joined_bases for _ in range(4)]
            )

        # Where x alone differs, or y, or all three, x and y do.
        between = ((0, 2, 3), (1, 2, 3), (0, 1, 3))
        zx, zy, xy = (_code([one[:, side].sum(axis=1) for one in counts], bases) for side in map(list, between))
        x, y, _ = (_code([one[:, side].sum(axis=1) for one in joined], joined_bases) for side in map(list, between))
        first = np.min([pattern(order) for order in permutations(range(3))], axis=0)
        three = (zx > 0) & (zy > 0) & (xy > 0)
        _, number = np.unique(first[three], return_inverse=True)
        self.triples = int(number.max(initial=-1)) + 1
        self.moments = self.pairs + self.triples
        moment = np.where(zx == 0, zy, zx)  # where two of three are the same
        moment[three] = self.pairs + number
        self.around = np.bincount(zy[zx == 0], many[zx == 0], self.pairs)
        """(pairs,) how many types are at each distance."""
        self.apart = np.zeros(self.pairs, dtype=np.int64)
        self.apart[zy[zx == 0]] = y[zx == 0]
        """(pairs,) the class of each distance."""
        self.sums = sparse.csr_matrix((many, (y, moment)), shape=(self.classes, self.moments), dtype=float)
        """(classes, moments) by the class of y from z, the sums of ``f(z) f(x) f(y)`` over all x."""
        ordered = three & (pattern((0, 1, 2)) == first)
        which = moment[ordered] - self.pairs
        shares = many[ordered] / np.bincount(which, many[ordered], self.triples)[which]
        self.sides = [
            sparse.csr_matrix((shares, (which, side[ordered])), shape=(self.triples, self.moments))
            for side in (zx, zy, xy)
        ]
        """Three times (triples, moments): the means of P over a side of a pattern."""

        self.blocks = list[Block]()
        """Times f(z) and times ``1 - f(z)`` in turn."""
        for numbers in (np.ones(len(many), dtype=np.int64), *self._of_one(joined, groups)):
            entries = many * numbers
            same = xy == 0
            lengths = np.bincount(x[same], entries[same], self.classes)
            rows = np.flatnonzero(lengths[1:]) + 1  # z itself says nothing that sizes do not
            order = np.zeros(self.classes, dtype=np.int64)
            order[rows] = np.arange(len(rows))
            kept = (entries != 0) & (lengths[x] > 0) & (lengths[y] > 0) & (x > 0) & (y > 0)
            at, shape = order[x[kept]] * len(rows) + order[y[kept]], (len(rows) ** 2, self.moments)
            inside, every = (
                sparse.csr_matrix((entries[kept], (at, column[kept])), shape=shape, dtype=float)
                for column in (moment, xy)
            )
            plain = not self.blocks
            self.blocks += (
                [Block(len(rows), form, np.sqrt(lengths[rows]), plain) for form in (inside, every - inside)]
                if len(rows)
                else []
            )

    def _of_one(self, joined: list[np.ndarray], groups: list[list[int]]) -> list[np.ndarray]:
        """What a pair of types makes for single attributes of a group, and for their values, in whole numbers: of each pattern one, since no more than
        sums by pattern is known."""
        found = []
        for one, group in zip(joined, groups, strict=True):
            alone_x, alone_y, alone_z, every = one.T
            both, m, sizes = (
                alone_z + every,
                sum(self.traces.numbers[k] for k in group),
                [self.traces.sizes[k] for k in group],
            )
            found += [m * both - (alone_x + both) * (alone_y + both)] if m > 1 else []
            if max(sizes) > 2:
                found += [(sizes[0] - 1) * alone_z - both if len(sizes) == 1 else alone_z]
        return found

    @property
    def width(self) -> int:
        """How many numbers make an inequality: multipliers w of the classes, F of each block row by row, and multipliers of the three sides."""
        return self.classes + sum(block.size**2 for block in self.blocks) + 3 * self.triples

    @cached_property
    def differing(self) -> np.ndarray:
        """(pairs, cells) ``1 - K_r(A)``."""
        return 1 - np.array([self.traces.differing(r)[self.traces.trace] for r in self.traces.counts.tolist()])

    def parts(self, three: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Of numbers (k, width): w (k, classes), F of each block, and the multipliers of sides (k, 3 triples)."""
        ends = np.cumsum([self.classes, *(block.size**2 for block in self.blocks)])
        w, *factors, sides = np.split(three, ends, axis=1)
        return w, [F.reshape(-1, block.size, block.size) for F, block in zip(factors, self.blocks, strict=True)], sides

    def scaled(self, numbers: np.ndarray, share: float) -> np.ndarray:
        """The numbers (width,) of an inequality of which the largest coefficient is 1 for sets of this ``share``."""
        own = self.inequalities(numbers[None])
        unit = np.abs(own.fixed + share * own.rising).max()
        w, factors, sides = self.parts(numbers[None])
        return np.concatenate([w[0] / unit, *(F.ravel() / np.sqrt(unit) for F in factors), sides[0] / unit])

    def inequalities(self, three: np.ndarray) -> Inequalities:
        """What numbers (k, width) prove. ValueError where they are none."""
        if three.ndim != 2 or three.shape[1] != self.width or not np.all(np.abs(three) < MOST_NUMBER):
            raise ValueError("The numbers are none of inequalities by three types.")
        w, factors, of_sides = self.parts(three)
        if of_sides.min(initial=0.0) < 0:
            raise ValueError("Multipliers of sides are not negative.")
        found, sizes = w @ self.sums, np.abs(w) @ self.sums
        for block, F in zip(self.blocks, factors, strict=True):
            found += (F @ F.swapaxes(1, 2)).reshape(len(F), -1) @ block.form
            F = np.abs(F)
            sizes += (F @ F.swapaxes(1, 2)).reshape(len(F), -1) @ abs(block.form)
        for sigma, side in zip(np.split(of_sides, 3, axis=1), self.sides, strict=True):
            found += sigma @ side
            sizes += sigma @ side
            found[:, self.pairs :] -= sigma
            sizes[:, self.pairs :] += sigma
        terms = sum(block.size**2 + block.size for block in self.blocks) + self.classes + 3 * self.triples + 64
        raised = found + ABOVE * terms * U * sizes
        e = np.maximum(raised[:, self.pairs :], 0.0)
        u = raised[:, : self.pairs] + e @ self.sides[0][:, : self.pairs]
        rising = -self.types * self.around * w[:, self.apart]
        above = ABOVE * (self.pairs + self.triples + 4 * len(self.traces.kinds) + 16) * U
        size, steep = np.abs(u).sum(axis=1) + e.sum(axis=1), np.abs(rising).sum(axis=1)
        return Inequalities(
            u @ self.differing,
            rising @ self.differing,
            u.sum(axis=1) + above * size,
            rising.sum(axis=1) + above * steep,
            3 * above * np.stack([size, steep], axis=1),
        )


def fits(traces: Traces, fused: Sequence[int]) -> bool:
    """Whether there are few enough types and patterns, and all attributes are tracked."""
    kinds = [*zip(traces.numbers, traces.sizes, strict=True)]
    m = sum(traces.numbers)
    whole = traces.size_of(traces.numbers) ** 2 * m * max(m, *traces.sizes, 1) <= _EXACT
    counted = prod(_number(m, q) for m, q in kinds)
    return traces.complete and whole and counted <= MOST_COUNTED and moments(traces, fused) <= MOST_MOMENTS


def moments(traces: Traces, fused: Sequence[int]) -> int:
    """About how many moments there are."""
    kinds = [*zip(traces.numbers, traces.sizes, fused, strict=True)]
    groups = [[(m, q) for m, q, group in kinds if group == one] for one in {*fused}]
    return len(traces.counts) + prod(_number(sum(m for m, _ in own), max(q for _, q in own)) for own in groups) // 6


def _number(number: int, size: int) -> int:
    """Of patterns of so many attributes."""
    return comb(number + 3, 3) if size == 2 else comb(number + 4, 4)


def _patterns(number: int, size: int) -> list[tuple[int, ...]]:
    """In how many of ``number`` attributes of so many values x alone differs, y alone, z alone, and all three; and how many such x and y there are
    for each z."""
    found = []
    for one in product(range(number + 1), repeat=4):
        same = number - sum(one)
        if same >= 0 and (size > 2 or not one[3]):
            ways = factorial(number) // prod(map(factorial, (*one, same)))
            found.append((*one, ways * (size - 1) ** sum(one) * (size - 2) ** one[3]))
    return found


def _code(parts: Sequence[np.ndarray], bases: Sequence[int]) -> np.ndarray:
    """One number for several (k,), each below its base."""
    found = np.zeros(len(parts[0]), dtype=np.int64)
    for part, base in zip(parts, bases, strict=True):
        found = found * base + part
    return found


@lru_cache(maxsize=8)
def patterns(sizes: tuple[int, ...], kinds: tuple[tuple[int, ...], ...], fused: tuple[int, ...]) -> Patterns:
    """`Patterns`, once for each survey's shape."""
    return Patterns(Traces(sizes, kinds), fused)
