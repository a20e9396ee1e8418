"""The differences that a design compares, how many people find one of a size, and which one its people find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import analysis, detection, verdicts, wording
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads import Detect

MEANING = (
    "The power is the chance to find a difference that is there; the level is the chance to find one where there is none, on either side. "
    "The chance of who takes part is counted."
)
GROUPS = "the two groups compared"
COLLECTIONS = "two collections (this month's and the next, say)"
CURVE = np.union1d(np.geomspace(0.1, 100, 31), 4.0)
"""The people of a curve, as multiples of those of the design."""
Found = tuple[pd.DataFrame, pd.DataFrame]
NOTHING = pd.DataFrame({"difference": np.zeros(0)})
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Detection:
    """What is compared ``between`` whom: ``name``, ``unit``, ``target`` (the difference to detect), ``users_needed`` for that, ``difference``, the
    least that the ``expected`` people of the design find, and ``relative``, that as a share of what the group or collection compared with has in
    the planning data (NaN where that is not known); in ``table``, a row an answer. ``curve`` has for several numbers of ``users`` the largest
    ``difference`` of each ``unit``."""

    table: pd.DataFrame
    between: str
    expected: int
    curve: pd.DataFrame

    def in_words(self) -> str:
        """What the table comes to, by the answer that needs the most people."""
        groups, row = self.between == GROUPS, self.table.loc[self.table["users_needed"].idxmax()]
        answers = "" if len(self.table) == 1 else f" in each of {len(self.table):,} answers"
        target, found = (verdicts.in_unit(row[name], row["unit"]) for name in ("target", "difference"))
        each = "" if groups else " in each"
        return (
            f"{wording.needed(row['users_needed'])} people{each} find a difference of {target} between {self.between}{answers}. "
            f"{wording.plural(self.expected, 'person', 'people')}{each} find differences from {found} up."
        )


def of_design(setting: Setting, mechanism: Mechanism, target: Detect | None = None) -> Detection:
    """The differences that the questions ask for, for their own targets or for ``target``; or else any answer in two collections, by default for
    a difference that its target error finds. ValueError, one sentence, where single answers take too long, or nothing is compared."""
    finds, every = setting.answered(mechanism)["finds"], range(len(setting.answers.lines))
    between, of_line = (GROUPS, _between_groups) if (finds > _ROUNDING).any() else (COLLECTIONS, _two_collections)
    tables, curves = zip(*(of_line(setting, mechanism, k, target) for k in every), strict=True)
    table, curve = (
        rows[rows["difference"] > _ROUNDING].reset_index(drop=True)
        for rows in (pd.concat(tables, ignore_index=True), pd.concat(curves, ignore_index=True))
    )
    if table.empty:
        raise ValueError("Every answer compared is known without a report, so there is no difference to detect.")
    curve = curve.groupby(["unit", "users"], sort=False, as_index=False)["difference"].max()
    return Detection(table, between, setting.users, curve)


def _between_groups(setting: Setting, mechanism: Mechanism, k: int, target: Detect | None) -> Found:
    """Each difference that a question asks for; none where it asks for other answers."""
    line = setting.answers.lines[k]
    if not isinstance(line.target, Detect):
        return NOTHING, NOTHING
    contrasts = analysis.contrasts(mechanism, line, setting.counts, setting.cases[setting.case])
    queries = np.arange(line.workload.num_queries)
    other = line.rates.ratios[1] if line.rates is not None and line.by_group else np.full(len(queries), np.nan)
    return _found(
        setting, k, contrasts, queries, target or line.target, 1.0, line.unit.middle + line.unit.factor * other
    )


def _two_collections(setting: Setting, mechanism: Mechanism, k: int, target: Detect | None) -> Found:
    """Each answer to a question, in two collections of as many people each as the design has."""
    line, answered = setting.answers.lines[k], setting.answered(mechanism)
    rows, many = answered[answered["line"] == k], setting.users if line.unit.total else 1.0
    queries = rows["query"].to_numpy()
    target = target or Detect(many * detection.reach(detection.POWER, detection.LEVEL) * line.standard_error)
    contrasts = detection.of_collections(mechanism, line, setting.counts, queries)
    return _found(setting, k, contrasts, queries, target, many, rows["value"].to_numpy())


def _found(
    setting: Setting,
    k: int,
    contrasts: detection.Contrasts,
    queries: np.ndarray,
    target: Detect,
    many: float,
    other: np.ndarray,
) -> Found:
    """The rows of the table and of the curve for one question; ``other`` are the answers compared with."""
    line, users = setting.answers.lines[k], setting.users
    scale, at = many * line.unit.factor, users * CURVE
    found = [scale * contrasts.difference(people, target.power, target.level) for people in (users, *at)]
    known = np.where((other != 0) & setting.known_values[k], np.abs(other), np.nan)
    numbers = {
        "target": target.difference,
        "users_needed": contrasts.users(target.difference / scale, target.power, target.level),
        "difference": found[0],
        "relative": found[0] / known,
    }
    names = [line.workload.query_name(int(query)) for query in queries]
    largest = [each.max(initial=0.0) for each in found[1:]]
    curve = pd.DataFrame({"unit": line.key, "users": at, "difference": largest})
    return pd.DataFrame({"name": names, "unit": line.key, **numbers}), curve
