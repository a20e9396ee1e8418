"""Better and better proofs about Fourier weights: which sizes of sets need which multipliers, and which weights prove most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import exp_epsilon_minus_one
from ldp_core.bounds.triples import examples
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.relaxation import Relaxation, Solution
from ldp_core.run import Check, unchecked

# Intervals of sizes are split while their ratio is more than a share above the largest of a single size: half of what is left to be gained, from
# loose to tight. It ends where no more than _CLOSE can be gained, or was in the last rounds.
_LOOSE = 0.02
_TIGHT = 0.001
_CLOSE = 1e-3
Sizes = tuple[int, int]


class Columns:
    """Fourier weights (d,) of sets that exist, and of solutions that are not ruled out. ``weights``
    (d,) maximise ``worth`` relative to the ``largest`` ratio of any column. ``limit`` is an upper
    bound on every proof that rules out none of the columns."""

    weights: np.ndarray
    largest: float
    limit: float

    def __init__(self, worth: np.ndarray, known: np.ndarray):
        self._worth, self._known, self._solved = worth, known, list[Solution]()
        self._shares = np.full(len(known), 1 / len(known))
        self._settle()

    def add(self, solved: list[Solution]) -> None:
        """Take these in."""
        self._solved += solved
        new = np.full(len(solved), 0.2 / max(1, len(solved)))
        self._shares = np.append(self._shares * (1 - new.sum()), new)
        self._settle()

    def keep(self, wanted: Callable[[Solution], bool]) -> None:
        """Drop the solutions that are not ``wanted``."""
        kept = [k for k, solution in enumerate(self._solved) if wanted(solution)]
        self._solved = [self._solved[k] for k in kept]
        count = len(self._known)
        self._shares = np.append(self._shares[:count], self._shares[count:][kept])
        self._settle()

    def _settle(self) -> None:
        asked = self._worth > 0
        table = np.vstack([self._known, *(solution.fourier_weights for solution in self._solved)])[:, asked]
        shares, worth = np.maximum(self._shares, 1e-9), self._worth[asked]
        self._shares = mixed(shares / shares.sum(), table, worth, 2000)
        x = self._shares @ table
        self.weights = np.zeros(len(asked))
        self.weights[asked] = worth / x**2
        self.weights /= self.weights.max()
        self.largest = float((table @ self.weights[asked]).max())
        self.limit = float((worth / x).sum())


class TriplesSearch:
    """The search for weights that maximise ``(sum_l sqrt(worth_l lambda_l))^2 / ratio``, ``worth``
    (d,), over sets of records of ``length`` bits, at ``epsilon``."""

    def __init__(self, length: int, epsilon: float, worth: np.ndarray, check: Check = unchecked):
        self.epsilon, self.worth, self.check = epsilon, worth, check
        self.relaxation, self.types, self.D = Relaxation(length, epsilon), 2**length, exp_epsilon_minus_one(epsilon)
        self._leaves = _intervals(self.types // 2)
        self._top = max(1, round(self.types / (2 + self.D)))
        self._singles = list[Solution]()
        W = examples.fourier_weights(length)
        self._columns = Columns(worth, W[:, 1:] * (self.D / (1 + self.D * np.sqrt(W[:, :1]))) ** 2)

    def rounds(self, beyond: float = 0.0) -> Iterator[Duals]:
        """Proofs, not all better than those before: weights that sets which exist suggest first, then the moments that were found as well. It
        ends early where these tell that no more than ``beyond`` can be proved."""
        best, stale, tolerance, most = 0.0, 0, _LOOSE / 2, self._columns.limit  # of sets that exist
        for _ in range(40):
            weights = self._columns.weights
            if self._columns.limit < beyond or not (solved := self._covered(weights, tolerance)):
                return
            duals = joined(weights, solved)
            yield duals
            value = float(np.sqrt(self.worth * weights).sum()) ** 2 / duals.ratio(self.epsilon)
            stale = stale + 1 if value < best * (1 + _CLOSE) else 0
            best = max(best, value)
            # Intervals that have been split say too much.
            self._columns.keep(
                lambda solution: solution.sizes[0] == solution.sizes[1] or solution.sizes in self._leaves
            )
            self._columns.add(solved + self._singles)
            self._singles = []
            gap = self._columns.limit / best - 1
            if (tolerance == _TIGHT and (gap < _CLOSE or stale == 3)) or most < best * (1 + _CLOSE):
                return
            tolerance = min(max(gap / 2, _TIGHT), _LOOSE)

    def _covered(self, weights: np.ndarray, tolerance: float) -> list[Solution]:
        """Solutions for intervals that prove little more than the largest ratio of a single size."""
        solved, singles = dict[Sizes, Solution | None](), {self._top}
        peak = self.types / (2 + self.D)
        first = self._solved(weights, (self._top, self._top))
        least = 0.0 if first is None else first.ratio
        todo = sorted(self._leaves, key=lambda sizes: abs(np.log(sizes[0] * sizes[1]) - 2 * np.log(peak)))
        while todo:
            for sizes in todo:
                plain = self._plain(weights, sizes)
                if plain > least:
                    solved[sizes] = solution = self._solved(weights, sizes)
                    if sizes[0] == sizes[1]:
                        least = max(least, plain if solution is None else solution.ratio)
            if not solved:
                return [] if first is None else [first]
            worst = max(solved, key=lambda sizes: np.inf if (own := solved[sizes]) is None else own.ratio)
            solution, todo = solved[worst], []
            if worst[0] == worst[1] or (solution is not None and solution.ratio <= least * (1 + tolerance)):
                break
            if solution is not None and (size := self._likely(solution)) not in singles:
                singles.add(size)
                single = self._solved(weights, (size, size))
                if single is not None and single.ratio > least:
                    self._top, least = size, single.ratio
                if solution.ratio <= least * (1 + tolerance):
                    break
            middle = int(np.sqrt(worst[0] * worst[1]))
            todo = [(worst[0], middle), (middle + 1, worst[1])]
            del solved[worst]
            self._leaves = [sizes for sizes in self._leaves if sizes != worst] + todo
        return [
            solution
            for solution in solved.values()
            if solution is not None and self._plain(weights, solution.sizes) > least
        ]

    def _plain(self, weights: np.ndarray, sizes: Sizes) -> float:
        """The largest ratio of sets of these sizes that needs no multipliers."""
        a = np.clip(1 / (2 + self.D), sizes[0] / self.types, sizes[1] / self.types)
        return float(weights.max() * (a - a**2) * (self.D / (1 + self.D * a)) ** 2)

    def _likely(self, solution: Solution) -> int:
        """The size of set that the moments speak of."""
        size = round(solution.moments[1] / solution.moments[0] * self.types)
        return min(max(size, solution.sizes[0]), solution.sizes[1])

    def _solved(self, weights: np.ndarray, sizes: Sizes) -> Solution | None:
        """The solution for some sizes, its ratio as proved; None where none is found."""
        self.check()
        solution = self.relaxation.solve(weights, sizes, self.check)
        if solution is None:
            return None
        solution = replace(solution, ratio=float(joined(weights, [solution]).proved(self.D)[0]))
        if sizes[0] == sizes[1]:
            self._singles.append(solution)
        return solution


def joined(weights: np.ndarray, solved: list[Solution]) -> Duals:
    """One proof of several solutions, for ``weights`` (d,)."""
    names = ("sizes", "value", "factors", "signs", "sizing")
    return Duals(weights, *(np.array([getattr(one, name) for one in solved], dtype=float) for name in names))


def _intervals(largest: int) -> list[Sizes]:
    """From 1 to the ``largest``, with ends a factor of two apart."""
    intervals, low = list[Sizes](), 1
    while low <= largest:
        high = min(largest, max(low, 2 * low))
        intervals.append((low, high))
        low = high + 1
    return intervals


def mixed(shares: np.ndarray, columns: np.ndarray, worth: np.ndarray, updates: int) -> np.ndarray:
    """Shares (k,) of columns (k, d) of a smaller ``sum worth / (shares @ columns)``: multiplicative
    updates, which never raise it."""
    for _ in range(updates):
        x = shares @ columns
        shares = shares * np.sqrt(columns @ (worth / x**2) / (worth / x).sum())
        shares /= shares.sum()
    return shares
