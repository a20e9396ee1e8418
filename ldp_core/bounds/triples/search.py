"""Better and better proofs about energies: which sizes of sets need which multipliers, and which weights prove most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import spread
from ldp_core.bounds.symmetric.low_degree import mixed
from ldp_core.bounds.triples import windows
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.relaxation import Relaxation, Solution
from ldp_core.run import Check, unchecked

# Intervals of sizes start with ends this far apart, as a factor, and are split while their ratio is more than a share above the largest of
# a single size; smaller in each round.
_WIDE, _TOLERANCES = 2.0, (0.02, 0.01, 0.005, 0.002, 0.001)
_ROUNDS, _CLOSE, _HOPELESS = 40, 3e-4, 2
# The first rounds, whose weights are far from the best ones, look through no windows: to find these takes most of the time.
_PLAIN, _MOST_SEEN = 4, 400
# Those through five groups come so many rounds after those through four, and only where the moments disobey no more than a few of these.
_NARROW, _FEW_SEEN = 3, 3
# Cuts and windows are looked for so often and while they take this share off, cuts up to so many members in a set.
_TRIES, _FEW, _WORTH = 6, 200, 1e-4
# From round _HOPELESS on it ends where the moments tell that no more can be gained, even if windows add this factor; with windows, where no
# more than _CLOSE can be with those that were found before, or was in the last rounds.
_HOPE, _STALE = 1.06, 4
# Updates of the shares of columns in a round, the share of the new ones together, and that below which one is dropped.
_UPDATES, _NEW_SHARE, _LEAST_SHARE = 2000, 0.2, 1e-9
Sizes = tuple[int, int]


class Search:
    """For sets of records of ``bits`` bits at ``epsilon``, to make ``(sum_l sqrt(worth_l lambda_l))^2 / ratio`` large: ``worth`` (d,)."""

    def __init__(self, bits: int, epsilon: float, worth: np.ndarray, check: Check = unchecked):
        self.epsilon, self.worth, self.check = epsilon, worth, check
        self.relaxation, self.types, self.D = Relaxation(bits, epsilon), 2**bits, spread(epsilon)
        self._leaves = _intervals(self.types // 2)
        self._windows = np.zeros((0, windows.WIDTH))
        self._top, self._through, self._wide = max(1, round(self.types / (2 + self.D))), False, False
        self._added = False
        self._known: dict[Sizes, Solution] = {}

    def rounds(self, beyond: float = 0.0) -> Iterator[Duals]:
        """Proofs, not all better than those before: even weights of what is asked first, then what the moments that were found suggest. It ends
        early where these tell that no more than ``beyond`` can be proved."""
        asked = self.worth > 0
        weights, best, reached = asked.astype(float), 0.0, list[float]()
        centre = weights
        columns, shares = list[tuple[Sizes, np.ndarray]](), np.zeros(0)
        for number in range(_ROUNDS):
            if number == _PLAIN:
                self._through, self._leaves = True, _intervals(self.types // 2)
            self._wide = number >= _PLAIN + _NARROW
            step = number - _PLAIN + 2 if self._through else number
            self._added = False
            solved = self._covered(weights, _TOLERANCES[min(step, len(_TOLERANCES) - 1)])
            if not solved:
                return
            found = joined(weights, solved)
            yield found
            value = float(np.sqrt(self.worth * weights).sum()) ** 2 / found.ratio(self.epsilon)
            if value > best:
                best, centre = value, weights
            # Columns of intervals that have been split say too much, and so do those of before windows were looked through.
            here = [] if number in (_PLAIN, _PLAIN + _NARROW) else list(enumerate(columns))
            kept = [k for k, (sizes, _) in here if sizes in self._leaves and shares[k] > _LEAST_SHARE]
            columns = [columns[k] for k in kept] + [(one.sizes, one.energies) for one in solved]
            old = shares[kept] / max(shares[kept].sum(), _LEAST_SHARE) * (1 - _NEW_SHARE)
            shares = np.append(old, np.full(len(solved), _NEW_SHARE / len(solved)))
            table = np.array([energies for _, energies in columns])[:, asked]
            shares = mixed(shares / shares.sum(), table, self.worth[asked], _UPDATES)
            x = shares @ table
            limit = (self.worth[asked] / x).sum()  # moments that obey all that is known do no better
            hope = 1.0 if self._through else _HOPE
            if number >= _HOPELESS and limit * hope < beyond:
                return
            if self._through and not self._added and limit < best * (1 + _CLOSE):
                return
            reached.append(best)
            if step > len(_TOLERANCES) and best < reached[-_STALE] * (1 + _CLOSE):
                return
            weights = np.zeros(len(self.worth))
            weights[asked] = self.worth[asked] / x**2
            # Where windows are looked through the best weights are near: halfway to those so far.
            if number >= _PLAIN - 1:
                weights = np.sqrt(weights * centre)
            weights /= weights.max()

    def _covered(self, weights: np.ndarray, tolerance: float) -> list[Solution]:
        """Solutions for intervals, with which little more is proved than the largest ratio of a single size."""
        solved, singles = dict[Sizes, Solution | None](), {self._top}
        peak = self.types / (2 + self.D)
        first = self._solved(weights, (self._top, self._top))
        least = 0.0 if first is None else first.ratio
        todo = sorted(self._leaves, key=lambda sizes: abs(np.log(sizes[0] * sizes[1]) - 2 * np.log(peak)))
        while todo:
            for sizes in todo:
                plain = self._plain(weights, sizes)
                if plain > least:
                    solved[sizes] = found = self._solved(weights, sizes, least * (1 + tolerance))
                    if sizes[0] == sizes[1]:
                        least = max(least, plain if found is None else found.ratio)
            if not solved:
                return [] if first is None else [first]
            worst = max(solved, key=lambda sizes: np.inf if (own := solved[sizes]) is None else own.ratio)
            found, todo = solved[worst], []
            if worst[0] == worst[1] or (found is not None and found.ratio <= least * (1 + tolerance)):
                break
            if found is not None and (size := self._likely(found)) not in singles:
                singles.add(size)
                single = self._solved(weights, (size, size), least)
                if single is not None and single.ratio > least:
                    self._top, least = size, single.ratio
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

    def _solved(self, weights: np.ndarray, sizes: Sizes, enough: float = 0.0) -> Solution | None:
        """The best of some solutions with more and more cuts, its ratio as proved, the first that is ``enough``; None where none is found."""
        best, few = None, sizes[0] <= _FEW
        cuts = np.zeros((0, self.relaxation.known.bits + 2))
        if few and self._known:
            nearest = min(self._known, key=lambda own: abs(np.log(own[0] * own[1] / (sizes[0] * sizes[1]))))
            cuts = self._known[nearest].cuts
        for _ in range(_TRIES):
            self.check()
            found = self.relaxation.solve(weights, sizes, cuts, self._windows, self.check)
            if found is None:
                break
            found = replace(found, ratio=float(joined(weights, [found]).proved(self.D)[0])).tidied()
            gained = best is None or found.ratio < best.ratio * (1 - _WORTH)
            best = found if best is None or found.ratio < best.ratio else best
            if not gained or best.ratio <= enough:
                break
            new = self.relaxation.violated(found) if few else cuts[:0]
            seen = self.relaxation.not_seen(found, False, self.check) if self._through else self._windows[:0]
            if self._wide and len(seen) <= _FEW_SEEN:
                seen = np.vstack([seen, self.relaxation.not_seen(found, True, self.check)])
            if not len(new) + len(seen):
                break
            cuts = np.unique(np.vstack([cuts, new]), axis=0)
            self._windows, self._added = np.vstack([self._windows, seen])[-_MOST_SEEN:], self._added or len(seen) > 0
        if best is not None:
            self._known[sizes] = best
        return best


def joined(weights: np.ndarray, solved: list[Solution]) -> Duals:
    """One proof of several solutions, for ``weights`` (d,)."""
    whole, cuts = _together([one.whole for one in solved], [one.cuts for one in solved])
    through, seen = _together([one.through for one in solved], [one.windows for one in solved])
    names = ("sizes", "value", "factors", "signs", "sizing")
    sizes, values, *others = (np.array([getattr(one, name) for one in solved], dtype=float) for name in names)
    return Duals(weights, sizes, values, others[0], others[1], others[2], whole, cuts, through, seen)


def _together(multipliers: list[np.ndarray], forms: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """All ``forms`` (m arrays (c, ..)), each once, and the multipliers of each, 0 where it has none."""
    every = np.unique(np.vstack(forms), axis=0)
    places = {tuple(one): number for number, one in enumerate(every)}
    found = np.zeros((len(forms), len(every)))
    for row, own, of in zip(found, multipliers, forms, strict=True):
        row[[places[tuple(one)] for one in of]] = own
    return found, every


def _intervals(largest: int) -> list[Sizes]:
    """From 1 to the ``largest``."""
    found, low = list[Sizes](), 1
    while low <= largest:
        high = min(largest, max(low, int(low * _WIDE)))
        found.append((low, high))
        low = high + 1
    return found
