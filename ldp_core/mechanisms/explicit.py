"""Mechanisms given by an explicit strategy matrix: any finite set of outputs, any probabilities.

They are kept as exact tables (`quantised`): what is audited, drawn from, exported and used in
estimates and variances is the same.

Notation as in McKenna et al. 2020: Q (m, n) strategy, D = diag(Q 1), M = Q' D^-1 Q the information
matrix, and R = M^-1 Q' D^-1 the optimal unbiased reconstruction of the counts (their Theorem 3.10
with W = I; answers are W R y). With a prior p over the types, D_p = diag(n Q p) takes the place of
D: R is then the unbiased reconstruction of least average variance under p, for every workload at
once (their proof holds for any positive weights of the types).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import pictures
from ldp_core.definite import pseudo_inverse
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import (
    Audit,
    CountedOutputs,
    Estimate,
    Reports,
    check_counts,
    check_reports,
    check_values,
    runs,
)
from ldp_core.mechanisms.files import STRATEGY, MechanismFile
from ldp_core.mechanisms.moments import TYPES, Ends, Moments, QuadraticForm, Rows, two_values
from ldp_core.mechanisms.quantised import covered, largest_ratio, quantised, rounded
from ldp_core.people import Counts
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon, log_ratio
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

SUMS = 1e-9
"""By how much the probabilities of a type may miss 1."""
_MULTINOMIAL_CELLS = 2**22  # outcomes drawn at once: bounds the memory of `simulate`
_GUIDED_AT_ONCE = 2**20  # steps of a guide that are worked out together
_DRAWN_AT_ONCE = 2**15  # people whose outputs are drawn together: their numbers stay in the cache of a processor
_STEP_ENTRIES = 2**22  # of a strategy, between two checks: a third of a second at 2,048 types


class ExplicitMechanism(CountedOutputs):
    """A mechanism that sends output y to a user of type u with probability ``strategy[y, u]``,
    rounded to an exact table.

    Parameters
    ----------
    strategy : (m, n) array of probabilities, columns sum to one (within 1e-9), no row all zero.
    epsilon : the guarantee. The table keeps it exactly if ``strategy`` keeps it but for rounding;
        `audit` computes the guarantee of the actual probabilities.
    prior : (n,) the shares of the types in the average variance that estimates minimise; None for
        equal shares. Estimates are unbiased for all users.
    secret : (n,) which types are secret (see `ldp_core.workloads.secret`); None where all are.

    Raises ValueError when ``strategy`` is not a matrix of conditional probabilities, or ``prior``
    is no probability distribution.
    """

    def __init__(
        self,
        name: str,
        strategy: np.ndarray,
        epsilon: float,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
        prior: np.ndarray | None = None,
        secret: np.ndarray | None = None,
    ):
        self.name = name
        self._promised = None if secret is None else np.array(secret, dtype=bool)
        self.protects_all = secret is None
        self._strategy = _table(check_strategy(strategy), check_epsilon(epsilon), self._promised)
        self._strategy.flags.writeable = False
        super().__init__(self._strategy.shape[1], epsilon, parameters or {}, explanation)
        self.prior = None if prior is None else np.array(check_prior(prior, self.n))
        if self.prior is not None:
            self.prior.flags.writeable = False

    def _repr_html_(self) -> str:
        """The strategy as a picture, for notebooks."""
        return pictures.strategy_map(self.strategy, repr(self))

    @property
    def strategy(self) -> np.ndarray:
        """(m, n) Q."""
        return self._strategy

    @property
    def channel(self) -> np.ndarray:
        """(m, n) the strategy: reports are the tally of its outputs."""
        return self._strategy

    @property
    def bytes_held(self) -> int:
        """The strategy, the reconstruction, the distribution functions and their guide."""
        return 4 * self.strategy.nbytes

    @property
    def promised(self) -> np.ndarray:
        return super().promised if self._promised is None else self._promised

    def _content(self) -> bytes:
        secret = b"" if self._promised is None else b"secret" + self._promised.tobytes()
        return self.strategy.tobytes() + (b"" if self.prior is None else b"prior" + self.prior.tobytes()) + secret

    def files(self) -> tuple[MechanismFile, ...]:
        """The strategy, with the prior that estimates are made for."""
        m, n = self.strategy.shape
        if self.strategy.size > MOST_STRATEGY_ENTRIES:
            raise ValueError(
                f"The strategy has {self.strategy.size:,} entries; at most {MOST_STRATEGY_ENTRIES:,} are kept in a file: use coarser bins."
            )
        arrays = {"strategy": self.strategy} | ({} if self.prior is None else {"prior": self.prior})
        about = f"the {m:,} x {n:,} probabilities, plain numbers only"
        return (MechanismFile(STRATEGY, "strategy", {"shape": [m, n], "dtype": "float64"}, about, lambda: arrays),)

    def information(self, prior: np.ndarray | None = None, check: Check = unchecked) -> np.ndarray:
        """(n, n) M_p = Q' D_p^-1 Q for ``prior`` p (n,), with M_p (n p) = 1; None is the uniform
        one: M 1 = 1. ``check`` is called between parts of a large one."""
        masses, M = self._masses(prior), np.zeros((self.n, self.n))
        for some in self._parts(check):
            scaled = self.strategy[some] / np.sqrt(masses[some])[:, None]
            M += scaled.T @ scaled
        return M

    def _parts(self, check: Check) -> Iterator[slice]:
        """All outputs, in parts that take a fraction of a second; ``check`` is called before each
        part."""
        for some in runs(len(self.strategy), _STEP_ENTRIES // self.n):
            check()
            yield some

    def _masses(self, prior: np.ndarray | None) -> np.ndarray:
        """(m,) the diagonal of D_p, n times the probability of each output under ``prior``.

        An output that is never sent under the prior gets a millionth of its mass under the uniform
        one: any positive mass leaves R unbiased.
        """
        even = self.strategy.sum(axis=1)
        if prior is None:
            return even
        masses = self.n * (self.strategy @ prior)
        return np.where(masses > 0, masses, 1e-6 * even)

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray | None]:
        return self._inverted(unchecked)

    def _inverted(self, check: Check) -> tuple[np.ndarray, np.ndarray | None]:
        """M^+ and, when Q does not identify every type, the projector onto what it does
        identify."""
        M = self.information(self.prior, check)
        check()
        # Differences between types enter M squared: at epsilon = 0.001 an identified direction can be as small as 1e-12.
        return pseudo_inverse(M, 1e-13)

    @cached_property
    def reconstruction(self) -> np.ndarray:
        """(n, m) R = M_p^+ Q' D_p^-1: column y is what one report y adds to the estimated
        counts."""
        return self._reconstructed(unchecked)

    def _reconstructed(self, check: Check) -> np.ndarray:
        masses, R = self._masses(self.prior), np.empty(self.strategy.shape[::-1])
        for some in self._parts(check):
            R[:, some] = self._inverse[0] @ (self.strategy[some] / masses[some, None]).T
            # One report counts as one person. A nearly singular M loses digits of that, which a large question about all sees.
            R[:, some] += (1 - R[:, some].sum(axis=0)) / self.n
        return R

    def _lost(self, workload: Workload) -> float:
        """The rows of a workload must lie in the row space of Q (McKenna et al., Theorem 3.10)."""
        projector = self._inverse[1]
        return 0.0 if projector is None else float(workload.quadratic(np.eye(self.n) - projector).sum())

    def variance_profile(self, workload: Workload, check: Check = unchecked) -> np.ndarray:
        if "_inverse" not in vars(self):
            self._inverse = self._inverted(check)
        self.check_supports(workload)
        if "reconstruction" not in vars(self):
            self.reconstruction = self._reconstructed(check)
        return self._mean_squares(workload, check) - workload.gram_diag

    def second_moments(self, questions: QuadraticForm, columns: Any = TYPES) -> Moments:
        return [(TYPES, self._mean_squares(questions, unchecked))]

    def _mean_squares(self, questions: QuadraticForm, check: Check) -> np.ndarray:
        """sum_y Q_yu |W R_y|^2 (their Theorem 3.4)."""
        lengths = [questions.quadratic(self.reconstruction[:, some].T) for some in self._parts(check)]
        return np.concatenate(lengths, axis=-1) @ self.strategy

    def ends(self, rows: Rows, columns: Any = TYPES) -> Ends:
        """Among the values r'R_y of the outputs y."""
        values = rows.rows @ self.reconstruction
        return Ends(values.min(axis=1), values.max(axis=1), two_values(values))

    def covariance(self, counts: np.ndarray) -> np.ndarray:
        """(n, n) covariance of the estimated counts when the users are ``counts``: R diag(Qx)
        R' - diag(x)."""
        counts = np.asarray(counts, dtype=float)
        scaled = self.reconstruction * np.sqrt(self.strategy @ counts)
        return scaled @ scaled.T - np.diag(counts)

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """(n, m) distribution functions of all types, exact: sums of steps of 2^-53 of at most
        1."""
        return np.cumsum(self.strategy.T, axis=1, out=np.empty(self.strategy.shape[::-1]))

    @cached_property
    def _guide(self) -> np.ndarray:
        """(n, steps) the output of all draws in one of these equal steps, for every type; where
        they have several, ~y with y the first.

        There are two to four steps for every output (Chen and Asau 1974).
        """
        m = self.strategy.shape[0]
        steps = 2 << m.bit_length()  # a power of two, so that ends of steps are exact
        guide, at_once = np.empty((self.n, steps), np.min_scalar_type(-m)), max(1, _GUIDED_AT_ONCE // steps)
        for start in range(0, self.n, at_once):
            passed = np.ceil(self._cumulative[start : start + at_once] * steps).astype(np.int64)
            passed += (steps + 1) * np.arange(len(passed))[:, None]
            ended = np.bincount(passed.ravel(), minlength=len(passed) * (steps + 1)).reshape(-1, steps + 1)
            first = ended.cumsum(axis=1)[:, :-1]
            guide[start : start + at_once] = np.where(ended[:, 1:] == 0, first, ~first)
        return guide

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users,) one output index per user: the first whose distribution function lies above one
        of 2^53 equally likely numbers, so that outputs have exactly the probabilities of the table.
        Simulation only: a client needs a secure random source."""
        values = check_values(values, self.n, rng)
        outputs = np.empty(values.size, dtype=np.int64)
        for some in runs(values.size, _DRAWN_AT_ONCE):
            types = values[some].astype(np.int64)
            outputs[some] = self._outputs(types, rng.random(types.size))
        return outputs

    def _outputs(self, values: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """(users,) the first output whose distribution function lies above each of the
        ``draws``."""
        m, steps, cumulative = self.strategy.shape[0], self._guide.shape[1], self._cumulative.ravel()
        outputs = self._guide.ravel()[values * steps + (draws * steps).astype(np.int64)].astype(np.int64)
        several = np.flatnonzero(outputs < 0)
        starts, numbers = values[several] * m, draws[several]
        places = starts + ~outputs[several]
        behind = np.flatnonzero(cumulative[places] <= numbers)
        while behind.size:
            places[behind] += 1
            behind = behind[cumulative[places[behind]] <= numbers[behind]]
        outputs[several] = places - starts
        return outputs

    @property
    def outcomes(self) -> int:
        return self.strategy.shape[0]

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of ``counts`` (n,) users: one multinomial draw per type, whatever the number of
        users, or one draw per user where that is cheaper. Simulation only."""
        counts = check_counts(counts, self.n, rng)
        m, users = self.strategy.shape[0], int(counts.sum())
        present = np.flatnonzero(counts)
        if users < present.size * m:
            return self.aggregate(self.privatize(np.repeat(np.arange(self.n), counts), rng))
        tally = np.zeros(m, dtype=np.int64)
        for some in runs(present.size, _MULTINOMIAL_CELLS // m):
            types = present[some]
            tally += rng.multinomial(counts[types], self.strategy.T[types]).sum(axis=0)
        return Reports(self.digest, users, tally)

    def estimate(self, reports: Reports) -> Estimate:
        """The estimate of least total variance for users spread over the types like the prior
        (evenly without one); unbiased on supported workloads, whatever the users are."""
        check_reports(reports, self.digest)
        return Estimate(self.reconstruction @ reports.arrays[0], unbiased=True, identified=self._inverse[1] is None)

    def audit(self) -> Audit:
        """Largest log-ratio of any output's probabilities between two types, over all m outputs,
        never below the true one."""
        return self._audit

    @cached_property
    def _audit(self) -> Audit:
        if self._promised is not None:
            return audited_secret(self.strategy, self._promised)
        epsilon, pair = audited(self.strategy)
        outputs = self.strategy.shape[0]
        method = f"exact: largest ratio of probabilities over all {outputs:,} outputs and all pairs of types"
        return Audit(epsilon, 0.0, method, pair)


def audited(table: np.ndarray) -> tuple[float, tuple[int, int]]:
    """The epsilon of the probabilities in ``table`` (m, n), never below the true one, and the two
    types distinguished best."""
    largest, pair = largest_ratio(table)
    return math.inf if largest is None else log_ratio(largest, Fraction(1)), pair


def audited_secret(table: np.ndarray, secret: np.ndarray) -> Audit:
    """The guarantee of the probabilities in ``table`` (m, n) to the types that are ``secret`` (n,):
    over the reports that one of these can send, and infinite where another report is not one open
    type's alone."""
    bound = covered(table, secret)
    epsilon, pair = audited(table[bound])
    alone = (table[~bound] > 0).sum(axis=1) == 1
    method = (
        f"exact: largest ratio of probabilities over the {int(bound.sum()):,} outputs that a secret type can send and all pairs of types; the other "
        f"{int((~bound).sum()):,} outputs are each sent by one open type alone"
    )
    return Audit(epsilon if alone.all() else math.inf, 0.0, method, pair, promise="secret")


def _table(strategy: np.ndarray, epsilon: float, secret: np.ndarray | None = None) -> np.ndarray:
    """``strategy`` as an exact table: one that keeps ``epsilon`` where the strategy does, else one
    with its own ratios, to be audited."""
    try:
        return quantised(strategy, epsilon, secret)
    except ValueError:
        return rounded(strategy)


def check_entries(rows: int, n: int, what: str, instead: str) -> None:
    """ValueError where a strategy of so many ``rows`` for ``n`` types is too large to write out:
    ``what`` needs it, and ``instead`` says what to do."""
    if rows * n > MOST_STRATEGY_ENTRIES:
        raise ValueError(
            f"{what} on {n:,} types needs a strategy matrix of at least {rows:,} x {n:,} entries, too large here. {instead}"
        )


def check_strategy(strategy: np.ndarray) -> np.ndarray:
    """A contiguous float64 copy of a valid strategy matrix, or a ValueError that says what is wrong
    with it."""
    Q = np.array(strategy, dtype=float, order="C")
    if Q.ndim != 2 or Q.shape[1] < 2 or Q.shape[0] < 2:
        raise ValueError(f"A strategy is a matrix of at least 2 outputs by 2 types; got shape {Q.shape}.")
    if not np.all(np.isfinite(Q)) or Q.min() < 0:
        raise ValueError("A strategy holds probabilities: finite and not negative.")
    if np.any(Q.sum(axis=1) == 0):
        raise ValueError("A strategy has an output that no one ever sends; leave such rows out.")
    sums = Q.sum(axis=0)
    if (wrong := np.flatnonzero(np.abs(sums - 1) > SUMS)).size:
        raise ValueError(
            f"The probabilities of every type (each column of a strategy) must sum to 1; those of type {wrong[0] + 1} sum to "
            f"{sums[wrong[0]]:.10g}."
        )
    return Q
