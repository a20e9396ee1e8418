"""HaarHRR (Cormode, Kulkarni and Srivastava 2019, Section 4.6): Haar wavelet coefficients by Hadamard randomized response.

The n types are padded to 2^h. On level l = 1..h the domain falls into m = 2^(h - l) blocks of 2^l
types, and the (unnormalised) Haar coefficient of a block is the count of its left half less that of
its right half. One user's coefficients on a level are a signed one-hot vector. The user draws a
level uniformly and sends one Hadamard coefficient of it; all m of them are informative because of
the sign. The root, the number of users, is known. Every level is estimated without bias, so counts
are too; estimates for the padding are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from ldp_core.mechanisms.base import (
    Audit,
    Mechanism,
    Reports,
    below,
    check_counts,
    check_reports,
    check_rows,
    check_values,
)
from ldp_core.mechanisms.hrr import (
    attenuation,
    exact_sign_probabilities,
    privatize_signs,
    sign_channel,
    sign_probabilities,
    sign_sums,
    simulate_signs,
)
from ldp_core.mechanisms.moments import EVERYBODY, TYPES, Ends, Moments, Rows
from ldp_core.mechanisms.trees.levels import OrderedEstimate, Tree, check_dense
from ldp_core.mechanisms.trees.node_reports import channel
from ldp_core.people import Counts
from ldp_core.privacy import log_ratio
from ldp_core.wording import significant
from ldp_core.workloads import walsh_hadamard


class Haar(Mechanism):
    """HaarHRR on ``n`` ordered types. ValueError for fewer than 2 types or a bad epsilon."""

    name = "haar"

    def __init__(self, n: int, epsilon: float):
        super().__init__(n, epsilon, {})
        # Level l of this binary tree has the half blocks of Haar level l + 1.
        self.tree = Tree(1 << (self.n - 1).bit_length(), 2)
        self.blocks = tuple(size // 2 for size in self.tree.sizes)

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number the level, the coefficient and its sign together."""
        return float(math.ceil(math.log2(2 * sum(self.blocks))))

    # --- reports ------------------------------------------------------------------------------------------------

    def _signed(self, halves: np.ndarray, blocks: int) -> np.ndarray:
        """One-hot signs as types of an unsigned HRR: block b is type b, and b + blocks when in its right half."""
        return halves // 2 + blocks * (halves % 2)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 2) level (from 0) and output, twice the coefficient plus 1 for a minus. Simulation only: a client needs a
        secure random source."""
        values = check_values(values, self.n, rng)
        raw = np.empty((values.size, 2), dtype=np.int64)
        raw[:, 0] = rng.integers(len(self.blocks), size=values.size)
        for level, m in enumerate(self.blocks):
            here = raw[:, 0] == level
            types = self._signed(values[here] >> level, m)
            raw[here, 1] = privatize_signs(types, range(m, 2 * m), self.epsilon, rng)
        return raw

    @property
    def outcomes(self) -> float:
        return 2 * sum(self.blocks)

    def possible(self, rows: np.ndarray) -> np.ndarray:
        known = below(rows[:, :1], len(self.blocks))
        blocks = np.array(self.blocks)[np.where(known, rows[:, 0], 0)]
        return known & below(rows[:, 1:], 2 * blocks[:, None])

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Tallies of the outputs of each level."""
        raw = check_rows(raw, 2, "a level and an output")
        levels = check_values(raw[:, 0], len(self.blocks))
        outputs = [check_values(raw[levels == level, 1], 2 * m) for level, m in enumerate(self.blocks)]
        data = tuple(np.bincount(y, minlength=2 * m) for y, m in zip(outputs, self.blocks, strict=True))
        return Reports(self.digest, len(raw), data)

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Exact: users are thinned onto the levels, then each level is an HRR (see `hrr.simulate_signs`). Simulation only."""
        counts = check_counts(counts, self.n, rng)
        padded = np.zeros(self.tree.n, dtype=np.int64)
        padded[: self.n] = counts
        data = []
        for m, halves in zip(self.blocks, self.tree.thin(padded, rng), strict=True):
            types = np.concatenate([halves[0::2], halves[1::2]])
            data.append(simulate_signs(types, range(m, 2 * m), self.epsilon, rng))
        return Reports(self.digest, int(counts.sum()), tuple(data))

    @property
    def channel(self) -> LinearOperator:
        """(outputs of all levels, n) the strategy, by fast transforms."""
        padding = aslinearoperator(sparse.eye_array(self.tree.n, self.n))
        return channel(self.tree, [self._level_channel(m) for m in self.blocks]) @ padding

    def _level_channel(self, blocks: int) -> LinearOperator:
        """Q of one level on its half blocks."""
        halves = np.arange(2 * blocks)
        order = sparse.csr_array((np.ones(2 * blocks), (self._signed(halves, blocks), halves)))
        return sign_channel(2 * blocks, range(blocks, 2 * blocks), self.epsilon) @ aslinearoperator(order)

    # --- estimates and their variance ---------------------------------------------------------------------------

    @cached_property
    def _gain(self) -> float:
        """The contribution of one sign to the transform of its level: levels over attenuation."""
        return len(self.blocks) / attenuation(self.epsilon)

    def estimate(self, reports: Reports) -> OrderedEstimate:
        """Unbiased counts; answers ranges and quantiles at any size."""
        check_reports(reports, self.digest)
        coefficients = [self._gain * walsh_hadamard(sign_sums(tally)) for tally in reports.arrays]
        return OrderedEstimate(self._synthesis(coefficients, reports.users), unbiased=True, users=reports.users)

    def _synthesis(self, coefficients: list[np.ndarray], users: float) -> np.ndarray:
        """(..., n) counts from the Haar coefficients of every level (..., m), finest first, and their sum."""
        values = np.full(1, users, dtype=float)
        for difference in reversed(coefficients):
            halves = np.stack([values + difference, values - difference], axis=-1) / 2
            values = halves.reshape(*halves.shape[:-2], -1)
        return values[..., : self.n]

    def wavelets(self, level: int) -> np.ndarray:
        """(m, n) what each coefficient of a level adds to the counts."""
        m = self.blocks[level]
        return self._synthesis([np.eye(m) if k == level else np.zeros(size) for k, size in enumerate(self.blocks)], 0.0)

    @cached_property
    def root(self) -> np.ndarray:
        """(n,) the known number of users adds 1/2^h to every count for each of them."""
        return np.full(self.n, 1 / self.tree.n)

    def second_moments(self, questions: Any, columns: Any = TYPES) -> Moments:
        """The same for all types; O(n) for each of `Rows`, else at most O(n) applications of G.

        On a level of m blocks the transform of one report is z = (h/a) s H_j, with E[z z'] =
        (h/a)^2 I for every user; the types differ only in the squared mean that is subtracted.
        """
        if isinstance(questions, Rows):
            noise = sum(np.sum(part**2, axis=1, keepdims=True) for part in self._differences(questions.rows))
        else:
            check_dense(self.n, "The exact variance of HaarHRR")
            squares = (questions.quadratic(self.wavelets(level)) for level in range(len(self.blocks)))
            noise = sum(part.sum(keepdims=True) for part in squares)
        return [(EVERYBODY, self._gain**2 / len(self.blocks) * np.asarray(noise))]

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``."""
        check_dense(self.n, "The covariance of HaarHRR")
        x, c = np.asarray(counts, dtype=float), 1 / self.tree.n
        noise = sum(wavelets.T @ wavelets for wavelets in map(self.wavelets, range(len(self.blocks))))
        C = x.sum() * (self._gain**2 / len(self.blocks) * noise - c**2) + c * (x[:, None] + x)
        C[np.diag_indices(self.n)] -= x
        return C

    def _differences(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """(q, m) for each level, finest first, what ``rows`` (q, n) times the counts gives its coefficients."""
        halves = np.pad(rows, ((0, 0), (0, self.tree.n - self.n)))
        for level in range(len(self.blocks)):
            left, right = halves[:, 0::2], halves[:, 1::2]
            yield (left - right) / 2 ** (level + 1)
            halves = left + right

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        """Of the `root` and a sign times a number."""
        known = rows.rows @ self.root
        largest = [np.abs(walsh_hadamard(part)).max(axis=1) for part in self._differences(rows.rows)]
        reach = self._gain * np.max(largest, axis=0)
        return Ends(known - reach, known + reach)

    def audit(self) -> Audit:
        """Every output is one sign: sent as it is, or flipped."""
        ratio = log_ratio(*exact_sign_probabilities(self.epsilon))
        return Audit(ratio, 0.0, "exact: the two probabilities of every sign", (0, 1))

    def explain(self) -> str:
        return (
            f"The types are halved again and again, {len(self.blocks)} times. Each person picks one of these levels at random. "
            "Left halves count as plus and right halves as minus, and the other way round in a random set of blocks. The "
            f"person sends the sign of their own half, truthfully with probability {significant(sign_probabilities(self.epsilon)[0])}."
        )
