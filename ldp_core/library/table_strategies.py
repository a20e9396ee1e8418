"""Mechanisms from supplied strategy matrices, under the user's names.

The name identifies the matrix, ``own(name=Ours, look=1, matrix=0123...)``, so that everything that
works by name (sweeps, plans, charts, stored results) works with it, and two different matrices
never share a name. The matrix itself is kept by the holder of its `TableStrategy`, such as a
configuration: `find` knows it for that long.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ldp_core.library.specification import Spec
from ldp_core.limits import MOST_FITTED_TYPES, MOST_SUPPLIED_ENTRIES, MOST_SUPPLIED_NAME
from ldp_core.mechanisms.explicit import ExplicitMechanism, audited, check_strategy
from ldp_core.mechanisms.quantised import quantised, rounded
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from ldp_core.wording import rounded_up, shortened
from ldp_core.workloads import Workload

LOOKS = (
    ("#EE3377", "triangle-ne"),
    ("#4477AA", "triangle-sw"),
    ("#228833", "x"),
    ("#AA6600", "hexagon2"),
    ("#7755CC", "triangle-nw"),
    ("#00808A", "triangle-se"),
)
"""Colours and markers; a matrix has one of them, counted from 1."""
PLAIN = re.compile(r"[^\W_](?:[^\W_]|[ -](?=[^\W_]))*")
"""Names: letters, digits, and single spaces or hyphens between them, which mean nothing wherever names are shown."""
_NAME = re.compile(rf"own\(name=({PLAIN.pattern}), look=([1-{len(LOOKS)}]), matrix=([0-9a-f]{{32}})\)")
_EXPLANATION = (
    "Each person sends one of {outputs:,} reports. Their probabilities for each type are from a supplied strategy matrix, "
    "not computed here."
)


class TableStrategy:
    """A strategy matrix as an exact table.

    Attributes: name: what it is called, see `PLAIN`. look: which of `LOOKS` it has, from 1. table: (m, n), see `exact_table`.
    epsilon: that of the table, audited, never below the true one. mechanism: its name as that of a mechanism.
    """

    def __init__(self, name: str, look: int, table: np.ndarray):
        """ValueError, one sentence, where the ``name`` is not available, or ``table`` is no exact table with an epsilon."""
        table = _checked(table)
        if not (len(name) <= MOST_SUPPLIED_NAME and PLAIN.fullmatch(name)):
            raise ValueError(
                f"A matrix of your own cannot be called {shortened(name)!r}: use at most {MOST_SUPPLIED_NAME} letters and digits, with single spaces "
                "or hyphens between them."
            )
        if not 1 <= look <= len(LOOKS):
            raise ValueError(f"There are {len(LOOKS)} looks for matrices of your own, not {look}.")
        self.epsilon, _ = audited(table)
        if not self.epsilon <= MAX_EPSILON:
            raise ValueError(_gives_away(table, self.epsilon))
        if not np.array_equal(rounded(table), table):
            raise ValueError("The strategy is not in whole steps of 2^-53 that sum to 1 exactly: upload it again.")
        table.flags.writeable = False
        self.name, self.look, self.table = name, look, table
        digest = hashlib.sha256(repr(table.shape).encode() + table.astype("<f8").tobytes()).hexdigest()[:32]
        self.mechanism = f"own(name={name}, look={look}, matrix={digest})"

    def __reduce__(self) -> tuple[Callable[[str, int, np.ndarray], TableStrategy], tuple[str, int, np.ndarray]]:
        return hold, (self.name, self.look, self.table)  # other processes can then find it

    def __repr__(self) -> str:
        return f"<{self.mechanism}: {self.table.shape[0]} x {self.table.shape[1]}, epsilon {self.epsilon:g}>"

    def rule(self, n: int, epsilon: float, workload: Workload | None) -> str | None:
        """Why it cannot run on ``n`` types, None where it can."""
        types = self.table.shape[1]
        return None if n == types else f"It is for {types:,} types and there are {n:,} here: upload one for these."

    def build(self, n: int, epsilon: float) -> ExplicitMechanism:
        """The mechanism on ``n`` types. ValueError, one sentence, where it is for others or does not keep ``epsilon``."""
        if reason := spec(self.mechanism).unsuitable(n, epsilon):
            raise ValueError(reason)
        return self._built(epsilon)

    def at_its_own_epsilon(self) -> ExplicitMechanism:
        """The mechanism as it is, whatever may be allowed."""
        return self._built(max(self.epsilon, MIN_EPSILON))

    def _built(self, epsilon: float) -> ExplicitMechanism:
        explanation = _EXPLANATION.format(outputs=len(self.table))
        return ExplicitMechanism(self.mechanism, self.table, epsilon, {"name": self.name}, explanation)


_HELD: WeakValueDictionary[str, TableStrategy] = WeakValueDictionary()
_LOCK = threading.Lock()


def hold(name: str, look: int, table: np.ndarray) -> TableStrategy:
    """The `TableStrategy` of these, the same one wherever it is held, which `find` knows as long as somebody holds it. ValueError as `TableStrategy`."""
    own = TableStrategy(name, look, table)
    with _LOCK:
        return _HELD.setdefault(own.mechanism, own)


def is_own(name: str) -> bool:
    """True if ``name`` is written like that of a matrix somebody supplied."""
    return name.startswith("own(")


def find(name: str) -> TableStrategy | None:
    """The matrix of this name, None where no one holds it."""
    return _HELD.get(name)


def exact_table(strategy: np.ndarray) -> np.ndarray:
    """(m, n) the exact table of a strategy (m, n): one that keeps the epsilon that was meant, of up to nine decimals, where it is off by
    rounding only. ValueError, one sentence, where it is no strategy, or keeps no epsilon."""
    strategy = _checked(strategy)
    epsilon, _ = audited(strategy)
    if not epsilon <= MAX_EPSILON:
        raise ValueError(_gives_away(strategy, epsilon))
    meant = max(round(epsilon, 9), MIN_EPSILON)  # of the epsilon that somebody will have meant
    try:
        return quantised(strategy, meant)
    except ValueError:
        return rounded(strategy)


def _checked(strategy: np.ndarray) -> np.ndarray:
    """A copy of ``strategy`` (m, n). ValueError, one sentence, where it is none, or too large."""
    strategy = check_strategy(strategy)
    reports, types = strategy.shape
    if types > MOST_FITTED_TYPES or strategy.size > MOST_SUPPLIED_ENTRIES:
        raise ValueError(
            f"The strategy has {reports:,} reports and {types:,} types; at most {MOST_FITTED_TYPES:,} types and {MOST_SUPPLIED_ENTRIES:,} numbers are taken: "
            "use coarser bins, or merge reports."
        )
    return strategy


def _gives_away(strategy: np.ndarray, epsilon: float) -> str:
    if math.isfinite(epsilon):
        return f"The strategy gives epsilon {rounded_up(epsilon, 6)}, and at most {MAX_EPSILON:g} is allowed: its reports all but reveal the type."
    y, u = (int(place) for place in np.argwhere(strategy == 0)[0])
    return (
        f"The strategy gives no epsilon at all: people of type {u + 1} never send report {y + 1} and others do, so that it rules them out. "
        "Every probability must be above 0."
    )


def spec(name: str) -> Spec:
    """The entry of a matrix supplied. ValueError, one sentence, where ``name`` is not written like one; a matrix that no one holds any
    more has an entry that cannot run."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise ValueError(
            f"Unknown mechanism {shortened(name)!r}: matrices of your own are named when they are uploaded."
        )
    title, look, _ = parts.groups()
    entry = partial(
        Spec,
        name=name,
        title=title,
        made_for="whatever its author had in mind",
        paper="uploaded",
        style=LOOKS[int(look) - 1],
    )
    own = find(name)
    if own is None:
        return entry(build=partial(_gone, title), bits="", domain_rule=lambda n, epsilon, workload: _missing(title))
    return entry(
        build=own.build,
        bits=f"log2 of its {len(own.table):,} reports",
        domain_rule=own.rule,
        epsilon_range=(max(own.epsilon, MIN_EPSILON), MAX_EPSILON),
        out_of_range=(
            f"A report can be e^{(least := rounded_up(own.epsilon, 6))} times as likely for one person as for another, and your epsilon is "
            f"{{epsilon:g}}: choose at least {least} on the Design page, or leave it out."
        ),
    )


def _missing(title: str) -> str:
    return f"The matrix of {title} is no longer in this design: upload it again on the Compare page."


def _gone(title: str, *_: Any, **__: Any) -> ExplicitMechanism:
    raise ValueError(_missing(title))
