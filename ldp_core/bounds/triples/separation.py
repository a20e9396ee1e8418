"""Windows that prove that moments belong to no set: linear programs over few sets of four bits; the
worst sets are added.

A window shows far too many sets for a linear program, but few sets limit a form. The program
therefore holds some sets and returns the deepest form that is negative for none of them. The sets
where the form is most negative are added, until there are none. Sets stay for the next moments,
which are often near.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linprog

from ldp_core.bounds.triples import windows
from ldp_core.bounds.triples.moments import Moments
from ldp_core.run import Check

# Windows have at most _MOST_IN_A_GROUP bits in a group, and there are at most _MOST_KINDS; a few
# more have all bits in groups, most of them in the last.
_MOST_IN_A_GROUP = 5
_MOST_KINDS = 14
# A form joins where it is negative by this share of a, and is left as it is where raising its constant takes no larger share of that off.
_DEEP = 3e-4
_RAISED = 0.2
# Linear programs for a window and moments, sets that join at once, and sets that are held.
_STEPS = 40
_NEW = 60
_HELD = 400


class Separation:
    """Separation for moments of sets of records with as many bits as ``known`` has."""

    def __init__(self, known: Moments):
        self._known = known

    def violated(self, moments: np.ndarray, check: Check) -> np.ndarray:
        """(w, 56) windows with forms that the ``moments`` do not obey, the deepest of every kind."""
        windows_by_kind = [kind.deepest(moments, check) for kind in self._four]
        return np.array([window for window in windows_by_kind if window is not None]).reshape(-1, windows.WIDTH)

    @cached_property
    def _four(self) -> list[_Kind]:
        made = combinations_with_replacement(range(1, _MOST_IN_A_GROUP + 1), windows.GROUPS)
        few = [groups for groups in made if sum(groups) <= self._known.length][:_MOST_KINDS]
        rest = [(*three, self._known.length - sum(three)) for three in combinations_with_replacement((1, 2), 3)]
        few += [groups for groups in rest if groups[-1] > _MOST_IN_A_GROUP]
        return [_Kind(self._known, groups) for groups in few]


class _Kind:
    """Windows through some ``groups``."""

    def __init__(self, known: Moments, groups: tuple[int, ...]):
        self.groups = groups
        self._own, self._of, self._many = np.unique(
            windows.places(known, groups), return_inverse=True, return_counts=True
        )
        self._at_hand = np.unique(windows.means() @ np.eye(len(self._own))[self._of], axis=0)
        self._held = self._at_hand[:: max(1, len(self._at_hand) // _HELD)]

    def deepest(self, moments: np.ndarray, check: Check) -> np.ndarray | None:
        """(56,) the window that the ``moments`` obey least; None where they obey all well enough."""
        a, objective = moments[1], moments[self._own] * self._many / moments[1]
        for _ in range(_STEPS):
            check()
            solved = linprog(objective, -self._held, np.zeros(len(self._held)), bounds=(-1, 1), method="highs")
            if not solved.success or solved.fun > -_DEEP:
                return None
            form = np.rint(solved.x / windows.UNIT) * windows.UNIT
            new = self._negative(form, -_RAISED * solved.fun * a)
            if new is None:
                break
            self._held = np.unique(np.vstack([self._held, new]), axis=0)
        else:
            return None
        self._held = self._held[np.argsort(self._held @ form)[:_HELD]]
        window = np.zeros(windows.WIDTH)
        window[: windows.GROUPS], window[windows.GROUPS :][: len(self._of)] = self.groups, form[self._of]
        return window

    def _negative(self, form: np.ndarray, paid: float) -> np.ndarray | None:
        """Sums of means by moment of sets that a form in these is negative for; None where it is so by no more than ``paid``."""
        values = self._at_hand @ form
        order = np.argsort(values)[:_NEW]
        return np.asarray(self._at_hand[order]) if values[order[0]] <= -paid else None
