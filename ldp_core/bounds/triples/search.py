"""Better and better proofs about energies: which sizes of sets need which multipliers, and which weights prove most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import spread
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.relaxation import Relaxation, Solution
from ldp_core.run import Check, unchecked

# Intervals of sizes start with ends this far apart, as a factor, and are split while their ratio is more than a share above the largest of
# a single size; smaller in each round.
_WIDE, _TOLERANCES = 2.0, (0.02, 0.01, 0.005, 0.002, 0.001)
_ROUNDS, _CLOSE, _HOPELESS = 40, 3e-4, 2
# Cuts for whole numbers of members are looked for so often, up to so many members in a set, and while they take this share off.
_TRIES, _FEW, _WORTH = 3, 200, 1e-4
# From round _HOPELESS on, and from the last tolerance on, it ends where the moments tell that no more, or no more than _CLOSE, can be gained.
# Updates of the shares of columns in a round, the share of the new ones together, and that below which one is dropped.
_UPDATES, _NEW_SHARE, _LEAST_SHARE = 2000, 0.2, 1e-9
Sizes = tuple[int, int]


class Search:
    """For sets of records of ``bits`` bits at ``epsilon``, to make ``(sum_l sqrt(worth_l lambda_l))^2 / ratio`` large: ``worth`` (d,)."""

    def __init__(self, bits: int, epsilon: float, worth: np.ndarray, check: Check = unchecked):
        self.epsilon, self.worth, self.check = epsilon, worth, check
        self.relaxation, self.types, self.D = Relaxation(bits, epsilon), 2**bits, spread(epsilon)
        self._leaves = _intervals(self.types // 2)
        self._known: dict[Sizes, Solution] = {}

    def rounds(self, beyond: float = 0.0) -> Iterator[Duals]:
        """Proofs, not all better than those before: even weights of what is asked first, then what the moments that were found suggest. It ends
        early where these tell that no more than ``beyond`` can be proved."""
        asked = self.worth > 0
        weights, best = asked.astype(float), 0.0
        columns, shares = list[tuple[Sizes, np.ndarray]](), np.zeros(0)
        for number in range(_ROUNDS):
            solved = self._covered(weights, _TOLERANCES[min(number, len(_TOLERANCES) - 1)])
            if not solved:
                return
            found = joined(weights, solved)
            yield found
            best = max(best, float(np.sqrt(self.worth * weights).sum()) ** 2 / found.ratio(self.epsilon))
            # Columns of intervals that have been split say too much.
            kept = [k for k, (sizes, _) in enumerate(columns) if sizes in self._leaves and shares[k] > _LEAST_SHARE]
            columns = [columns[k] for k in kept] + [(one.sizes, one.energies) for one in solved]
            old = shares[kept] / shares[kept].sum() * (1 - _NEW_SHARE)
            shares = np.append(old, np.full(len(solved), _NEW_SHARE / len(solved)))
            table = np.array([energies for _, energies in columns])[:, asked]
            shares = _mixed(shares / shares.sum(), table, self.worth[asked])
            x = shares @ table
            limit = (self.worth[asked] / x).sum()  # moments that obey all that is known do no better
            if (number >= _HOPELESS and limit < beyond) or (number >= len(_TOLERANCES) and limit < best * (1 + _CLOSE)):
                return
            weights = np.zeros(len(self.worth))
            weights[asked] = self.worth[asked] / x**2
            weights /= weights.max()

    def _covered(self, weights: np.ndarray, tolerance: float) -> list[Solution]:
        """Solutions for intervals, with which little more is proved than the largest ratio of a single size."""
        solved, singles, least = dict[Sizes, Solution | None](), set[int](), 0.0
        peak = self.types / (2 + self.D)
        todo = sorted(self._leaves, key=lambda sizes: abs(np.log(sizes[0] * sizes[1]) - 2 * np.log(peak)))
        while todo:
            for sizes in todo:
                plain = self._plain(weights, sizes)
                if plain > least:
                    solved[sizes] = found = self._solved(weights, sizes)
                    if sizes[0] == sizes[1]:
                        least = max(least, plain if found is None else found.ratio)
            worst = max(solved, key=lambda sizes: np.inf if (own := solved[sizes]) is None else own.ratio)
            found, todo = solved[worst], []
            if worst[0] == worst[1] or (found is not None and found.ratio <= least * (1 + tolerance)):
                break
            if found is not None and (size := self._likely(found)) not in singles:
                singles.add(size)
                single = self._solved(weights, (size, size))
                least = max(least, 0.0 if single is None else single.ratio)
                if found.ratio <= least * (1 + tolerance):
                    break
            middle = int(np.sqrt(worst[0] * worst[1]))
            todo = [(worst[0], middle), (middle + 1, worst[1])]
            del solved[worst]
            self._leaves = [sizes for sizes in self._leaves if sizes != worst] + todo
        return [one for one in solved.values() if one is not None and self._plain(weights, one.sizes) > least]

    def _plain(self, weights: np.ndarray, sizes: Sizes) -> float:
        """The largest ratio of sets of these sizes that needs no multipliers."""
        a = np.clip(1 / (2 + self.D), sizes[0] / self.types, sizes[1] / self.types)
        return float(weights.max() * (a - a**2) * (self.D / (1 + self.D * a)) ** 2)

    def _likely(self, found: Solution) -> int:
        """The size of set that the moments speak of."""
        size = round(found.moments[1] / found.moments[0] * self.types)
        return min(max(size, found.sizes[0]), found.sizes[1])

    def _solved(self, weights: np.ndarray, sizes: Sizes) -> Solution | None:
        """The best of some solutions with more and more cuts, its ratio as proved; None where none is found."""
        best, few = None, sizes[0] <= _FEW
        cuts = np.zeros((0, self.relaxation.known.bits + 2))
        if few and self._known:
            nearest = min(self._known, key=lambda own: abs(np.log(own[0] * own[1] / (sizes[0] * sizes[1]))))
            cuts = self._known[nearest].cuts
        for _ in range(_TRIES):
            self.check()
            found = self.relaxation.solve(weights, sizes, cuts, self.check)
            if found is None:
                break
            found = replace(found, ratio=float(joined(weights, [found]).proved(self.D)[0])).tidied()
            gained = best is None or found.ratio < best.ratio * (1 - _WORTH)
            best = found if best is None or found.ratio < best.ratio else best
            new = self.relaxation.violated(found) if few and gained else cuts[:0]
            if not len(new):
                break
            cuts = np.unique(np.vstack([cuts, new]), axis=0)
        if best is not None:
            self._known[sizes] = best
        return best


def joined(weights: np.ndarray, solved: list[Solution]) -> Duals:
    """One proof of several solutions, for ``weights`` (d,)."""
    cuts = np.unique(np.vstack([one.cuts for one in solved]), axis=0)
    places = {tuple(cut): number for number, cut in enumerate(cuts)}
    whole = np.zeros((len(solved), len(cuts)))
    for row, one in zip(whole, solved, strict=True):
        row[[places[tuple(cut)] for cut in one.cuts]] = one.whole
    names = ("sizes", "value", "factors", "signs", "sizing")
    sizes, values, *others = (np.array([getattr(one, name) for one in solved], dtype=float) for name in names)
    return Duals(weights, sizes, values, others[0], others[1], others[2], whole, cuts)


def _intervals(largest: int) -> list[Sizes]:
    """From 1 to the ``largest``."""
    found, low = list[Sizes](), 1
    while low <= largest:
        high = min(largest, max(low, int(low * _WIDE)))
        found.append((low, high))
        low = high + 1
    return found


def _mixed(shares: np.ndarray, columns: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Shares (k,) of columns (k, d) of a smaller ``sum worth / (shares @ columns)``: multiplicative updates, which never raise it."""
    for _ in range(_UPDATES):
        x = shares @ columns
        shares = shares * np.sqrt(columns @ (worth / x**2) / (worth / x).sum())
        shares /= shares.sum()
    return shares
